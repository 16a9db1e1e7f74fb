import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { totalOpenInterestSql } from '../../api/positions/open-interest.sql.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { publishViews } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { hex32 } from '../support/rows.js';
import { bob, comboCondition, comboYes, T } from '../support/venue.js';

let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse();
  await publishViews({ client: engine.client, database: 'market', views: publicViews, logger: silentLogger() });
  await engine.client.insertRows(
    'chain_tokens',
    MARKETS.map(([condition_id, token_id]) => ({ token_id, condition_id, outcome_index: 0 })),
  );
});
afterAll(() => engine.stop());

const OPEN = hex32(0xa1);
const EMPTY = hex32(0xa2);
const MARKETS = [
  [OPEN, '11'],
  [EMPTY, '21'],
  [comboCondition, comboYes],
] as const;

let logIndex = 0;
/** USD that enter (positive) or leave the full sets of a token's market. */
const insertCollateral = (condition_id: string, token_id: string, usd: number) =>
  engine.client.insertRows('condition_events', [
    {
      condition_id,
      block_number: 90,
      log_index: ++logIndex,
      timestamp: T,
      kind: usd > 0 ? 'split' : 'redemption',
      wallet: bob,
      token_id,
      amount: Math.abs(usd) * 1e6,
      collateral: usd * 1e6,
    },
  ]);
const readView = () =>
  engine.client.query('SELECT condition_id, toString(net_minted_usd) AS usd FROM market.open_interest ORDER BY usd');

describe('the view open_interest', () => {
  it('leaves out combos, of which redemptions are counted and splits are not', async () => {
    await insertCollateral(OPEN, '11', 10);
    await insertCollateral(comboCondition, comboYes, -1000);
    expect(await readView()).toEqual([{ condition_id: OPEN, usd: '10' }]);
  });

  it('has the same rows and the API the same total before and after parts are merged', async () => {
    await engine.client.command('SYSTEM STOP MERGES collateral_by_token');
    await insertCollateral(EMPTY, '21', 7);
    await insertCollateral(EMPTY, '21', -7);
    // The history of the open market is complete, that of the empty one is not.
    await engine.client.insertRows('conditions', [
      { condition_id: OPEN, question_id: hex32(0), outcome_slot_count: 2, block_number: 80, timestamp: T },
    ]);
    const readAll = async () => {
      const { text, params } = totalOpenInterestSql(0);
      const [total] = await engine.client.query<{ net: string; complete: number }>(text, params);
      return { rows: await readView(), net: total?.net, complete: Number(total?.complete) };
    };
    const expected = { rows: [{ condition_id: OPEN, usd: '10' }], net: '10000000', complete: 1 };
    const stored = () => engine.client.query('SELECT 1 AS one FROM collateral_by_token WHERE token_id = 21');
    expect([(await stored()).length, await readAll()]).toEqual([2, expected]);
    await engine.client.command('SYSTEM START MERGES collateral_by_token');
    await engine.client.command('OPTIMIZE TABLE collateral_by_token FINAL');
    expect([(await stored()).length, await readAll()]).toEqual([0, expected]);
  });
});
