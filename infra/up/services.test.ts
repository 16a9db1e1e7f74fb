import { describe, expect, it } from 'vitest';
import { loadConfig } from '../config/config.js';
import { portProblems, servicesOf } from './supervisor.js';

describe('the services of a configuration', () => {
  const gateways = (env: Record<string, string>) =>
    servicesOf(loadConfig(env), 'dist')
      .filter(({ name }) => name.startsWith('stream-gateway'))
      .map(({ name, adminPort, ports, env }) => [name, adminPort, ports.map(({ port }) => port), env]);

  it('have one gateway, or several on one port with separate admin ports', () => {
    expect(gateways({})).toEqual([['stream-gateway', 9104, [8081, 8082], { ADMIN_PORT_GATEWAY: '9104' }]]);
    expect(gateways({ GATEWAY_PROCESSES: '3', ADMIN_PORT_GATEWAY: '9200' })).toEqual([
      ['stream-gateway', 9200, [8081, 8082], { ADMIN_PORT_GATEWAY: '9200' }],
      ['stream-gateway-2', 9201, [], { ADMIN_PORT_GATEWAY: '9201' }],
      ['stream-gateway-3', 9202, [], { ADMIN_PORT_GATEWAY: '9202' }],
    ]);
  });

  it.each([
    [{}, '16'],
    [{ UV_THREADPOOL_SIZE: '' }, '16'],
    [{ UV_THREADPOOL_SIZE: '32' }, '32'],
  ])('have a pool of threads for queries, of the given size if there is one: %j', (env, threads) => {
    const store = servicesOf(loadConfig(env), 'dist').find(({ name }) => name === 'clickhouse');
    expect(store?.env).toEqual({ UV_THREADPOOL_SIZE: threads });
  });
});

describe('ports that no start can use', () => {
  const problemsOf = (env: Record<string, string>) => {
    const config = loadConfig(env);
    return portProblems(config, servicesOf(config, 'dist'));
  };

  it('are none of the defaults, nor of several gateways', () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ GATEWAY_PROCESSES: '64' })).toEqual([]);
    expect(problemsOf({ CLICKHOUSE_URL: 'http://tables.example:8123', API_PORT: '8123' })).toEqual([]);
  });

  it.each([
    ['ADMIN_PORT_API', 'api'],
    ['API_PORT', 'api'],
    ['ORDERBOOK_PORT', 'stream-gateway'],
    ['CLICKHOUSE_EMBEDDED_PORT', 'clickhouse'],
  ])('are those that the others cannot know: %s=0', (variable, service) => {
    expect(problemsOf({ [variable]: '0' })).toEqual([`port 0 (${service}) is not from 1 to 65535; set ${variable}`]);
  });

  it('are those beyond the last one, counted from the first gateway', () => {
    expect(problemsOf({ GATEWAY_PROCESSES: '2', ADMIN_PORT_GATEWAY: '65535' })).toEqual([
      'port 65536 (stream-gateway-2) is not from 1 to 65535; set ADMIN_PORT_GATEWAY',
    ]);
  });

  it('are those of two processes, or twice of one', () => {
    expect(problemsOf({ API_PORT: '8081' })).toEqual([
      'port 8081 is that of api and of stream-gateway; set API_PORT or GATEWAY_PORT',
    ]);
    expect(problemsOf({ ADMIN_PORT_INGEST: '9102' })).toEqual([
      'port 9102 is that of processors and of ingest; set ADMIN_PORT_PROCESSORS or ADMIN_PORT_INGEST',
    ]);
    expect(problemsOf({ GATEWAY_PORT: '8082' })).toEqual([
      'port 8082 is that of stream-gateway and of stream-gateway; set GATEWAY_PORT or ORDERBOOK_PORT',
    ]);
    expect(problemsOf({ GATEWAY_PROCESSES: '3', ADMIN_PORT_GATEWAY: '9099' })).toEqual([
      'port 9099 is that of stream and of stream-gateway; set ADMIN_PORT_STREAM or ADMIN_PORT_GATEWAY',
      'port 9100 is that of clickhouse and of stream-gateway-2; set ADMIN_PORT_CLICKHOUSE or ADMIN_PORT_GATEWAY',
      'port 9101 is that of ingest and of stream-gateway-3; set ADMIN_PORT_INGEST or ADMIN_PORT_GATEWAY',
    ]);
  });

  it('may be equal on two addresses, unless one of them is all addresses', () => {
    const CLICKHOUSE_EMBEDDED_PORT = '8080';
    expect(problemsOf({ CLICKHOUSE_EMBEDDED_PORT, CLICKHOUSE_EMBEDDED_HOST: '127.0.0.2' })).toEqual([]);
    for (const host of ['127.0.0.1', '0.0.0.0', '::', '[::]'])
      expect(problemsOf({ CLICKHOUSE_EMBEDDED_PORT, CLICKHOUSE_EMBEDDED_HOST: host }), host).toEqual([
        'port 8080 is that of clickhouse and of api; set CLICKHOUSE_EMBEDDED_PORT or API_PORT',
      ]);
  });
});
