import { describe, expect, it } from 'vitest';
import { loadConfig } from '../config/config.js';
import { areSourcesDescribed, startBanner, startingText } from './banner.js';

const addresses = {
  api: 'http://127.0.0.1:8080',
  socket: 'ws://127.0.0.1:8081/ws',
  orderbook: 'ws://127.0.0.1:8082/ws',
  clickhouse: 'http://127.0.0.1:8123',
};
const source = (name: string, mode: string, shiftDays: number | null) => ({
  source: name,
  mode,
  detail: '',
  shiftDays,
});

it('sources are described when chain, oracle and catalogue have said what they read', () => {
  const described = ['oracle', 'chain', 'catalog', 'social'].map((name) => ({
    ...source(name, 'recorded', 3),
    detail: 'of a day',
  }));
  expect(areSourcesDescribed(described)).toBe(true);
  expect(areSourcesDescribed(described.slice(0, 2))).toBe(false);
  expect(areSourcesDescribed([...described.slice(0, 2), source('catalog', 'recorded', null)])).toBe(false);
});

describe('startingText', () => {
  it('names data, log, tables and input on one line, without credentials', () => {
    expect(startingText(loadConfig({ ODDSTREAM_DATA: '/d', RECORDED_DIR: '/r' }))).toBe(
      'Oddstream is starting. Data /d; log lmdb:/d/log; tables in the embedded ClickHouse; input recorded, /r. Settings: docs/CONFIGURATION.md.',
    );
    const live = startingText(
      loadConfig({
        ODDSTREAM_DATA: '/d',
        LOG_URL: 'kafka://user:secret@broker:9092',
        CLICKHOUSE_URL: 'http://writer:secret@tables:8123',
        POLYGON_RPC_URL: 'https://node.example/v2/secret',
      }),
    );
    expect(live).toMatch(/^[^\n]*tables in http:\/\/\S*tables:8123; input live, chain https:\/\/node\.example[^\n]*$/);
    expect(live).not.toContain('secret');
  });
});

describe('startBanner', () => {
  it('states that data is recorded and the shift of each source', () => {
    const sources = [
      source('catalog', 'recorded', 120),
      source('chain', 'recorded', 243),
      source('oracle', 'recorded', 120),
    ];
    const text = startBanner({ addresses, key: 'k', database: 'market', sources });
    expect(text).toContain('shifted by 120 whole days (catalog, oracle) and 243 whole days (chain)');
    expect(
      startBanner({ addresses, key: 'k', database: 'market', sources: [source('chain', 'live', null)] }),
    ).not.toContain('Recorded');
  });

  it('does not state that Oddstream is up while a check fails, and lists checks that load', () => {
    const base = { addresses, key: 'k', database: 'market', sources: [] };
    const failing = ['processors: clickhouse: connect ECONNREFUSED'];
    const waiting = startBanner({ ...base, failing });
    expect(waiting).not.toContain('Oddstream is up.');
    expect(waiting).toContain('  - processors: clickhouse: connect ECONNREFUSED');
    const up = startBanner({ ...base, loading: ['ingest: chain: history, 12 %'] });
    expect(up).toContain('Oddstream is up.');
    expect(up).toContain('  - ingest: chain: history, 12 %');
  });

  it('begins with the processes that stay down and the remedy', () => {
    const base = { addresses, key: 'k', database: 'oddstream', sources: [] };
    const text = startBanner({
      ...base,
      down: ['ingest: POLYGON_RPC_URL is not set'],
      failing: ['api: does not respond'],
    });
    expect(text).not.toContain('Oddstream is up.');
    expect(text).toMatch(
      /Fix the following, stop Oddstream \(Ctrl-C\) and start it again:\n {2}- ingest: POLYGON_RPC_URL is not set\n\nFailing, retried:\n {2}- api: does not respond/,
    );
  });
  it('adds the user to the SQL example when a password is needed, and prints no password', () => {
    const base = { addresses, key: 'k', database: 'market', sources: [] };
    expect(startBanner(base)).toContain("curl -s 'http://127.0.0.1:8123/?database=market'");
    expect(startBanner({ ...base, login: 'writer' })).toContain(
      `curl -s -u "writer:$CLICKHOUSE_PASSWORD" 'http://127.0.0.1:8123/?database=market'`,
    );
    expect(startBanner({ ...base, login: 'analyst', password: '$ANALYST_PASSWORD' })).toContain(
      `curl -s -u "analyst:$ANALYST_PASSWORD" 'http://127.0.0.1:8123/?database=market'`,
    );
  });

  it('prints the key only at the first start; later commands read it from its file', () => {
    const base = { addresses, key: 'odds_live_secret', database: 'market', sources: [] };
    expect(startBanner(base)).toContain("-H 'x-api-key: odds_live_secret'");
    const later = startBanner({ ...base, keyFile: '/data/dev-key' });
    expect(later).not.toContain('odds_live_secret');
    expect(later).toContain('Your key (enterprise plan, this machine only): in /data/dev-key');
    expect(later).toContain(`-H "x-api-key: $(cat '/data/dev-key')"`);
    expect(later).toContain(`watch.mjs "ws://127.0.0.1:8081/ws?key=$(cat '/data/dev-key')" '{`);
  });

  it('links the pages with the ready key, or without a key if there is none', () => {
    const base = { addresses, database: 'market', sources: [] };
    expect(startBanner({ ...base, key: 'k' })).toMatch(
      /^ +Markets and wallets +http:\/\/127\.0\.0\.1:8080\/app#key=k$/m,
    );
    expect(startBanner({ ...base, key: 'k' })).toMatch(
      /^ +SQL in the browser +http:\/\/127\.0\.0\.1:8080\/sql#key=k$/m,
    );
    expect(startBanner({ ...base, key: null })).toMatch(/^ +Markets and wallets +http:\/\/127\.0\.0\.1:8080\/app$/m);
  });

  it('shows the progress of the history first, and no more than three checks that are loading', () => {
    const sinks = ['sink a', 'sink b', 'sink c', 'sink d'];
    const loading = [...sinks.map((name) => `processors: ${name}`), 'api: history: fills 9 %'];
    const text = startBanner({ addresses, key: null, database: 'market', sources: [], loading });
    const shown = /Still loading:\n((?: {2}- .*\n)+)/.exec(text)?.[1];
    expect(shown?.trimEnd().split('\n')).toEqual([
      '  - api: history: fills 9 %',
      '  - processors: sink a',
      '  - processors: sink b',
      '  - and 2 more: http://127.0.0.1:8080/status',
    ]);
  });

  it('links the status page, which needs no key', () => {
    const text = startBanner({ addresses, key: null, database: 'market', sources: [] });
    expect(text).toMatch(/^ +Status +http:\/\/127\.0\.0\.1:8080\/status$/m);
  });

  it('shows how to create a key if there is no ready key', () => {
    const text = startBanner({ addresses, key: null, database: 'market', sources: [] });
    expect(text).toContain('curl -X POST http://127.0.0.1:8080/v1/keys');
    expect(text).toContain('<your key>');
  });
});
