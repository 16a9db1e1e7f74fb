import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_ANALYST_LIMITS } from '../../infra/clickhouse/embedded/analyst-profile.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { publishViews } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';

interface Target {
  readonly rawSql: string;
  readonly format: 0 | 1;
  readonly datasource: { readonly type: string; readonly uid: string };
}
interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly w: number };
    readonly targets: readonly Target[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}

const folder = join(import.meta.dirname, '../../infra/deploy/grafana');
const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const dashboard = JSON.parse(read('dashboards/market.json')) as Dashboard;
const source = read('provisioning/datasources/clickhouse.yaml');

const [FROM_S, TO_S] = [Date.UTC(2026, 2, 1) / 1000, Date.UTC(2026, 2, 31) / 1000];
const dateOf = (seconds: number) => `toDate('${new Date(seconds * 1000).toISOString().slice(0, 10)}')`;
/** What the plugin and Grafana make of the macros and variables. */
const MACROS: Readonly<Record<string, (argument: string) => string>> = {
  timeFilter: (column) => `${column} >= toDateTime(${FROM_S}) AND ${column} <= toDateTime(${TO_S})`,
  dateFilter: (column) => `${column} >= ${dateOf(FROM_S)} AND ${column} <= ${dateOf(TO_S)}`,
  timeInterval: (column) => `toStartOfInterval(toDateTime(${column}), INTERVAL 3600 second)`,
};
const VARIABLES: Readonly<Record<string, string>> = { slug: "it's", outcome: 'Up' };
const expand = (sql: string) =>
  sql
    .replace(/\$__(\w+)\((\w+)\)/g, (_, name: string, argument: string) => MACROS[name]!(argument))
    .replace(/\$\{(\w+):sqlstring\}/g, (_, name: string) => `'${VARIABLES[name]!.replaceAll("'", "''")}'`);

let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse({
    analyst: { password: undefined, database: 'market', concurrency: 2, limits: DEFAULT_ANALYST_LIMITS },
  });
  const logger = silentLogger();
  await publishViews({ client: engine.client, database: 'market', views: publicViews, logger });
});
afterAll(() => engine.stop());

/** Names of the columns, as user analyst with the time limit that the plugin's driver sends. */
async function columnsOf(sql: string): Promise<readonly string[]> {
  const parameters = new URLSearchParams({ user: 'analyst', default_format: 'JSONCompact', max_execution_time: '25' });
  const response = await fetch(`${engine.url}/?${parameters}`, { method: 'POST', body: expand(sql) });
  const text = await response.text();
  expect([response.status, response.status === 200 ? '' : text]).toEqual([200, '']);
  return (JSON.parse(text) as { meta: { name: string }[] }).meta.map(({ name }) => name);
}

describe("Grafana's dashboard of market data", () => {
  it.each(dashboard.panels.map(({ title, targets }) => [title, targets] as const))(
    '%s runs on the public views as the analyst',
    async (_title, targets) => {
      expect(targets).toHaveLength(1);
      for (const { rawSql, format, datasource } of targets) {
        expect(source).toContain(`uid: ${datasource.uid}\n    type: ${datasource.type}\n`);
        const columns = await columnsOf(rawSql);
        expect(columns.length).toBeGreaterThan(1);
        if (format === 0) expect(columns[0]).toBe('time');
      }
    },
  );

  it('has variables that run, and uses no others', async () => {
    const names = dashboard.templating.list.map(({ name }) => name);
    expect(names).toEqual(Object.keys(VARIABLES));
    for (const { query } of dashboard.templating.list) expect(await columnsOf(query)).toHaveLength(1);
  });

  it('has panels with ids of their own that fit into the width', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    for (const { title, gridPos } of dashboard.panels) expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
  });

  it('reads the views as user analyst, within its time limit', () => {
    const value = (name: string) => new RegExp(`^ +${name}: "?([^"\\n]+)"?$`, 'm').exec(source)?.[1];
    expect([value('username'), value('defaultDatabase'), value('protocol')]).toEqual(['analyst', 'market', 'http']);
    expect(Number(value('queryTimeout')) + 5).toBeLessThanOrEqual(DEFAULT_ANALYST_LIMITS.executionS);
  });
});
