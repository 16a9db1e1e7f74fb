import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BriefPosition, createWalletPages } from '../../api/positions/wallet-pages.js';
import { walletSorts } from '../../api/positions/wallet-pages.sql.js';
import { createReads } from '../../api/reads.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import type { Sql } from '../../api/tables/port.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { migrations } from '../../processors/migrations.js';
import { startTestClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { activityOf, fillAccounts, insertAccounts } from '../support/positions.js';
import { alice, comboYes, fillWorld, rainYes, snowNo, snowYes, T } from '../support/world.js';

const units = (usd: number) => BigInt(Math.round(usd * 1e6));
const trader = `0x${'77'.repeat(20)}`;
/** Tokens nobody knows, of short and long ids. */
const strangers = ['5', '40', '300', `${10n ** 70n}`, `${9n * 10n ** 69n}`];

let engine: TestClickHouse;
let asked: string[];
let make: (small: number) => ReturnType<typeof createWalletPages>;

beforeAll(async () => {
  engine = await startTestClickHouse();
  await migrate({ client: engine.client, migrations, logger: silentLogger() });
  await fillWorld(engine.client);
  await fillAccounts(engine.client);
  const trade = (block: number, action: 'BUY' | 'SELL', token: string, shares: number, usdc: number) =>
    activityOf({
      wallet: trader,
      block_number: block,
      action,
      tokens: [token],
      amounts: [units(shares)],
      usdc: units(usdc),
      exchange_version: token === comboYes ? 3 : 2,
    });
  await insertAccounts(engine.client, [
    ...[snowYes, snowNo, rainYes, comboYes, ...strangers].map((token, n) =>
      trade(100 + n, 'BUY', token, 10 + (n % 3), 4),
    ),
    trade(200, 'SELL', strangers[0] as string, 11, 9),
    trade(201, 'SELL', snowNo, 5, 1),
    trade(202, 'SELL', strangers[3] as string, 2, 1),
  ]);
  const live = createClickHouseTables(engine.client);
  const tables = {
    ...live,
    rows: <Row>(sql: Sql) => {
      asked.push(sql.text);
      return live.rows<Row>(sql);
    },
  };
  const nowMs = () => (T + 1_000) * 1000;
  const { rankings, positions, outcomesOf } = createReads({ tables, nowMs });
  make = (small) => createWalletPages({ tables, rankings, prices: positions.prices, outcomesOf, nowMs, small });
});
afterAll(() => engine.stop());

const filters: Readonly<Record<string, ((position: BriefPosition) => boolean) | null>> = {
  all: null,
  held: ({ size }) => size > 0n,
  settled: ({ price }) => price.source === 'settlement',
  dear: ({ currentValue }) => currentValue >= units(4),
  redeemed: ({ lastRedeemedAtS }) => lastRedeemedAtS !== null,
};

it.each(Object.keys(filters))('large and small wallets are cut into the same pages: %s', async (filter) => {
  const sizes = new Set<number>();
  for (const wallet of [trader, alice]) {
    for (const sort of walletSorts) {
      for (const order of ['asc', 'desc'] as const) {
        for (const combos of [true, false]) {
          const [asSmall, asLarge] = [make(1_000), make(0)];
          const question = { wallet, sort, order, combos, wanted: filters[filter] ?? null, limit: 4 };
          for (let offset = 0; offset < 12; offset += 4) {
            asked = [];
            const small = await asSmall.page(
              { ...question, offset, walk: `small ${sort} ${order} ${combos} ${wallet} ${filter}` },
              5_000,
            );
            const large = await asLarge.page(
              { ...question, offset, walk: `large ${sort} ${order} ${combos} ${wallet} ${filter}` },
              5_000,
            );
            expect(large.value).toEqual(small.value);
            sizes.add(small.value.positions.length);
          }
        }
      }
    }
  }
  expect(Math.max(...sizes)).toBeGreaterThan(0);
});

it('reads a small wallet once, of a large one the order and the rows of a page', async () => {
  const question = {
    wallet: trader,
    sort: 'size',
    order: 'desc',
    combos: true,
    wanted: null,
    limit: 4,
    offset: 0,
  } as const;
  asked = [];
  const small = make(1_000);
  for (const walk of ['1', '2']) await small.page({ ...question, walk }, 5_000);
  expect(asked.filter((sql) => sql.includes('FROM positions AS p FINAL'))).toHaveLength(1);
  asked = [];
  const large = make(0);
  for (const walk of ['3', '4']) await large.page({ ...question, walk }, 5_000);
  // That it is large, its order, and the page twice.
  expect(asked.filter((sql) => sql.includes('FROM positions AS p FINAL'))).toHaveLength(4);
});
