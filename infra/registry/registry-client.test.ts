import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FatalError, RetryableError } from '../errors.js';
import { createRegistryClient } from './registry-client.js';

type ScriptedResponse = readonly [status: number, body: unknown];
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Starts a server with scripted responses: objects as JSON, strings unchanged. */
async function serve(respond: (request: IncomingMessage) => ScriptedResponse) {
  const server = createServer((request, response) => {
    const [status, body] = respond(request);
    response.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/html' : 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
    return once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const clientOf = async (respond: (request: IncomingMessage) => ScriptedResponse) =>
  createRegistryClient({ url: await serve(respond), user: 'me', password: 's3cret' });

describe('registry client', () => {
  it('sends the credentials, and names their variables when they are rejected', async () => {
    const seen: (string | undefined)[] = [];
    const client = await clientOf((request) => {
      seen.push(request.headers.authorization);
      return [401, { error_code: 40101, message: 'User not found' }];
    });
    const attempt = client.versions('a.B');
    await expect(attempt).rejects.toBeInstanceOf(FatalError);
    await expect(attempt).rejects.toThrow(/SCHEMA_REGISTRY_USER/);
    await expect(attempt).rejects.not.toThrow(/s3cret/);
    expect(seen).toEqual([`Basic ${Buffer.from('me:s3cret').toString('base64')}`]);
  });

  it('retries a failing registry, then throws RetryableError', async () => {
    let requests = 0;
    const client = await clientOf(() => {
      requests++;
      return requests < 3 ? [503, 'starting'] : [200, [2, 1]];
    });
    expect(await client.versions('a.B')).toEqual([1, 2]);
    const down = await clientOf(() => [500, { error_code: 50001, message: 'backend store' }]);
    const attempt = down.versions('a.B');
    await expect(attempt).rejects.toBeInstanceOf(RetryableError);
    await expect(attempt).rejects.toThrow(/HTTP 500, backend store/);
  });

  it('distinguishes a missing subject from a URL without a registry', async () => {
    const empty = await clientOf(() => [404, { error_code: 40401, message: 'Subject not found' }]);
    expect(await empty.versions('a.B')).toEqual([]);
    expect(await empty.idOf('a.B', {})).toBeNull();
    expect(await empty.compatibility('a.B')).toBeNull();
    const other = await clientOf(() => [404, 'nothing here']);
    await expect(other.versions('a.B')).rejects.toBeInstanceOf(FatalError);
    const page = await clientOf(() => [200, '<html>']);
    await expect(page.versions('a.B')).rejects.toThrow(/no schema registry/);
    await expect(page.schemaOf(1)).rejects.toBeInstanceOf(FatalError);
  });

  it('treats a 404 without an error code as an outage in schemaOf', async () => {
    const client = await clientOf(() => [404, 'default backend']);
    await expect(client.schemaOf(1)).rejects.toBeInstanceOf(RetryableError);
  });

  it('distinguishes an incompatible from an invalid schema', async () => {
    const incompatible = await clientOf(() => [409, { error_code: 409, message: 'incompatible' }]);
    expect(await incompatible.register('a.B', {})).toBeNull();
    const invalid = await clientOf(() => [422, { error_code: 42201, message: 'Invalid schema' }]);
    await expect(invalid.register('a.B', {})).rejects.toThrow(/422, Invalid schema/);
    await expect(invalid.register('a.B', {})).rejects.toBeInstanceOf(FatalError);
  });
});
