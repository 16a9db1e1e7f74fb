import express from 'express';
import { describe, expect, it } from 'vitest';
import { FatalError } from '../errors.js';
import { loadConfig } from './config.js';

describe('types of settings', () => {
  it.each([
    ['nginx', 'nginx'],
    ['10.0.0.1,proxy.example', 'proxy.example'],
    ['10.0.0.0/33', '10.0.0.0/33'],
    ['10.0.0.0/0', '10.0.0.0/0'],
    ['::1/129', '::1/129'],
    ['10.0.0.0/8/8', '10.0.0.0/8/8'],
    ['10.0.0.0/', '10.0.0.0/'],
    ['10.0.0', '10.0.0'],
    ['Loopback', 'Loopback'],
  ])('names the entries of TRUSTED_PROXIES=%s that are neither addresses nor networks', (text, wrong) => {
    expect(() => loadConfig({ TRUSTED_PROXIES: text })).toThrow(FatalError);
    expect(() => loadConfig({ TRUSTED_PROXIES: text })).toThrow(
      `Bad configuration:\n  TRUSTED_PROXIES: ${wrong}: expected addresses (10.0.0.1), networks`,
    );
  });

  it('accepts addresses, networks and their names in TRUSTED_PROXIES, as Express does', () => {
    const all = ['10.0.0.1', '10.0.0.0/8', '::1', 'fc00::/7', 'loopback', 'linklocal', 'uniquelocal'];
    expect(loadConfig({ TRUSTED_PROXIES: all.join(', ') }).trustedProxies).toEqual(all);
    expect(() => express().set('trust proxy', all)).not.toThrow();
  });

  it.each([
    'name:8080',
    'https://name',
    'name/path',
    'name.',
    '*.example',
    'user@name',
    'a..b',
    '-a',
    'bücher.example',
  ])('rejects %s in ALLOWED_HOSTS, which no request would match', (name) => {
    expect(() => loadConfig({ ALLOWED_HOSTS: `ok.example,${name}` })).toThrow(
      `Bad configuration:\n  ALLOWED_HOSTS: ${name}: expected host names such as api.example, without scheme, port`,
    );
  });

  it('accepts names and addresses in ALLOWED_HOSTS', () => {
    const names = ['api', 'api.oddstream.svc', 'XN--BCHER-KVA.example', 'my_host', '10.0.0.1', '::1'];
    const { allowedHosts } = loadConfig({ ALLOWED_HOSTS: names.join(',') });
    expect(allowedHosts).toEqual(expect.arrayContaining(names.map((name) => name.toLowerCase())));
  });

  it.each(['CLICKHOUSE_URL', 'SCHEMA_REGISTRY_URL', 'REDIS_URL', 'POLYGON_RPC_URL'])(
    'names %s when its password has a % that encodes nothing',
    (name) => {
      const scheme = name === 'REDIS_URL' ? 'redis' : 'http';
      for (const credentials of ['user:50%off', '%zz:secret'])
        expect(() => loadConfig({ [name]: `${scheme}://${credentials}@server.example` })).toThrow(
          `Bad configuration:\n  ${name}: a % in the user name or password must be written as %25`,
        );
      loadConfig({ [name]: `${scheme}://user:50%25off@server.example` });
    },
  );

  it.each(['/odds', '/odds/', '/?a=1', '/?', '?a=1', '#top', '//'])(
    'rejects PUBLIC_URL with %s after the host, where no page works',
    (rest) => {
      for (const base of ['https://api.example', 'http://127.0.0.1:8080'])
        expect(() => loadConfig({ PUBLIC_URL: `${base}${rest}` }), base).toThrow(
          'Bad configuration:\n  PUBLIC_URL: expected http(s)://host[:port] alone',
        );
    },
  );

  it('rejects credentials in PUBLIC_URL, and other schemes', () => {
    for (const url of ['https://user:secret@api.example', 'ftp://api.example', 'api.example:8080'])
      expect(() => loadConfig({ PUBLIC_URL: url }), url).toThrow(/PUBLIC_URL: expected http\(s\):\/\/host/);
  });

  const live = { POLYGON_RPC_URL: 'https://node.example' };
  const social = { SOCIAL_API_TOKEN: 'token-of-posts' };
  const oidc = { OIDC_CLIENT_ID: 'odds', OIDC_CLIENT_SECRET: 'secret' };
  const stripe = {
    BILLING_PROVIDER: 'stripe',
    STRIPE_SECRET_KEY: 'sk_test_1234',
    STRIPE_WEBHOOK_SECRET: 'whsec_1234',
  };

  it.each([
    ['GAMMA_URL', live],
    ['ORDERBOOK_REST_URL', live],
    ['SOCIAL_API_URL', social],
    ['STRIPE_API_BASE', stripe],
    ['OIDC_ISSUER', oidc],
  ])('rejects a user or password in %s, with which fetch does not work, and does not repeat it', (name, others) => {
    const secret = 'S3cretS3cret';
    for (const credentials of [`user:${secret}`, secret, `:${secret}`]) {
      const load = () => loadConfig({ ...others, [name]: `https://${credentials}@service.example` });
      expect(load).toThrow(new RegExp(`^Bad configuration:\\n  ${name}: expected http\\(s\\)://host\\[:port\\]`));
      expect(load).not.toThrow(secret);
    }
    loadConfig({ ...others, [name]: 'https://service.example' });
  });

  it.each(['/oddstream', '/?secure=1', '?database=a', '#a', '//'])(
    'rejects CLICKHOUSE_URL with %s after the host, which the client takes for a setting',
    (rest) => {
      for (const base of ['http://tables.example:8123', 'https://user:secret@tables.example'])
        expect(() => loadConfig({ CLICKHOUSE_URL: base + rest }), base).toThrow(
          'Bad configuration:\n  CLICKHOUSE_URL: expected http(s)://[user:password@]host[:port] alone: CLICKHOUSE_DATABASE names',
        );
    },
  );

  it.each([
    ['GAMMA_URL', 'https://catalogue.example/mirror'],
    ['GAMMA_URL', 'https://catalogue.example/?token=1'],
    ['STRIPE_API_BASE', 'https://stripe.example/v2'],
    ['ORDERBOOK_REST_URL', 'https://books.example/?key=1'],
    ['SOCIAL_API_URL', 'https://posts.example/2?key=1'],
    ['OIDC_ISSUER', 'https://login.example/#a'],
  ])('rejects %s=%s, of which a part would be lost', (name, url) => {
    expect(() => loadConfig({ ...live, ...social, ...oidc, ...stripe, [name]: url })).toThrow(
      `Bad configuration:\n  ${name}: expected http(s)://host[:port]`,
    );
  });

  it.each([
    ['RTDS_URL', 'ws(s)', 'https://prices.example'],
    ['ORDERBOOK_WS_URL', 'ws(s)', 'https://books.example'],
    ['GAMMA_URL', 'http(s)', 'wss://catalogue.example'],
    ['ORDERBOOK_REST_URL', 'http(s)', 'wss://books.example'],
  ])('rejects other schemes in %s, which would be retried for ever', (name, scheme, other) => {
    for (const url of [other, 'localhost:9000', 'ftp://a', 'mailto:x'])
      expect(() => loadConfig({ ...live, [name]: url }), url).toThrow(
        `Bad configuration:\n  ${name}: expected ${scheme}://host[:port]`,
      );
  });

  it('keeps the path of a base URL', () => {
    const { sources } = loadConfig({ ...live, ORDERBOOK_REST_URL: 'https://mirror.example/clob/' });
    expect(sources.orderbookRestUrl).toBe('https://mirror.example/clob/');
  });
});
