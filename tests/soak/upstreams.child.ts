import { startFakeGamma } from '../../ingest/catalog/testing/fake-gamma.js';
import { startFakeNode } from '../../ingest/chain/rpc/fake-node.fixture.js';
import { startFakeRtds } from '../../ingest/oracle/testing/fake-rtds.js';
import { createSoakWorld } from './world.js';

/** Node, price feed and catalogue of the soak. Argument: JSON of UpstreamOptions. Messages: 'mine' starts the blocks, 'stop' ends them. */
export interface UpstreamOptions {
  readonly seed: number;
  readonly rate: number;
  readonly wallets: number;
}

export type UpstreamMessage =
  | { readonly ready: { readonly env: Record<string, string> } }
  | { readonly stopped: { readonly blocks: number; readonly fills: number } };

const BLOCK_S = 2;
const HISTORY_BLOCKS = 20;
const FINALITY_BLOCKS = 3;
const PRICE_INTERVAL_MS = 1_000;

const { seed, rate, wallets } = JSON.parse(process.argv[2] ?? '{}') as UpstreamOptions;
const send = (message: UpstreamMessage) => process.send?.(message);
const fillsPerBlock = Math.round(rate * BLOCK_S);
const world = createSoakWorld({ seed, wallets, fillsPerBlock, emptyBlocks: HISTORY_BLOCKS });
const node = await startFakeNode({
  length: HISTORY_BLOCKS,
  written: world.logsOf,
  startS: Math.floor(Date.now() / 1000) - HISTORY_BLOCKS * BLOCK_S,
  blockS: BLOCK_S,
});
node.finalize(HISTORY_BLOCKS - 1);
const rtds = await startFakeRtds();
const gamma = await startFakeGamma();
gamma.events = world.events;

const mine = (logs?: number) => {
  node.announce(node.mine(logs));
  node.finalize(node.blocks.length - 1 - FINALITY_BLOCKS);
  node.seen.length = 0;
};
let timer: NodeJS.Timeout | undefined;
let mined = 0;
setInterval(() => {
  rtds.publish('crypto_prices_chainlink', 'btc/usd', { timestamp: Date.now(), value: 100_000 + (Date.now() % 1_000) });
}, PRICE_INTERVAL_MS);
process.on('message', (message) => {
  if (message === 'mine') {
    timer = setInterval(() => {
      mine();
      mined += 1;
    }, BLOCK_S * 1_000);
  } else if (message === 'stop') {
    clearInterval(timer);
    const stopped = { blocks: mined, fills: mined * fillsPerBlock };
    // Empty blocks, so that the last fills become final.
    let left = FINALITY_BLOCKS + 2;
    const last = setInterval(() => {
      mine(0);
      left -= 1;
      if (left > 0) return;
      clearInterval(last);
      send({ stopped });
    }, BLOCK_S * 1_000);
  }
});
process.on('disconnect', () => process.exit(0));
send({
  ready: {
    env: {
      POLYGON_RPC_URL: node.rpcUrl,
      POLYGON_WS_URL: node.wsUrl,
      CHAIN_START_BLOCK: '1',
      GAMMA_URL: gamma.url,
      RTDS_URL: rtds.url,
    },
  },
});
