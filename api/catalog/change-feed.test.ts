import { expect, it } from 'vitest';
import type { Sql, Tables } from '../tables/port.js';
import { createCachedLookup } from './cached-lookup.js';
import { createChangeFeed } from './change-feed.js';
import { type WatchedTable, watchedTables } from './change-feed.sql.js';

/** Rows of followed tables as they are written, and a clock. */
function setUp() {
  const clock = { nowMs: 0 };
  const written: { source: WatchedTable; id: string; offset: bigint }[] = [];
  const statements: ('watermarks' | 'changes')[] = [];
  const failure: { error: Error | null } = { error: null };
  const tables: Tables = {
    reachable: async () => true,
    async rows<T>(sql: Sql): Promise<T[]> {
      const params = sql.params as Readonly<Record<WatchedTable, bigint>> & { readonly rows?: number };
      statements.push(params.rows === undefined ? 'watermarks' : 'changes');
      if (failure.error !== null) throw failure.error;
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
          .map((row) => ({ source, id: row.id, next: String(row.offset + 1n) }) as T),
      );
    },
  };
  const changes = createChangeFeed({ tables, nowMs: () => clock.nowMs });
  const reports: string[] = [];
  changes.subscribe(['markets', 'fills'], (ids, source) =>
    reports.push(`${source}: ${ids?.length === 5_000 ? 'many' : ids}`),
  );
  const settled = async () => {
    await changes.sync();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, written, statements, failure, changes, reports, settled };
}

it('createChangeFeed starts at the current offsets and reports each change once', async () => {
  const { clock, written, statements, reports, settled } = setUp();
  written.push({ source: 'markets', id: '0xa', offset: 7n });
  await settled();
  expect(reports).toEqual(['markets: null', 'fills: null']);
  written.push({ source: 'markets', id: '0xb', offset: 8n }, { source: 'tokens', id: '1', offset: 8n });
  clock.nowMs = 1_999;
  await settled();
  clock.nowMs = 2_000;
  await settled();
  clock.nowMs = 4_000;
  await settled();
  expect(reports.slice(2)).toEqual(['markets: 0xb']);
  expect(statements).toEqual(['watermarks', 'changes', 'changes']);
});

it('createChangeFeed reports changes after the clock was set back', async () => {
  const { clock, written, reports, settled } = setUp();
  clock.nowMs = 5 * 86_400_000;
  await settled();
  written.push({ source: 'markets', id: '0xb', offset: 0n });
  clock.nowMs = 0;
  await settled();
  expect(reports).toEqual(['markets: null', 'fills: null', 'markets: 0xb']);
});

it('createChangeFeed reports the first row of an empty table', async () => {
  const { clock, written, reports, settled } = setUp();
  await settled();
  written.push({ source: 'markets', id: '0xa', offset: 0n });
  clock.nowMs = 2_000;
  await settled();
  expect(reports.slice(2)).toEqual(['markets: 0xa']);
});

it('createChangeFeed reports very many changes as a change of the whole table and continues after them', async () => {
  const { clock, written, reports, settled } = setUp();
  await settled();
  for (let n = 0n; n <= 6_000n; n++) written.push({ source: 'fills', id: String(n), offset: n });
  clock.nowMs = 2_000;
  await settled();
  written.push({ source: 'fills', id: 'x', offset: 6_001n });
  clock.nowMs = 4_000;
  await settled();
  expect(reports.slice(2)).toEqual(['fills: null', 'fills: x']);
});

it('createChangeFeed resolves for 5 s while the tables do not respond, then rejects with the cause', async () => {
  const { clock, statements, failure, changes, settled } = setUp();
  await settled();
  failure.error = new Error('unreachable');
  for (clock.nowMs = 2_000; clock.nowMs < 5_000; clock.nowMs += 2_000) await settled();
  await expect(changes.sync()).rejects.toThrow('unreachable');
  await expect(changes.sync()).rejects.toThrow('unreachable');
  expect(statements).toHaveLength(4);
  failure.error = null;
  clock.nowMs += 2_000;
  await changes.sync();
});

it('createCachedLookup drops changed ids, also those that changed while they were read', async () => {
  const { clock, written, changes } = setUp();
  const values = new Map([
    ['0xa', 'old'],
    ['0xb', 'old'],
  ]);
  const statements: string[][] = [];
  const nothing = () => Promise.resolve();
  let meanwhile: () => Promise<void> = nothing;
  const lookup = createCachedLookup({
    read: async (ids) => {
      statements.push([...ids]);
      const found = new Map(ids.flatMap((id) => (values.has(id) ? [[id, values.get(id) as string]] : [])));
      await meanwhile();
      return found;
    },
    unknown: 'unknown',
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
  expect(statements).toEqual([['0xa', '0xb', '0xc'], ['0xa'], ['0xc']]);
});
