import { encodeAbiParameters, encodeEventTopics, type Hex, keccak256, parseAbi, toBytes } from 'viem';
import { expect, it } from 'vitest';
import { startFakeGamma } from '../../ingest/catalog/testing/fake-gamma.js';
import { numberedEvent } from '../../ingest/catalog/testing/gamma-rows.js';
import { hash, startFakeNode } from '../../ingest/chain/rpc/fake-node.fixture.js';
import { startFakeRtds } from '../../ingest/oracle/testing/fake-rtds.js';
import { addresses } from '../../schemas/primitives/venue.js';
import { eventually, startProduct } from '../support/product.js';

const BLOCKS = 30;
/** A block of the back-fill, and one that is mined while the product runs. */
const PAST_BLOCK = 7;
const LIVE_BLOCK = 40;
const START_S = Date.UTC(2026, 0, 5) / 1000;
const BLOCK_S = 2;

const abi = parseAbi([
  'event OrderFilled(bytes32 indexed orderHash, address indexed maker, address indexed taker, uint256 makerAssetId, uint256 takerAssetId, uint256 makerAmountFilled, uint256 takerAmountFilled, uint256 fee)',
]);
const word = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`;
const wallet = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`;
/** An event that no version of the exchange has had. */
const topic0 = keccak256(toBytes('FeeScheduleReplaced(bytes32,uint256)'));
const unknown = (n: number) => ({ address: addresses.exchangeV1, topics: [topic0, word(n)], data: word(n + 1) });
const fill = (n: number) => ({
  address: addresses.exchangeV1,
  topics: encodeEventTopics({
    abi,
    eventName: 'OrderFilled',
    args: { orderHash: word(n), maker: wallet(1001), taker: wallet(1002) },
  }) as Hex[],
  data: encodeAbiParameters(
    Array.from({ length: 5 }, () => ({ type: 'uint256' })),
    [0n, 77n, 400_000n, 1_000_000n, 0n],
  ),
});
const logsOf = (block: number) =>
  block === PAST_BLOCK || block === LIVE_BLOCK ? [fill(block), unknown(block)] : [fill(block)];

interface Status {
  readonly alarms: readonly Record<string, unknown>[] | null;
}
interface Coverage {
  readonly coverage: readonly Record<string, unknown>[];
}

it('keeps logs of an unknown event of a watched contract, counts them, and raises an alarm', async () => {
  const node = await startFakeNode({ length: BLOCKS, written: logsOf, startS: START_S, blockS: BLOCK_S });
  node.finalize(BLOCKS - 1);
  const rtds = await startFakeRtds();
  const gamma = await startFakeGamma();
  gamma.events = [numberedEvent(1, { closed: false })];
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
  const mining = setInterval(() => {
    node.announce(node.mine());
    node.finalize(node.blocks.length - 3);
    rtds.publish('crypto_prices_chainlink', 'btc/usd', { timestamp: Date.now(), value: 100 });
  }, 250);
  try {
    // Kept as the node told them, topics and data.
    const rows = await eventually('both logs in the table', async () => {
      const found = await product.sql(
        'SELECT block_number, log_index, tx_hash, address, topics, data FROM unknown_logs FINAL ORDER BY block_number',
      );
      return found.length >= 2 && found;
    });
    expect(rows.map((row) => ({ ...row, block_number: Number(row.block_number) }))).toEqual(
      [PAST_BLOCK, LIVE_BLOCK].map((block) => ({
        block_number: block,
        log_index: 1,
        tx_hash: hash(block * 1000 + 1),
        address: addresses.exchangeV1,
        topics: [topic0, word(block)],
        data: word(block + 1),
      })),
    );
    expect(await product.metric('ingest', 'oddstream_chain_unknown_logs_total')).toBe(2);

    const alarms = await eventually('the alarm', async () => {
      const { status, body } = await product.get('/v1/status');
      const told = (body as Status).alarms ?? [];
      return status === 200 && told.some((alarm) => alarm.logs === 2) && told;
    });
    const at = (block: number) => new Date((START_S + block * BLOCK_S) * 1000).toISOString().replace('.000', '');
    expect(alarms).toEqual([
      {
        kind: 'unknown_event',
        message: expect.stringContaining(topic0),
        contract: 'contract:exchange_v1',
        address: addresses.exchangeV1,
        topic0,
        logs: 2,
        first_block: PAST_BLOCK,
        last_block: LIVE_BLOCK,
        last_at: at(LIVE_BLOCK),
        tx_hash: hash(LIVE_BLOCK * 1000 + 1),
      },
    ]);

    const day = new Date(START_S * 1000).toISOString().slice(0, 10);
    const entry = await eventually('the day in the coverage', async () => {
      const { status, body } = await product.get(`/v1/coverage?source=contract:exchange_v1&from=${day}&to=${day}`);
      const found = (body as Coverage).coverage?.find((one) => one.undecoded_logs === 2);
      return status === 200 && found;
    });
    // The day is not over at this node; tests/processors/coverage.test.ts has the state of days that are.
    expect(entry.state).toBe('pending');
    // The fills beside them are fills.
    expect(
      Number((await product.sql(`SELECT count() AS n FROM fills FINAL WHERE block_number = ${PAST_BLOCK}`))[0]?.n),
    ).toBe(1);
  } finally {
    clearInterval(mining);
    await product.dispose();
    await Promise.all([node.close(), rtds.stop(), gamma.stop()]);
  }
}, 120_000);
