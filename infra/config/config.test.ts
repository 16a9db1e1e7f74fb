import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FatalError } from '../errors.js';
import { loadConfig, redactConfig } from './config.js';

describe('loadConfig', () => {
  it('rejects a database of views that is the database of the tables or one of the engine', () => {
    expect(loadConfig({}).clickhouse.analystDatabase).toBe('market');
    for (const name of ['oddstream', 'system', 'INFORMATION_SCHEMA'])
      expect(() => loadConfig({ ANALYST_DATABASE: name }), name).toThrow(/ANALYST_DATABASE.*is in use/);
    expect(() => loadConfig({ CLICKHOUSE_DATABASE: 'market' })).toThrow(/ANALYST_DATABASE/);
  });

  it('has defaults for everything: recorded input, loopback, the documented ports', () => {
    const config = loadConfig({});
    expect(config.sources.mode).toBe('recorded');
    expect(config.host).toBe('127.0.0.1');
    expect(config.logUrl).toBe(`lmdb:${resolve('data/log')}`);
    expect([config.ports.api, config.ports.gateway, config.ports.admin.gateway]).toEqual([8080, 8081, 9104]);
  });

  it('treats an empty variable as unset', () => {
    expect(loadConfig({ API_PORT: '', POLYGON_RPC_URL: '' })).toEqual(loadConfig({}));
  });

  it.each([
    ['API_PORT', 'http'],
    ['API_PORT', '65536'],
    ['ADMIN_PORT_INGEST', '-1'],
    ['GATEWAY_PORT', '80.5'],
    ['GATEWAY_PROCESSES', '0'],
    ['LOG_LEVEL', 'loud'],
    ['CLICKHOUSE_URL', 'localhost'],
    ['POLYGON_RPC_URL', 'not a url'],
    ['CHAIN_START_BLOCK', '-5'],
    ['MAIL_FROM', 'Oddstream'],
    ['MAIL_FROM', 'Oddstream <>'],
    ['MAIL_FROM', 'Oddstream <a@b.example> x'],
    ['MAIL_FROM', 'a@b.example\r\nBcc: c@d.example'],
    ['RECORDED_HISTORY_ONLY', 'yes'],
  ])('names a bad %s: %s', (name, value) => {
    expect(() => loadConfig({ [name]: value })).toThrow(FatalError);
    expect(() => loadConfig({ [name]: value })).toThrow(new RegExp(`^Bad configuration:\\n  ${name}: .+`));
  });

  it('names every bad variable at once', () => {
    const bad = () => loadConfig({ API_PORT: 'x', LOG_LEVEL: 'loud' });
    expect(bad).toThrow(/API_PORT/);
    expect(bad).toThrow(/LOG_LEVEL/);
  });

  it('is live with POLYGON_RPC_URL, and derives the WebSocket URL from it', () => {
    const { sources } = loadConfig({ POLYGON_RPC_URL: 'https://node.example/v2/key' });
    expect([sources.mode, sources.rpcWsUrl]).toEqual(['live', 'wss://node.example/v2/key']);
    const given = loadConfig({ POLYGON_RPC_URL: 'http://node.example', POLYGON_WS_URL: 'ws://other.example' });
    expect(given.sources.rpcWsUrl).toBe('ws://other.example');
  });

  it('reads lists and flags', () => {
    expect(loadConfig({ TRUSTED_PROXIES: ' 10.0.0.1, ,10.0.0.2' }).trustedProxies).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(loadConfig({ RECORDED_HISTORY_ONLY: 'true' }).sources.recordedHistoryOnly).toBe(true);
    expect(loadConfig({ RECORDED_HISTORY_ONLY: '0' }).sources.recordedHistoryOnly).toBe(false);
  });
});

describe('where users reach the API', () => {
  it('is this host and port, or PUBLIC_URL', () => {
    expect(loadConfig({}).publicUrl).toBe('http://127.0.0.1:8080');
    expect(loadConfig({ ODDSTREAM_HOST: '0.0.0.0', API_PORT: '9000' }).publicUrl).toBe('http://127.0.0.1:9000');
    expect(loadConfig({ ODDSTREAM_HOST: '::1' }).publicUrl).toBe('http://[::1]:8080');
    expect(loadConfig({ PUBLIC_URL: 'https://api.example/' }).publicUrl).toBe('https://api.example');
    expect(loadConfig({ PUBLIC_URL: 'http://api.example:8443' }).publicUrl).toBe('http://api.example:8443');
  });
});

