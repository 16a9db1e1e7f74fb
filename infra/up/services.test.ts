import { describe, expect, it } from 'vitest';
import { loadConfig } from '../config/config.js';
import { servicesOf } from './supervisor.js';

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
});
