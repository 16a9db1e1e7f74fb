import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commonLimits, type PlanTerms, plans } from '../../schemas/plans.js';
import { type ApiHarness, startApi } from '../support/api.js';

const text = readFileSync(join(import.meta.dirname, '../../docs/LIMITS.md'), 'utf8');

/** Rows of the table under a heading, by their first cell. */
function rowsOf(heading: string): ReadonlyMap<string, readonly string[]> {
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  const rows = lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return new Map(rows.map(([name = '', ...cells]) => [name, cells]));
}

const number = (value: number) => value.toLocaleString('en-US');
const limit = (value: number | null) => (value === null ? 'unlimited' : number(value));
const bytes = (value: number | null) =>
  value === null ? 'unlimited' : value >= 1e12 ? `${number(value / 1e12)} TB` : `${number(value / 1e9)} GB`;
const seconds = (value: number) => (value % 60 === 0 ? `${value / 60} min` : `${value} s`);
const s = (ms: number) => `${ms / 1000} s`;

it('docs/LIMITS.md has the numbers of the plan table', () => {
  const cells: Record<string, (terms: PlanTerms) => string> = {
    'requests per minute': (p) => number(p.standardPerMinute),
    'trade-history requests per minute': (p) => (p.heavyPerMinute === null ? 'no access' : number(p.heavyPerMinute)),
    'event-socket connections': (p) => limit(p.eventSockets),
    'order-book socket connections': (p) => limit(p.orderbookSockets),
    'socket time per UTC day': (p) =>
      p.sessionSecondsPerDay === null ? 'unlimited' : `${p.sessionSecondsPerDay / 3600} h`,
    'filter items per subscription': (p) => number(p.filterItemsPerSubscription),
    keys: (p) => number(p.apiKeys),
    '`snapshot_count`': (p) => number(p.snapshotCap),
    'look-back of `since`': (p) => seconds(p.sinceLookbackMs / 1000),
    'API requests per service month': (p) => limit(p.monthlyAllowance.api_requests),
    'order-book and oracle bytes per service month': (p) => bytes(p.monthlyAllowance.orderbook_chainlink_bytes),
    'on-chain event bytes per service month': (p) => bytes(p.monthlyAllowance.onchain_event_bytes),
    'searches of social posts per calendar month (UTC)': (p) => number(p.socialSearchesPerMonth),
  };
  const ordered = [plans.free, plans.starter, plans.growth, plans.enterprise];
  expect(Object.fromEntries(rowsOf('Plans'))).toEqual(
    Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, ordered.map(cell)])),
  );
});

it('docs/LIMITS.md has the numbers of the limits of single paths, and of those without a key', () => {
  const limitOf = (heading: string, name: string) => {
    const row = [...rowsOf(heading)].find(([first]) => first.includes(name));
    return row?.[1][1];
  };
  const group = (name: string) => limitOf('API groups', name);
  expect(group('/v3/wallets/{address}/pnl`')).toBe(
    `${commonLimits.v3PnlAtOncePerAccount} at once; ${commonLimits.v3PnlAtOncePerProcess} at once; further ones wait up to 750 ms`,
  );
  expect(group('/v2/copy-pnl/*')).toMatch(new RegExp(`^1 per ${s(commonLimits.copyPnlIntervalMsPerKey)} over`));
  expect(group('/v2/trader/{wallet}/equity')).toBe(`1 per ${s(commonLimits.equityIntervalMsPerKey)}`);
  expect(group('/v2/x/search')).toMatch(
    new RegExp(`^${commonLimits.socialRequestsPerSecondPerKey} per 1 s; searches of the plan`),
  );
  expect(group('includeTrades')).toBe(`${commonLimits.includeTradesPerMinutePerKey} per minute`);
  expect(group('/v1/sql')).toMatch(
    new RegExp(
      `^${commonLimits.sqlPerMinutePerKey} per minute; ${commonLimits.sqlAtOncePerAccount} at once; ${commonLimits.sqlAtOncePerProcess} at once;`,
    ),
  );
  const keyless = (name: string) => limitOf('Without a key', name);
  const window = `${commonLimits.signInWindowMs / 60_000} minutes`;
  expect(keyless('all without a valid key, except the next')).toBe(
    `${number(commonLimits.keylessPerMinute)} per minute`,
  );
  expect(keyless('scripts and style sheets of the pages')).toBe(`${number(commonLimits.assetsPerMinute)} per minute`);
  expect(keyless('POST /v1/keys')).toBe(`${commonLimits.freeKeysPerIpAndUtcDay} per UTC day`);
  expect(keyless('confirmations with the password')).toBe(`${commonLimits.passwordGuessesPerEmail} per ${window}`);
  expect(keyless('links that are used')).toBe(`${commonLimits.signInsPerAddress} per ${window}`);
  expect(keyless('sign-up')).toBe(`${commonLimits.linksPerAddress} per ${window}`);
  expect(text).toContain(`${commonLimits.unusedLinksPerEmailAndHour} unused ones per hour`);
  expect(keyless('signed-in browser')).toBe(`${commonLimits.sessionRequestsPerMinute} per minute`);
});

describe('docs/LIMITS.md and the routes', () => {
  let api: ApiHarness;
  beforeAll(async () => {
    api = await startApi({ nowMs: Date.UTC(2027, 4, 22) });
  });
  afterAll(() => api.stop());

  it('names exactly the trade-history paths that the API counts, and no path that does not exist', () => {
    const rows = [...rowsOf('API groups').keys()].map((cell) =>
      [...cell.matchAll(/`(\/[^`]+)`/g)].map(([, path]) => path),
    );
    const heavy = api.service.routes.filter((route) => route.isHeavy === true).map((route) => route.path);
    expect([...(rows[0] ?? [])].sort()).toEqual(heavy.sort());
    const known = new Set(api.service.routes.map((route) => route.path));
    expect(rows.flat().filter((path) => path !== undefined && !path.endsWith('*') && !known.has(path))).toEqual([]);
  });
});
