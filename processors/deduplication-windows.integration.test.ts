import { afterAll, beforeAll, expect, it } from 'vitest';
import { emptyDatabaseDdl, singleServerDdl } from '../infra/clickhouse/ddl.js';
import { startTestClickHouse, type TestClickHouse } from '../infra/clickhouse/testing.js';
import { chainTables } from './chain/tables.js';
import { coverageTables } from './coverage/tables.js';
import { deduplicationWindows } from './deduplication-windows.js';
import { oracleTables } from './oracle/tables.js';
import { comboTables } from './positions/combo-tables.js';
import { mintedByToken, pnlTables } from './positions/tables.js';

let clickhouse: TestClickHouse;
beforeAll(async () => {
  clickhouse = await startTestClickHouse();
  const ddl = emptyDatabaseDdl(singleServerDdl);
  for (const { statements } of [chainTables, oracleTables, pnlTables, comboTables, coverageTables])
    for (const sql of statements(ddl)) await clickhouse.client.command(sql);
});
afterAll(() => clickhouse.stop());

it('the migration gives a window of 10,000 chunks to each table that sums rows of a topic with several partitions', async () => {
  const { client } = clickhouse;
  for (const sql of deduplicationWindows.statements(singleServerDdl)) await client.command(sql);
  const rows = await client.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = 'test' AND engine_full LIKE '%deduplication_window = 10000%' ORDER BY name",
  );
  expect(rows.map(({ name }) => name)).toEqual(['combo_markets', 'coverage_feeds', 'minted_by_token', 'wallet_days']);
});

it('deduplicationWindow lets a table with rows recognise a repeated chunk after more others than before', async () => {
  const { client } = clickhouse;
  const insert = (chunk: number) =>
    client.insertRows(mintedByToken.name, [{ token_id: '7', amount: '1' }], { dedupToken: `chunk-${chunk}` });
  const repeatAfterFive = async (first: number, window: number) => {
    for (const sql of singleServerDdl.deduplicationWindow(mintedByToken, window)) await client.command(sql);
    for (let chunk = first; chunk < first + 6; chunk += 1) await insert(chunk);
    await insert(first);
    return (await client.query<{ total: string }>(`SELECT sum(amount) AS total FROM ${mintedByToken.name}`))[0]?.total;
  };
  expect(await repeatAfterFive(0, 4)).toBe('7');
  expect(await repeatAfterFive(100, 10)).toBe('13');
});
