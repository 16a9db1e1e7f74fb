import { encodeAbiParameters, encodeEventTopics, type Hex, parseAbi } from 'viem';
import { type FakeGamma, startFakeGamma } from '../../ingest/catalog/testing/fake-gamma.js';
import { startFakeNode } from '../../ingest/chain/rpc/fake-node.fixture.js';
import { startFakeRtds } from '../../ingest/oracle/testing/fake-rtds.js';
import { addresses } from '../../schemas/primitives/venue.js';
import { startProduct } from './product.js';

const abi = parseAbi([
  'event OrderFilled(bytes32 indexed orderHash, address indexed maker, address indexed taker, uint256 makerAssetId, uint256 takerAssetId, uint256 makerAmountFilled, uint256 takerAmountFilled, uint256 fee)',
]);
/** A 32-byte word. */
export const word = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`;
export const wallet = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`;

/** Log of exchange V1: one share of the token is bought for 0.4 USDC. */
export const orderFilledLog = (orderHash: Hex, tokenId: bigint) => ({
  address: addresses.exchangeV1,
  topics: encodeEventTopics({
    abi,
    eventName: 'OrderFilled',
    args: { orderHash, maker: wallet(1001), taker: wallet(1002) },
  }) as Hex[],
  data: encodeAbiParameters(
    Array.from({ length: 5 }, () => ({ type: 'uint256' })),
    [0n, tokenId, 400_000n, 1_000_000n, 0n],
  ),
});

/**
 * Starts the product on fake upstreams: a node with a finalised history of `length` blocks, the catalogue API and the price feed. Every `mineEveryMs` the
 * node announces a block and finalises the one three blocks earlier, and the price feed publishes a price.
 */
export async function startOnFakeUpstreams(options: {
  /** Blocks of the history, block 0 included. */
  length: number;
  logsOf: (block: number) => readonly { address: Hex; topics: readonly Hex[]; data: Hex }[];
  /** Unix seconds of block 0, and time between blocks. */
  startS: number;
  blockS: number;
  mineEveryMs: number;
  events: FakeGamma['events'];
}) {
  const { length, logsOf, startS, blockS } = options;
  const node = await startFakeNode({ length, written: logsOf, startS, blockS });
  node.finalize(length - 1);
  const rtds = await startFakeRtds();
  const gamma = await startFakeGamma();
  gamma.events = options.events;
  let playing = true;
  const ticker = setInterval(() => {
    if (!playing) return;
    node.announce(node.mine());
    node.finalize(node.blocks.length - 3);
    rtds.publish('crypto_prices_chainlink', 'btc/usd', { timestamp: Date.now(), value: 100 });
  }, options.mineEveryMs);
  const product = await startProduct({
    env: {
      LOG_LEVEL: 'warn',
      POLYGON_RPC_URL: node.rpcUrl,
      POLYGON_WS_URL: node.wsUrl,
      CHAIN_START_BLOCK: '1',
      GAMMA_URL: gamma.url,
      RTDS_URL: rtds.url,
    },
  });
  return {
    product,
    gamma,
    node,
    rtds,
    /** No further block and price. */
    pause() {
      playing = false;
    },
    async stop() {
      clearInterval(ticker);
      await product.dispose();
      await Promise.allSettled([node.close(), rtds.stop(), gamma.stop()]);
    },
  };
}
