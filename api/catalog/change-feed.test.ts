import { expect, it } from 'vitest';
import type { Sql, Tables } from '../tables/port.js';
import { createCachedLookup, identityCodec } from './cached-lookup.js';
import { createChangeFeed } from './change-feed.js';
import { type WatchedTable, watchedTables } from './change-feed.sql.js';

/** Rows of followed tables as they are written, and a clock. */
function setUp() {
  const clock = { nowMs: 0 };
  const written: { source: WatchedTable; id: string; offset: bigint; atS?: number }[] = [];
  const asked: ('marks' | 'changes')[] = [];
  const trouble: { error: Error | null } = { error: null };
  const tables: Tables = {
    reachable: async () => true,
    async rows<T>(sql: Sql): Promise<T[]> {
      const params = sql.params as Readonly<Record<WatchedTable, bigint>> & { readonly rows?: number };
      asked.push(params.rows === undefined ? 'marks' : 'changes');
      if (trouble.error !== null) throw trouble.error;
      if (params.rows === undefined) {
        return watchedTables.map((source) => {
          const offsets = written.filter((row) => row.source === source).map((row) => row.offset);
          return { source, next: String((offsets.sort((a, b) => Number(a - b)).at(-1) ?? -1n) + 1n) } as T;
        });
      }
      return watchedTables.flatMap((source) =>
        written
          .filter((row) => row.source === source && row.offset >= params[source])
          .slice(0, params.rows)
          .map((row) => ({ source, id: row.id, next: String(row.offset + 1n), since: row.atS ?? 0 }) as T),
      );
    },
  };
  const changes = createChangeFeed({ tables, nowMs: () => clock.nowMs });
  const told: string[] = [];
  changes.subscribe(['markets', 'fills'], (ids, source) =>
    told.push(`${source}: ${ids?.length === 5_000 ? 'many' : ids}`),
  );
  const settled = async () => {
    await changes.sync();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, written, asked, trouble, changes, told, settled };
}

it('begins where the tables are, and tells each change once', async () => {
  const { clock, written, asked, told, settled } = setUp();
  written.push({ source: 'markets', id: '0xa', offset: 7n });
  await settled();
  expect(told).toEqual(['markets: null', 'fills: null']);
  written.push({ source: 'markets', id: '0xb', offset: 8n }, { source: 'tokens', id: '1', offset: 8n });
  clock.nowMs = 1_999;
  await settled();
  clock.nowMs = 2_000;
  await settled();
  clock.nowMs = 4_000;
  await settled();
  expect(told.slice(2)).toEqual(['markets: 0xb']);
  expect(asked).toEqual(['marks', 'changes', 'changes']);
});

it('tells the very first row of an empty table', async () => {
  const { clock, written, told, settled } = setUp();
  await settled();
  written.push({ source: 'markets', id: '0xa', offset: 0n });
  clock.nowMs = 2_000;
  await settled();
  expect(told.slice(2)).toEqual(['markets: 0xa']);
});

it('takes a table with very many changes as changed throughout, and goes on behind them', async () => {
  const { clock, written, told, settled } = setUp();
  await settled();
  for (let n = 0n; n <= 6_000n; n++) written.push({ source: 'fills', id: String(n), offset: n });
  clock.nowMs = 2_000;
  await settled();
  written.push({ source: 'fills', id: 'x', offset: 6_001n });
  clock.nowMs = 4_000;
  await settled();
  expect(told.slice(2)).toEqual(['fills: null', 'fills: x']);
});

it('serves on for 5 s while the tables do not answer, then says why not', async () => {
  const { clock, asked, trouble, changes, settled } = setUp();
  await settled();
  trouble.error = new Error('away');
  for (clock.nowMs = 2_000; clock.nowMs < 5_000; clock.nowMs += 2_000) await settled();
  await expect(changes.sync()).rejects.toThrow('away');
  await expect(changes.sync()).rejects.toThrow('away');
  expect(asked).toHaveLength(4);
  trouble.error = null;
  clock.nowMs += 2_000;
  await changes.sync();
});

it('a lookup lets go of what changed, also of what changed while it was read', async () => {
  const { clock, written, changes } = setUp();
  const values = new Map([
    ['0xa', 'old'],
    ['0xb', 'old'],
  ]);
  const asked: string[][] = [];
  const nothing = () => Promise.resolve();
  let meanwhile: () => Promise<void> = nothing;
  const lookup = createCachedLookup({
    read: async (ids) => {
      asked.push([...ids]);
      const found = new Map(ids.flatMap((id) => (values.has(id) ? [[id, values.get(id) as string]] : [])));
      await meanwhile();
      return found;
    },
    unknown: 'unknown',
    codec: identityCodec,
    nowMs: () => clock.nowMs,
    invalidation: { changes, tables: ['markets'] },
  });
  const change = (id: string, value: string) => {
    values.set(id, value);
    written.push({ source: 'markets', id, offset: BigInt(written.length + 1) });
  };
  meanwhile = async () => {
    meanwhile = nothing;
    change('0xa', 'new');
    clock.nowMs = 2_000;
    await changes.sync();
    await new Promise((resolve) => setImmediate(resolve));
  };
  expect([...(await lookup(['0xa', '0xb', '0xc'])).values()]).toEqual(['old', 'old', 'unknown']);
  expect([...(await lookup(['0xa', '0xb', '0xc'])).values()]).toEqual(['new', 'old', 'unknown']);
  change('0xc', 'born');
  clock.nowMs = 4_000;
  await changes.sync();
  await new Promise((resolve) => setImmediate(resolve));
  expect([...(await lookup(['0xa', '0xb', '0xc'])).values()]).toEqual(['new', 'old', 'born']);
  expect(asked).toEqual([['0xa', '0xb', '0xc'], ['0xa'], ['0xc']]);
});
