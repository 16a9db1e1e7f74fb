import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FatalError } from '../errors.js';
import { environmentVariables, loadConfig } from './config.js';

describe('settings that would have no effect', () => {
  const stripe = { STRIPE_SECRET_KEY: 'sk_test_1234', STRIPE_WEBHOOK_SECRET: 'whsec_1234' };

  it.each([
    ['STRIPE_SECRET_KEY', 'sk_test_1234', 'BILLING_PROVIDER is none'],
    ['STRIPE_WEBHOOK_SECRET', 'whsec_1234', 'BILLING_PROVIDER is none'],
    ['STRIPE_API_BASE', 'https://stripe.example', 'BILLING_PROVIDER is none'],
    ['OIDC_CLIENT_ID', 'odds', 'OIDC_ISSUER is missing'],
    ['OIDC_CLIENT_SECRET', 'secret', 'OIDC_ISSUER is missing'],
    ['POLYGON_WS_URL', 'wss://node.example', 'POLYGON_RPC_URL is missing'],
    ['CHAIN_START_BLOCK', '0', 'POLYGON_RPC_URL is missing'],
    ['RTDS_URL', 'wss://prices.example', 'POLYGON_RPC_URL is missing'],
    ['GAMMA_URL', 'https://catalogue.example', 'POLYGON_RPC_URL is missing'],
    ['ORDERBOOK_WS_URL', 'wss://books.example', 'POLYGON_RPC_URL is missing'],
    ['ORDERBOOK_REST_URL', 'https://books.example', 'POLYGON_RPC_URL is missing'],
    ['MAIL_FROM', 'a@b.example', 'SMTP_URL is missing'],
    ['SCHEMA_REGISTRY_USER', 'odds', 'SCHEMA_REGISTRY_URL is missing'],
    ['SCHEMA_REGISTRY_PASSWORD', 'secret', 'SCHEMA_REGISTRY_URL is missing'],
    ['COPY_LOG_REGISTRY_PASSWORD', 'secret', 'COPY_LOG_REGISTRY_USER is missing'],
    ['SOCIAL_FULL_ARCHIVE', '1', 'SOCIAL_API_TOKEN is missing'],
    ['SOCIAL_API_URL', 'https://posts.example/2', 'SOCIAL_API_TOKEN is missing'],
    ['CLICKHOUSE_CLUSTER', 'main', 'CLICKHOUSE_URL is missing'],
  ])('are rejected: %s=%s, although %s', (name, value, reason) => {
    expect(() => loadConfig({ [name]: value })).toThrow(FatalError);
    expect(() => loadConfig({ [name]: value })).toThrow(`Bad configuration:\n  ${name}: given, although ${reason}`);
  });

  it('are rejected with another provider of payments, and when a file has the secret', () => {
    expect(() => loadConfig({ BILLING_PROVIDER: 'test', ...stripe })).toThrow(
      'STRIPE_SECRET_KEY: given, although BILLING_PROVIDER is test',
    );
    const folder = mkdtempSync(join(tmpdir(), 'secret-'));
    try {
      writeFileSync(join(folder, 'client'), 'secret\n');
      expect(() => loadConfig({ OIDC_CLIENT_SECRET_FILE: join(folder, 'client') })).toThrow(
        'OIDC_CLIENT_SECRET: given, although OIDC_ISSUER is missing',
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('are rejected when live input is selected: RECORDED_HISTORY_ONLY', () => {
    const node = { POLYGON_RPC_URL: 'https://node.example' };
    expect(() => loadConfig({ ...node, RECORDED_HISTORY_ONLY: '1' })).toThrow(
      'RECORDED_HISTORY_ONLY: given, although POLYGON_RPC_URL selects live input',
    );
    expect(loadConfig({ ...node, RECORDED_HISTORY_ONLY: '0' }).sources.mode).toBe('live');
    expect(loadConfig({ RECORDED_HISTORY_ONLY: '1', SOCIAL_FULL_ARCHIVE: '0' }).sources.mode).toBe('recorded');
  });

  it('are accepted with the setting that they belong to', () => {
    expect(loadConfig({ BILLING_PROVIDER: 'stripe', ...stripe }).billing).toMatchObject({ provider: 'stripe' });
    const node = { POLYGON_RPC_URL: 'https://node.example', POLYGON_WS_URL: 'wss://node.example' };
    expect(loadConfig(node).sources.rpcWsUrl).toBe('wss://node.example');
  });
});

describe('URLs of the node', () => {
  it.each([
    ['POLYGON_RPC_URL', 'ws://node.example', 'http(s)'],
    ['POLYGON_RPC_URL', 'ftp://node.example', 'http(s)'],
    ['POLYGON_WS_URL', 'https://node.example', 'ws(s)'],
  ])('are rejected with the scheme of another protocol: %s=%s', (name, url, scheme) => {
    expect(() => loadConfig({ POLYGON_RPC_URL: 'https://node.example', [name]: url })).toThrow(
      `Bad configuration:\n  ${name}: expected ${scheme}://host[:port][/path]`,
    );
  });
});

describe('blanks', () => {
  it.each(environmentVariables.filter((name) => !name.endsWith('_FILE')))('are no value of %s', (name) => {
    for (const blank of [' ', '\t', ' \n ', ' '.repeat(20)])
      expect(() => loadConfig({ [name]: blank })).toThrow(
        `Bad configuration:\n  ${name}: only blanks; leave it empty for the default`,
      );
  });

  it('are named together with other invalid values, each once', () => {
    expect(() => loadConfig({ API_PORT: ' ', CLICKHOUSE_URL: ' ', LOG_LEVEL: 'loud' })).toThrow(
      /^Bad configuration:\n {2}API_PORT: only blanks.*\n {2}CLICKHOUSE_URL: only blanks.*\n {2}LOG_LEVEL: [^\n]*$/,
    );
  });
});
