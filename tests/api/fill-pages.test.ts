import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createResponseCache } from '../../api/cache/response-cache.js';
import { allFills, type FillFilter } from '../../api/fills/filter.js';
import { createReaders, type Readers } from '../../api/readers.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { fillRow, hex32, insertFills } from '../support/rows.js';

const T = 1_790_000_000;
const FILLS = 600;
const wallets = ['0xa', '0xb', '0xc', '0xd'];
const tokens = ['11', '12', '13'];

interface Fill {
  readonly block: number;
  readonly log: number;
  readonly maker: string;
  readonly taker: string;
  readonly token: string;
  readonly version: number;
}

/** Every seventh fill is a wallet's trade with itself, every fifth one of a combo; the last fills of a wallet are trades with itself only. */
const fills: readonly Fill[] = Array.from({ length: FILLS }, (_, n) => {
  const maker = wallets[(n * 7) % 4] as string;
  const isSelfTrade = n % 7 === 0 || n > FILLS - 40;
  return {
    block: 100 + Math.floor(n / 3),
    log: n % 3,
    maker,
    taker: isSelfTrade ? maker : (wallets[(n * 3 + 1) % 4] as string),
    token: tokens[n % 3] as string,
    version: n % 5 === 0 ? 3 : (n % 2) + 1,
  };
});

let engine: TestClickHouse;
let readers: Readers;
let statementCount = 0;

beforeAll(async () => {
  engine = await startMigratedClickHouse();
  await insertFills(
    engine.client,
    fills.map((fill, n) => ({
      ...fillRow({
        block: fill.block,
        logIndex: fill.log,
        timestampS: T + fill.block,
        txHash: hex32(n),
        orderHash: hex32(n),
        version: fill.version,
        maker: fill.maker,
        taker: fill.taker,
        side: 'BUY',
        tokenId: fill.token,
        usdc: 500_000n,
        shares: 1_000_000n,
      }),
      _offset: n,
    })),
  );
  const live = createClickHouseTables(engine.client);
  const rows: typeof live.rows = (sql) => {
    statementCount++;
    return live.rows(sql);
  };
  const nowMs = () => (T + 1_000) * 1000;
  readers = createReaders({
    tables: { ...live, rows },
    cache: createResponseCache({ nowMs }),
    nowMs,
    cachedMarkets: 1_000,
  });
});
afterAll(() => engine.stop());

const choice = <V>(...values: V[]) => fc.constantFrom(...values);
const filters = fc.record({
  wallets: choice(null, ['0xa'], ['0xb', '0xd'], ['0xe']),
  role: choice<FillFilter['role']>(null, 'maker', 'taker'),
  tokenIds: choice(null, ['11'], ['12', '13']),
  versions: choice(null, { min: 1, max: 2 }, { min: 3, max: 3 }, { min: 2, max: 2 }),
});

/** Second implementation of the filter: each fill once per requested wallet. */
function expected(filter: FillFilter): string[] {
  const asMaker = (fill: Fill, wallet: string) => fill.maker === wallet && filter.role !== 'taker';
  const asTaker = (fill: Fill, wallet: string) =>
    fill.taker === wallet && filter.role !== 'maker' && (filter.role === 'taker' || fill.maker !== wallet);
  return fills
    .filter((fill) => filter.tokenIds?.includes(fill.token) !== false)
    .filter(
      ({ version }) => filter.versions === null || (version >= filter.versions.min && version <= filter.versions.max),
    )
    .flatMap((fill) => {
      const id = `${fill.block}-${fill.log}`;
      if (filter.wallets === null) return [id];
      return filter.wallets.flatMap((wallet) => [
        ...(asMaker(fill, wallet) ? [id] : []),
        ...(asTaker(fill, wallet) ? [id] : []),
      ]);
    });
}

it('fill reader returns the same pages whether the statement or the reader excludes rare rows', async () => {
  await fc.assert(
    fc.asyncProperty(
      filters,
      choice(1, 7, 50, 1_000),
      choice(0, 0, 5),
      choice<'asc' | 'desc'>('asc', 'desc'),
      async (some, limit, offset, order) => {
        // Without wallets the role is ignored.
        const filter: FillFilter = { ...allFills, ...some, role: some.wallets === null ? null : some.role };
        const page = await readers.fills.fills(filter, { order, limit, offset });
        const all = expected(filter);
        const wanted = order === 'asc' ? all : all.toReversed();
        expect(page.rows.map((row) => `${row.block_number}-${row.log_index}`)).toEqual(
          wanted.slice(offset, offset + limit),
        );
        expect(page.next !== null).toBe(wanted.length > offset + limit);
      },
    ),
    { numRuns: 300 },
  );
});

it('fill reader runs one statement for a page without excluded rows, two for a full page with excluded rows', async () => {
  const statementsFor = async (some: Partial<FillFilter>, order: 'asc' | 'desc', limit: number) => {
    statementCount = 0;
    await readers.fills.fills({ ...allFills, wallets: ['0xb'], ...some }, { order, limit, offset: 0 });
    return statementCount;
  };
  expect(await statementsFor({ role: 'maker', versions: { min: 1, max: 3 } }, 'desc', 10)).toBe(1);
  // The newest fills are all trades with itself.
  expect(await statementsFor({}, 'desc', 5)).toBe(2);
  // Some are, and no fills follow.
  expect(await statementsFor({}, 'desc', 1_000)).toBe(1);
});
