import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOverlapReader } from '../../api/overlap/reader.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createWalletTagsUpdater } from '../../processors/wallet-tags/wallet-tags-updater.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { address } from '../support/rows.js';

let engine: TestClickHouse;
let client: ClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse();
  client = engine.client;
});
afterAll(() => engine.stop());

describe('wallet tags updater, in the memory of a small engine', () => {
  it('computes a tag of 100,000 markets in batches, and the tag is served', async () => {
    const updater = createWalletTagsUpdater({
      clickhouse: client,
      logger: silentLogger(),
      metrics: createMetrics({ process: 'test', defaults: false }),
      nowMs: Date.now,
    });
    const markets = 100_000;
    const insert = async (sql: string) => {
      const settings = { max_block_size: '8192', min_insert_block_size_rows: '8192' } as const;
      // Merges of the parts before may use what memory there is.
      await expect.poll(() => client.command(sql, {}, { settings }).then(() => true)).toBe(true);
    };
    await insert(
      `INSERT INTO markets (condition_id, token_ids, tag_slugs, _offset) SELECT concat('0x', hex(number)), [2 * number, 2 * number + 1],
        if(number % 2 = 0, ['wide', 'even'], ['wide', 'odd']), number FROM numbers(${markets})`,
    );
    await insert(
      `INSERT INTO tokens (token_id, condition_id, outcome_index, _offset) SELECT number, concat('0x', hex(intDiv(number, 2))), number % 2, intDiv(number, 2)
        FROM numbers(${2 * markets})`,
    );
    // Wallet n (of 500) bought the first outcome of every 500th market from n on, for n + 1 base units each: 200 markets, all even or all odd.
    await insert(
      `INSERT INTO positions (wallet, token_id, fills, bought_usdc, version, _partition, _offset)
        SELECT concat('0x', leftPad(lower(hex(number % 500)), 40, '0')), 2 * number, 1, number % 500 + 1, 1, 0, number FROM numbers(${markets})`,
    );
    // Wallet 7, odd, also bought one even market.
    await client.insertRows('positions', [
      { wallet: address(7), token_id: '1', fills: 2, bought_usdc: 3, version: 1, _partition: 0, _offset: markets },
    ]);
    await client.insertRows('sink_progress', [
      { sink: 'positions', topic: 'positions', partition: 0, next_offset: markets + 1 },
      { sink: 'catalog', topic: 'catalog', partition: 0, next_offset: markets },
    ]);
    await updater.update();
    const reader = createOverlapReader({ tables: createClickHouseTables(client), nowMs: Date.now, budgetMs: 60_000 });
    const query = { minVolume: 0n, span: null, sort: 'volume', offset: 0, limit: 2 } as const;
    expect(await reader.page({ ...query, tags: ['wide', 'even'] })).toEqual([
      { wallet: address(498), fills: 400n, volume: 199_600n, markets: 200 },
      { wallet: address(496), fills: 400n, volume: 198_800n, markets: 200 },
    ]);
    expect(await reader.page({ ...query, tags: ['odd', 'even'] })).toEqual([
      { wallet: address(7), fills: 202n, volume: 1_603n, markets: 201 },
    ]);
  });
});
