import { afterAll, beforeAll, expect, it } from 'vitest';
import { createResponseCache } from '../../api/cache/response-cache.js';
import type { RequestContext } from '../../api/http/route.js';
import { createReaders } from '../../api/readers.js';
import { createWalletSummaryRoute } from '../../api/routes/v1-wallets/summary.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import type { Tables } from '../../api/tables/port.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { ALWAYS_FRESH_S, activityOf, insertAccounts } from '../support/positions.js';
import { NOW_S } from '../support/positions-api.js';
import { address } from '../support/rows.js';
import { snow, snowYes } from '../support/venue.js';

const wallet = address(0xfe);

let engine: TestClickHouse;
let quotes = 0;
const quote = async (): Promise<void> => {
  quotes += 1;
  const mid = quotes / 10;
  await engine.client.insertRows('token_quotes', [
    {
      token_id: snowYes,
      condition_id: snow.conditionId,
      outcome_index: 0,
      price: mid,
      bid: mid - 0.01,
      ask: mid + 0.01,
      updated_at: (ALWAYS_FRESH_S + quotes) * 1000,
      _offset: quotes,
    },
  ]);
};

beforeAll(async () => {
  engine = await startMigratedClickHouse();
  await insertAccounts(engine.client, [
    activityOf({
      wallet,
      block_number: 103,
      action: 'BUY',
      tokens: [snowYes],
      amounts: [1_000_000_000n],
      usdc: 400_000_000n,
    }),
  ]);
  await quote();
});
afterAll(() => engine.stop());

it('wallet summary counts no fees in shares when a mid moves between its statements', async () => {
  const real = createClickHouseTables(engine.client);
  let previous: Promise<unknown> = Promise.resolve();
  const tables: Tables = {
    rows: <T>(sql: Parameters<Tables['rows']>[0]) => {
      const found = previous.then(() => real.rows<T>(sql));
      previous = found.then(quote);
      return found;
    },
    reachable: () => real.reachable(),
  };
  const nowMs = () => NOW_S * 1000;
  const readers = createReaders({ tables, cache: createResponseCache({ nowMs }), nowMs, cachedMarkets: 10 });
  const route = createWalletSummaryRoute(readers);
  const { body } = await route.handle(
    { query: new URLSearchParams(), params: { wallet }, body: undefined } as never,
    {
      nowMs: nowMs(),
    } as RequestContext,
  );
  await previous;
  expect(quotes).toBeGreaterThan(2);
  const { realized_pnl, unrealized_pnl, net_pnl, fees_in_shares } = body as Record<string, number>;
  // 1000 shares for 400 USD, without any fee.
  expect({ realized_pnl, fees_in_shares, net_pnl }).toEqual({
    realized_pnl: 0,
    fees_in_shares: 0,
    net_pnl: unrealized_pnl,
  });
});
