import { afterAll, beforeAll, expect, it } from 'vitest';
import { createResponseCache } from '../../api/cache/response-cache.js';
import type { HolderStart } from '../../api/positions/top-holders.js';
import { createReaders, type Readers } from '../../api/readers.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';

const HOLDERS = 12_000;
const T = 1_790_000_000;
/** Both outcomes of a market, and three further tokens. */
const tokens = [`${10n ** 76n}`, `${10n ** 76n + 1n}`, '7', '8', '9'];
const [yes, no] = tokens as [string, string];

interface Raw {
  readonly wallet: string;
  readonly token: string;
  readonly size: bigint;
  readonly received: bigint;
  /** 18 decimals. */
  readonly average: bigint;
  readonly realized: bigint;
  readonly bought: bigint;
}

let engine: TestClickHouse;
let readers: Readers;
let raw: Raw[];
const prices = new Map([
  [yes, 420_000n],
  [no, 580_000n],
]);

beforeAll(async () => {
  engine = await startMigratedClickHouse();
  // Many of the same rank: ties by wallet.
  await engine.client.command(`INSERT INTO positions (wallet, token_id, size, received, avg_price, cost, realized_pnl, total_bought, bought_usdc, sold_usdc, fills, first_at, last_at, version, _offset)
    SELECT concat('0x', leftPad(lower(hex(cityHash64(number))), 16, '0'), '000000000000000000000000'), toUInt256(['${tokens.join("','")}'][number % 5 + 1]),
      (cityHash64(number, 1) % 7) * 1000000 AS size, if(number % 11 = 0, intDiv(size, 2), 0), toDecimal128(cityHash64(number, 2) % 100, 18) / 100 + if(number % 13 = 0, toDecimal128('0.000000000000000001', 18), 0), 1,
      toInt64(cityHash64(number, 3) % 9) * 1000000 - 4000000, (cityHash64(number, 4) % 5) * 1000000, 1, 1, 2, toDateTime(${T}, 'UTC'), toDateTime(${T} + number, 'UTC'), 1, number
    FROM numbers(${HOLDERS})`);
  await engine.client.command(`INSERT INTO token_quotes (token_id, price, updated_at, _offset) SELECT toUInt256(t.1), t.2, toDateTime64(${T}, 3, 'UTC'), 1
    FROM (SELECT arrayJoin([('${yes}', 0.42), ('${no}', 0.58)]) AS t)`);
  raw = (
    await engine.client.query<Record<string, string>>(
      `SELECT wallet, toString(token_id) AS token, size, received, avg_price, realized_pnl, total_bought FROM positions FINAL`,
    )
  ).map((row) => ({
    wallet: row.wallet as string,
    token: row.token as string,
    size: BigInt(row.size as string),
    received: BigInt(row.received as string),
    average: decimal18(row.avg_price as string),
    realized: BigInt(row.realized_pnl as string),
    bought: BigInt(row.total_bought as string),
  }));
  const nowMs = () => (T + HOLDERS) * 1000;
  const tables = createClickHouseTables(engine.client);
  readers = createReaders({ tables, cache: createResponseCache({ nowMs }), nowMs, cachedMarkets: 1_000 });
});
afterAll(() => engine.stop());

function decimal18(text: string): bigint {
  const [whole = '0', rest = ''] = text.split('.');
  return BigInt(whole) * 10n ** 18n + BigInt(rest.padEnd(18, '0'));
}

/** USD x 10^24, as the sum of its parts. */
const keys: Readonly<Record<string, (row: Raw) => bigint>> = {
  total_pnl: (row) => row.realized * 10n ** 18n + unrealized(row),
  realized_pnl: (row) => row.realized,
  unrealized_pnl: unrealized,
  current_value: (row) => row.size * (prices.get(row.token) ?? 0n),
  initial_value: (row) => (row.size - row.received) * row.average,
  size: (row) => row.size,
  total_bought: (row) => row.bought,
};
function unrealized(row: Raw): bigint {
  // Without a price there is no unrealized PnL.
  if (!prices.has(row.token)) return 0n;
  return (row.size - row.received) * ((prices.get(row.token) ?? 0n) * 10n ** 12n - row.average);
}

const sorted = (rows: readonly Raw[], sort: string, order: 'asc' | 'desc') =>
  [...rows].sort((a, b) => {
    const key = keys[sort] as (row: Raw) => bigint;
    const [x, y] = order === 'asc' ? [key(a), key(b)] : [key(b), key(a)];
    if (x !== y) return x < y ? -1 : 1;
    if (a.wallet !== b.wallet) return a.wallet < b.wallet ? -1 : 1;
    return BigInt(a.token) < BigInt(b.token) ? -1 : 1;
  });

it.each(
  Object.keys(keys).flatMap((sort) => [
    [sort, 'desc'],
    [sort, 'asc'],
  ]) as [keyof typeof keys & 'size', 'asc' | 'desc'][],
)('createTopHolders pages the holders of each token by %s, %s', async (sort, order) => {
  const filter = { tokenIds: [yes, no], status: 'all', minSize: null, wallets: null } as const;
  const expected = [yes, no].map((token) =>
    sorted(
      raw.filter((row) => row.token === token),
      sort,
      order,
    ),
  );
  const found: string[][] = [[], []];
  let starts: readonly HolderStart[] = [];
  const limit = 500;
  while (starts.length === 0 || starts.some((start) => start !== 'end')) {
    const pages = await readers.topHolders.pages(filter, { sort, order, limit, offset: 0, starts });
    for (const [n, page] of pages.entries()) {
      for (const one of page.holders) found[n]?.push(one.wallet);
      expect(page.holders.length === limit || page.next === 'end').toBe(true);
    }
    starts = pages.map(({ next }) => next);
  }
  expect(found).toEqual(expected.map((rows) => rows.map((row) => row.wallet)));
  const [page] = await readers.topHolders.pages(filter, { sort, order, limit: 30, offset: 40, starts: [] });
  const shown = page?.holders ?? [];
  expect(shown.map((one) => [one.wallet, one.size, one.received, one.realizedPnl])).toEqual(
    expected[0]?.slice(40, 70).map((row) => [row.wallet, row.size, row.received, row.realized]),
  );
  expect(shown.map((one) => one.totalPnl)).toEqual(
    (await readers.positions.byId(shown.map((one) => `${one.wallet}-${yes}`))).map((one) => one.totalPnl),
  );
});

it('position reader ranks the holders of many tokens together', async () => {
  for (const tokenIds of [[yes, no, '7'], tokens]) {
    const filter = { tokenIds, status: 'open', minSize: 2_000_000n, wallets: null } as const;
    const rows = raw.filter((row) => tokenIds.includes(row.token) && row.size >= 2_000_000n);
    const ranked = await readers.positions.rankedHolders(filter, 'total_pnl', 'desc');
    expect(ranked.map((one) => one.id)).toEqual(
      sorted(rows, 'total_pnl', 'desc').map((row) => `${row.wallet}-${row.token}`),
    );
  }
});

it('createTopHolders returns empty pages for tokens without holders and for no wallets', async () => {
  const filter = { tokenIds: [yes, '404'], status: 'all', minSize: null, wallets: null } as const;
  const by = { sort: 'size', order: 'desc', limit: 10, offset: 0, starts: [] } as const;
  const empty = { holders: [], next: 'end' };
  expect((await readers.topHolders.pages(filter, by))[1]).toEqual(empty);
  expect(await readers.topHolders.pages({ ...filter, wallets: [] }, by)).toEqual([empty, empty]);
});
