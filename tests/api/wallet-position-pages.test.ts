import { afterAll, beforeAll, expect, it } from 'vitest';
import { createResponseCache } from '../../api/cache/response-cache.js';
import { cursorsOf } from '../../api/pagination/cursor.js';
import { type RankValue, rankCursor } from '../../api/pagination/ranked-page.js';
import type { PositionWithMetadata } from '../../api/positions/position.js';
import type { PositionReader } from '../../api/positions/reader.js';
import { createWalletPositionPages, type FilterablePosition } from '../../api/positions/wallet-position-pages.js';
import { type PositionSelection, type WalletSort, walletSorts } from '../../api/positions/wallet-position-pages.sql.js';
import { createReaders } from '../../api/readers.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import type { Sql } from '../../api/tables/port.js';
import { isComboPosition } from '../../schemas/primitives/combo-ids.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { insertAccounts, insertVenueAccounts, tradeOf } from '../support/positions.js';
import { alice, comboYes, insertVenue, rainYes, snowNo, snowYes, T } from '../support/venue.js';

const units = (usd: number) => BigInt(Math.round(usd * 1e6));
const trader = `0x${'77'.repeat(20)}`;
/** Unknown tokens with short and long ids. */
const unknownTokens = ['5', '40', '300', `${10n ** 70n}`, `${9n * 10n ** 69n}`];

let engine: TestClickHouse;
let sqlTexts: string[] = [];
let pages: ReturnType<typeof createWalletPositionPages>;
let positions: PositionReader;

beforeAll(async () => {
  engine = await startMigratedClickHouse();
  await insertVenue(engine.client);
  await insertVenueAccounts(engine.client);
  const trade = (block: number, action: 'BUY' | 'SELL', token: string, shares: number, usd: number) =>
    tradeOf(trader, block, action, token, shares, usd);
  await insertAccounts(engine.client, [
    ...[snowYes, snowNo, rainYes, comboYes, ...unknownTokens].map((token, n) =>
      trade(100 + n, 'BUY', token, 10 + (n % 3), 4),
    ),
    trade(200, 'SELL', unknownTokens[0] as string, 11, 9),
    trade(201, 'SELL', snowNo, 5, 1),
    trade(202, 'SELL', unknownTokens[3] as string, 2, 1),
  ]);
  const live = createClickHouseTables(engine.client);
  const tables = {
    ...live,
    rows: <Row>(sql: Sql) => {
      sqlTexts.push(sql.text);
      return live.rows<Row>(sql);
    },
  };
  const nowMs = () => (T + 1_000) * 1000;
  const readers = createReaders({ tables, cache: createResponseCache({ nowMs }), nowMs, cachedMarkets: 1_000 });
  positions = readers.positions;
  pages = createWalletPositionPages({ ...readers, tables, prices: positions.prices });
});
afterAll(() => engine.stop());

const MAX_AGE_MS = 5_000;
const everything = { tokens: null, shares: null } as const;
const selections: Readonly<Record<string, PositionSelection>> = { held: { tokens: null, shares: 'held' } };
const filters: Readonly<Record<string, ((position: FilterablePosition) => boolean) | null>> = {
  all: null,
  held: ({ size }) => size > 0n,
  settled: ({ price }) => price.source === 'settlement',
  dear: ({ currentValue }) => currentValue >= units(4),
  redeemed: ({ lastRedeemedAtS }) => lastRedeemedAtS !== null,
};

const measures: Readonly<Record<WalletSort, (position: PositionWithMetadata) => bigint>> = {
  realized_pnl: (position) => position.realizedPnl,
  size: (position) => position.size,
  total_bought: (position) => position.totalBought,
  avg_price: (position) => position.avgPrice,
  last_at: (position) => BigInt(position.lastAtS),
};
/** Combos last, then by the sort key, ties by token. */
const inOrder = (
  list: readonly PositionWithMetadata[],
  sort: WalletSort,
  order: 'asc' | 'desc',
): PositionWithMetadata[] =>
  [...list].sort((a, b) => {
    const combos = Number(isComboPosition(a.tokenId)) - Number(isComboPosition(b.tokenId));
    const difference = measures[sort](a) - measures[sort](b);
    if (combos !== 0) return combos;
    if (difference !== 0n) return difference < 0n === (order === 'asc') ? -1 : 1;
    return BigInt(a.tokenId) < BigInt(b.tokenId) ? -1 : 1;
  });

