import { keccak256, toBytes } from 'viem';
import { expect, it } from 'vitest';
import { numberedEvent } from '../../ingest/catalog/testing/gamma-rows.js';
import { hash } from '../../ingest/chain/rpc/fake-node.fixture.js';
import { addresses } from '../../schemas/primitives/venue.js';
import { orderFilledLog, startOnFakeUpstreams, word } from '../support/fake-upstreams.js';
import { eventually } from '../support/product.js';

const BLOCKS = 30;
/** A block of the back-fill, and one that is mined while the product runs. */
const PAST_BLOCK = 7;
const LIVE_BLOCK = 40;
const START_S = Date.UTC(2026, 0, 5) / 1000;
const BLOCK_S = 2;

/** An event that no version of the exchange has had. */
const topic0 = keccak256(toBytes('FeeScheduleReplaced(bytes32,uint256)'));
const unknown = (n: number) => ({ address: addresses.exchangeV1, topics: [topic0, word(n)], data: word(n + 1) });
const fill = (n: number) => orderFilledLog(word(n), 77n);
const logsOf = (block: number) =>
  block === PAST_BLOCK || block === LIVE_BLOCK ? [fill(block), unknown(block)] : [fill(block)];

interface Status {
  readonly alarms: readonly Record<string, unknown>[] | null;
}
interface Coverage {
  readonly coverage: readonly Record<string, unknown>[];
}

it('keeps logs of an unknown event of a watched contract, counts them, and raises an alarm', async () => {
  const { product, stop } = await startOnFakeUpstreams({
    length: BLOCKS,
    logsOf,
    startS: START_S,
    blockS: BLOCK_S,
    mineEveryMs: 250,
    events: [numberedEvent(1, { closed: false })],
  });
  try {
    // Topics and data are stored as the node returned them.
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
      const alarms = (body as Status).alarms ?? [];
      return status === 200 && alarms.some((alarm) => alarm.logs === 2) && alarms;
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
    // Fills in the same blocks are decoded.
    expect(
      Number((await product.sql(`SELECT count() AS n FROM fills FINAL WHERE block_number = ${PAST_BLOCK}`))[0]?.n),
    ).toBe(1);
  } finally {
    await stop();
  }
});