describe('where the tables are', () => {
  it('is the embedded server, whose port can be changed', () => {
    expect(loadConfig({}).clickhouse).toMatchObject({
      url: 'http://127.0.0.1:8123',
      embedded: { host: '127.0.0.1', port: 8123, memoryBytes: 400 * 2 ** 20 },
      user: 'oddstream',
      password: '',
      analystDatabase: 'market',
      analyst: {
        password: undefined,
        queries: 2,
        memoryBytes: 200_000_000,
        executionS: 30,
        resultRows: 1_000_000,
        resultBytes: 500_000_000,
      },
    });
    const moved = loadConfig({ CLICKHOUSE_EMBEDDED_HOST: '0.0.0.0', CLICKHOUSE_EMBEDDED_PORT: '9000' });
    expect(moved.clickhouse).toMatchObject({
      url: 'http://127.0.0.1:9000',
      embedded: { host: '0.0.0.0', port: 9000 },
    });
    expect(loadConfig({ CLICKHOUSE_EMBEDDED_MEMORY_MB: '4000' }).clickhouse.embedded?.memoryBytes).toBe(4000 * 2 ** 20);
    expect(() => loadConfig({ CLICKHOUSE_EMBEDDED_MEMORY_MB: '100' })).toThrow('CLICKHOUSE_EMBEDDED_MEMORY_MB');
  });

  it('has limits for analysts, and a password of at least 12 characters that is never printed', () => {
    const { clickhouse } = loadConfig({
      ANALYST_TIMEOUT_S: '60',
      ANALYST_MEMORY_MB: '500',
      ANALYST_RESULT_ROWS: '7',
      ANALYST_RESULT_MB: '3',
      ANALYST_QUERIES: '1',
    });
    expect(clickhouse.analyst).toMatchObject({
      queries: 1,
      memoryBytes: 500_000_000,
      executionS: 60,
      resultRows: 7,
      resultBytes: 3_000_000,
    });
    for (const name of [
      'ANALYST_TIMEOUT_S',
      'ANALYST_MEMORY_MB',
      'ANALYST_RESULT_ROWS',
      'ANALYST_RESULT_MB',
      'ANALYST_QUERIES',
    ]) {
      expect(() => loadConfig({ [name]: '0' })).toThrow(name);
    }
    expect(() => loadConfig({ ANALYST_PASSWORD: 'short' })).toThrow('ANALYST_PASSWORD: at least 12 characters');
    const secret = 'correct horse battery';
    expect(JSON.stringify(redactConfig(loadConfig({ ANALYST_PASSWORD: secret })))).not.toContain(secret);
  });

  it.each(['http://127.0.0.1:8123', 'http://localhost:8123', 'https://tables.example:8443'])(
    'is an external server with CLICKHOUSE_URL=%s, also on this machine',
    (url) => {
      expect(loadConfig({ CLICKHOUSE_URL: url }).clickhouse).toMatchObject({ url, embedded: null, user: 'default' });
    },
  );

  it('keeps all raw history unless RAW_HISTORY_DAYS limits it', () => {
    expect(loadConfig({}).rawHistoryDays).toBeNull();
    expect(loadConfig({ RAW_HISTORY_DAYS: '90' }).rawHistoryDays).toBe(90);
    for (const wrong of ['0', '-1', '1.5', 'all', '36501'])
      expect(() => loadConfig({ RAW_HISTORY_DAYS: wrong })).toThrow('RAW_HISTORY_DAYS');
  });

  it('merges parts every ten minutes, never in a cluster', () => {
    const every = (env: Record<string, string>) => loadConfig(env).clickhouse.compactionEveryMs;
    expect(every({})).toBe(600_000);
    expect(every({ COMPACTION_EVERY_S: '30' })).toBe(30_000);
    expect(every({ COMPACTION_EVERY_S: '0' })).toBeNull();
    expect(every({ CLICKHOUSE_CLUSTER: 'main', CLICKHOUSE_URL: 'http://tables.example:8123' })).toBeNull();
    expect(() => loadConfig({ COMPACTION_EVERY_S: 'often' })).toThrow('COMPACTION_EVERY_S');
  });

  it('takes credentials from the URL, unless separate variables have them', () => {
    const CLICKHOUSE_URL = 'http://writer:p%40ss@tables.example:8123/';
    const base = { url: 'http://tables.example:8123', embedded: null };
    expect(loadConfig({ CLICKHOUSE_URL }).clickhouse).toMatchObject({ ...base, user: 'writer', password: 'p@ss' });
    const given = { CLICKHOUSE_USER: 'reader', CLICKHOUSE_PASSWORD: 'other' };
    expect(loadConfig({ CLICKHOUSE_URL, ...given }).clickhouse).toMatchObject({
      ...base,
      user: 'reader',
      password: 'other',
    });
  });
});

describe('redactConfig', () => {
  const secret = 'S3cretS3cretS3cret';

  it.each([
    ['POLYGON_RPC_URL', `https://node.example/v2/${secret}`],
    ['POLYGON_RPC_URL', `https://node.example/${secret.slice(0, 8)}`],
    ['POLYGON_RPC_URL', `https://node.example/?key=${secret}`],
    ['POLYGON_RPC_URL', `https://${secret}@node.example/`],
    ['POLYGON_RPC_URL', `https://user:${secret}@node.example/`],
    ['POLYGON_WS_URL', `wss://node.example/ws/${secret}`],
    ['CLICKHOUSE_URL', `http://default:${secret}@tables.example:8123/`],
    ['CLICKHOUSE_PASSWORD', secret],
    ['LOG_URL', `kafka://user:${secret}@broker.example:9092`],
    ['RTDS_URL', `wss://prices.example/${secret}`],
    ['SOCIAL_API_TOKEN', secret],
    ['RTDS_URL', `wss://user:${secret}@prices.example`],
    ['ORDERBOOK_WS_URL', `wss://books.example/?key=${secret}`],
    ['ORDERBOOK_REST_URL', `https://books.example/${secret}`],
    ['SOCIAL_API_URL', `https://posts.example/${secret}/2`],
  ])('prints no secret of %s: %s', (name, value) => {
    const config = loadConfig({
      POLYGON_RPC_URL: 'https://node.example',
      SOCIAL_API_TOKEN: 'token-of-posts',
      [name]: value,
    });
    expect(JSON.stringify(redactConfig(config))).not.toContain(secret.slice(0, 8));
    expect(JSON.stringify(config)).toContain(secret.slice(0, 8));
  });

  it('does not replace values that are not secret', () => {
    const config = loadConfig({ POLYGON_RPC_URL: 'https://node.example', LOG_URL: 'kafka://broker.example:9092' });
    expect(redactConfig(config)).toMatchObject({
      logUrl: 'kafka://broker.example:9092',
      sources: { rpcUrl: 'https://node.example', rtdsUrl: 'wss://ws-live-data.polymarket.com' },
    });
    expect(redactConfig(loadConfig({})).logUrl).toMatch(/^lmdb:/);
  });
});
