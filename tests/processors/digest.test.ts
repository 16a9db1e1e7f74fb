import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildTasksFor } from '../../processors/rebuild/rebuild-tasks.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { comparedTables, digest, tablesOfOneRun } from '../support/digest.js';

let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse();
});
afterAll(() => engine.stop());

const T = 1_790_000_000;
const log = { block_number: 100, log_index: 1, timestamp: T };
/** One row of each table whose views add up what is inserted. */
const rows: Readonly<Record<string, object>> = {
  fills: {
    ...log,
    maker: '0xa',
    taker: '0xb',
    is_taker_order: false,
    side: 'BUY',
    token_id: '7',
    usdc: 300_000,
    shares: 1_000_000,
    builder: '0xc',
  },
  condition_events: { ...log, condition_id: '0xd', kind: 'split', token_id: '7', amount: 5, collateral: 5 },
  // Yes of a combo.
  pnl_events: {
    ...log,
    wallet: '0xa',
    id: 'one',
    token_id: (3n << 248n).toString(),
    action: 'BUY',
    usdc: 300_000,
    minted: 5,
  },
  blocks: { block_number: 100, timestamp: T },
  block_logs: { block_number: 100, timestamp: T, contracts: ['0xe'], logs: [2], decoded: [2], records: [2] },
  ticks: { id: 'one', feed: 'BTC/USD', timestamp_ms: T * 1000, price: '100', source: 'test' },
};

describe('digest', () => {
  it('compares every table that is filled from the log, but those that differ between runs', () => {
    const filled = rebuildTasksFor('all').flatMap(({ tables }) => tables.map(({ name }) => name));
    expect([...comparedTables, ...Object.keys(tablesOfOneRun)].sort()).toEqual(filled.sort());
  });

  it('differs in every table of sums after a chunk was inserted twice, also when merges have removed the repeated rows', async () => {
    const { client } = engine;
    const insert = async (token: string) => {
      for (const [table, row] of Object.entries(rows)) await client.insertRows(table, [row], { dedupToken: token });
    };
    const read = () => digest({ sql: (query) => client.query(query) });
    await insert('first');
    const once = await read();
    await insert('first');
    expect(await read()).toEqual(once);
    await insert('second');
    for (const table of comparedTables) await client.command(`OPTIMIZE TABLE ${table} FINAL`);
    const twice = await read();
    expect(Object.keys(once).filter((table) => once[table] !== twice[table])).toEqual([
      'token_volumes',
      'token_candles_1m',
      'token_candles_1h',
      'builder_volumes',
      'hourly_volumes',
      'coverage_chain',
      'coverage_feeds',
      'collateral_by_token',
      'combo_markets',
      'wallet_days',
      'minted_by_token',
    ]);
  });
});
