import { afterAll, beforeAll, expect, it } from 'vitest';
import { createResponseCache } from '../../api/cache/response-cache.js';
import { createReaders, type Readers } from '../../api/readers.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { dave, insertVenueAccounts } from '../support/positions.js';
import { alice, bob, carol, insertVenue, rainYes, snow, snowNo, snowYes, T } from '../support/venue.js';

let engine: TestClickHouse;
let readers: Readers;

beforeAll(async () => {
  engine = await startMigratedClickHouse();
  await insertVenue(engine.client);
  await insertVenueAccounts(engine.client);
  const nowMs = () => (T + 100) * 1000;
  const tables = createClickHouseTables(engine.client);
  readers = createReaders({ tables, cache: createResponseCache({ nowMs }), nowMs, cachedMarkets: 1_000 });
});
afterAll(() => engine.stop());

const usd = (units: bigint) => Number(units) / 1e6;

it('position reader returns every position of a wallet with its price', async () => {
  const { value } = await readers.positions.ofWallet(alice, 1000);
  // 160 Yes for 64; 20 sent away, 40 sold at 0.45 against 0.40. 10 Rain for 9, 9.9 of them paid out.
  expect(
    value.map((one) => [
      one.tokenId,
      usd(one.size),
      usd(one.initialValue),
      usd(one.currentValue),
      usd(one.realizedPnl),
      usd(one.unrealizedPnl),
      usd(one.totalPnl),
      one.price.source,
    ]),
  ).toEqual([
    [snowYes, 100, 40, 42, 2, 2, 4, 'clob_mid'],
    [rainYes, 0, 0, 0, 0.99, 0, 0.99, 'settlement'],
  ]);
  const [received] = (await readers.positions.ofWallet(dave, 1000)).value;
  expect(received).toMatchObject({ size: 20_000_000n, received: 20_000_000n, currentValue: 8_400_000n, totalPnl: 0n });
});

it('position reader ranks holders by PnL', async () => {
  const filter = { tokenIds: [snowYes, snowNo], status: 'all', minSize: null, wallets: null } as const;
  // Yes: Alice 4; Bob 40 - 50 and 100 x (0.42 - 0.50); Carol and Dave 0. No: Bob 200 x 0.08; Carol 50 x -0.02.
  const ranked = [`${bob}-${snowNo}`, `${alice}-${snowYes}`, `${carol}-${snowYes}`, `${dave}-${snowYes}`];
  const worst = [`${carol}-${snowNo}`, `${bob}-${snowYes}`];
  const byPnl = await readers.positions.rankedHolders(filter, 'total_pnl', 'desc');
  expect(byPnl.map((one) => one.id)).toEqual([...ranked, ...worst]);
  expect(
    await readers.positions.rankedHolders({ ...filter, status: 'open', minSize: 50_000_001n }, 'size', 'asc'),
  ).toEqual([
    { id: `${alice}-${snowYes}`, value: 100_000_000n },
    { id: `${bob}-${snowYes}`, value: 100_000_000n },
    { id: `${bob}-${snowNo}`, value: 200_000_000n },
  ]);
  const found = await readers.positions.byId([...worst, `${alice}-1`]);
  expect(found.map((one) => [one.wallet, usd(one.totalPnl)])).toEqual([
    [carol, -1],
    [bob, -18],
  ]);
});

it('position reader returns long pages', async () => {
  const longest = (n: number) => `${10n ** 77n + BigInt(n)}`;
  const ids = Array.from({ length: 1000 }, (_, n) => `${alice}-${longest(n)}`);
  const found = await readers.positions.byId([...ids, `${alice}-${snowYes}`]);
  expect(found.map((one) => one.tokenId)).toEqual([snowYes]);
});

it('position reader adds outcome metadata to positions', async () => {
  const found = await readers.outcomesOf([snowNo, rainYes, '999']);
  expect(found.get(snowNo)).toMatchObject({
    conditionId: snow.conditionId,
    outcome: 'No',
    outcomeIndex: 1,
    status: 'live',
  });
  expect(found.get(rainYes)).toMatchObject({ status: 'resolved', winner: 0, resolvedAtS: T + 18, negRisk: true });
  expect(found.get('999')).toMatchObject({ conditionId: null, tagSlugs: null });
});