it.each(Object.keys(filters))(
  'createWalletPositionPages cuts pages from all positions in the requested order: %s',
  async (filter) => {
    const wanted = filters[filter] ?? null;
    let most = 0;
    for (const wallet of [trader, alice]) {
      // Only a complete list knows the last redemption of a condition.
      const all = (await positions.ofWallet(wallet, 1_000)).value.map(({ closedAtS: _, ...position }) => position);
      for (const sort of walletSorts) {
        for (const order of ['asc', 'desc'] as const) {
          for (const combos of [true, false]) {
            const listed = all.filter((position) => combos || !isComboPosition(position.tokenId));
            const expected = inOrder(wanted === null ? listed : listed.filter(wanted), sort, order);
            const selection = selections[filter] ?? everything;
            const query = {
              wallet,
              sort,
              order,
              combos,
              selection,
              predicate: wanted,
              usesPrices: true,
              endpoint: '/list',
              limit: 4,
            } as const;
            let cursor: string | undefined;
            for (let offset = 0; offset < 12; offset += 4) {
              const { value: byOffset } = await pages.page({ ...query, offset, cursor: undefined }, MAX_AGE_MS);
              expect(byOffset).toMatchObject({ rows: expected.slice(offset, offset + 4) });
              expect(byOffset.cursor !== null).toBe(expected.length > offset + 4);
              if (offset > 0 && cursor === undefined) continue;
              const { value: byCursor } = await pages.page({ ...query, offset: 0, cursor }, MAX_AGE_MS);
              expect(byCursor.rows).toEqual(byOffset.rows);
              expect(byCursor.cursor === null).toBe(byOffset.cursor === null);
              cursor = byCursor.cursor ?? undefined;
            }
            most = Math.max(most, expected.length);
          }
        }
      }
    }
    expect(most).toBeGreaterThan(0);
  },
);

const bySize = {
  wallet: trader,
  sort: 'size',
  order: 'desc',
  combos: true,
  usesPrices: false,
  endpoint: '/list',
  limit: 4,
} as const;

it('createWalletPositionPages reads a page with one statement and caches it', async () => {
  const statements = async (offset: number): Promise<number> => {
    sqlTexts = [];
    await pages.page({ ...bySize, selection: everything, predicate: null, offset, cursor: undefined }, 7_000);
    return sqlTexts.filter((sql) => sql.includes('FROM positions AS p FINAL')).length;
  };
  expect([await statements(1), await statements(1), await statements(5)]).toEqual([1, 0, 1]);
});

it('createWalletPositionPages rejects cursors with values that no position has', async () => {
  const cursorOf = (value: RankValue, id: string) =>
    cursorsOf(rankCursor, { endpoint: '/list', order: 'size desc' }).write({ value, id });
  for (const cursor of [
    cursorOf('x', '5'),
    cursorOf(1n << 255n, '5'),
    cursorOf(5n, `${1n << 256n}`),
    cursorOf(5n, 'x'),
  ])
    await expect(
      pages.page({ ...bySize, selection: everything, predicate: null, offset: 0, cursor }, 0),
    ).rejects.toThrow('bad_parameter');
});

it('createWalletPositionPages finds the last positions of a wallet that has more than it reads at once', async () => {
  const wallet = `0x${'88'.repeat(20)}`;
  // 30,000 sold positions with gains, of which every tenth was redeemed, then a redeemed loss and a position that is held.
  await engine.client.command(
    `INSERT INTO positions (wallet, token_id, size, realized_pnl, first_at, last_at, last_redeemed_at, version, _offset)
    SELECT '${wallet}', toUInt256(7000000 + number), if(number = 30001, 5, 0), if(number < 30000, 100, -100), toDateTime(${T}, 'UTC'), toDateTime(${T}, 'UTC'),
      if(number % 10 = 0, toDateTime(${T}, 'UTC'), NULL), 1, number FROM numbers(30002)`,
  );
  const query = {
    wallet,
    sort: 'realized_pnl',
    order: 'desc',
    combos: false,
    usesPrices: true,
    endpoint: '/list',
    limit: 2,
  } as const;
  const found = async (selection: PositionSelection, predicate: (position: FilterablePosition) => boolean) => {
    const { value } = await pages.page({ ...query, selection, predicate, offset: 0, cursor: undefined }, 0);
    return value.rows.map(({ tokenId }) => tokenId);
  };
  expect(await found({ tokens: null, shares: 'held' }, () => true)).toEqual(['7030001']);
  expect(await found({ tokens: ['7030000', '1'], shares: null }, () => true)).toEqual(['7030000']);
  const isLast = ({ tokenId }: FilterablePosition) => tokenId === '7030000';
  expect(await found({ tokens: null, shares: 'redeemed' }, isLast)).toEqual(['7030000']);
  expect(await found({ tokens: ['7030000'], shares: 'closed' }, () => true)).toEqual([]);
});
