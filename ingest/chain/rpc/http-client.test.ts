import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../infra/telemetry/logger.js';
import { createMetrics } from '../../../infra/telemetry/metrics.js';
import { createRpcClient } from './http-client.js';
import { classifyRpcError, RpcError } from './rpc-error.js';

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
});

type Call = { readonly id: number; readonly method: string };

/** Client of a node that responds by `respond`; its URL has a key. */
async function clientOf(respond: (response: ServerResponse, body: Call | Call[], path: string) => void) {
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    respond(response, JSON.parse(Buffer.concat(parts).toString()), request.url ?? '');
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createRpcClient({
    url: `http://${host}/v2/secret-key`,
    metrics: createMetrics({ process: 'test', defaults: false }),
    logger: silentLogger(),
    maxResponseBytes: 1000,
  });
  return { client, host };
}
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => new Error('no failure'),
    (error: Error) => error,
  );
const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

describe('createRpcClient', () => {
  it.each([
    ['429 with an error', 429, '7', 7_000, -32099, 'slow down'],
    ['200 with an error', 200, '7', 7_000, 429, 'too many requests'],
    ['429 with an error and a date, up to a limit,', 429, 'Thu, 01 Jan 2099 00:00:00 GMT', 300_000, -32005, 'rate'],
  ])(
    'honours the Retry-After of %s, of single requests and batches',
    async (_name, status, header, delayMs, code, message) => {
      const { client } = await clientOf((response, body) => {
        const error = { code, message };
        const replies = [body].flat().map(({ id }) => ({ jsonrpc: '2.0', id, error }));
        const isWhole = !Array.isArray(body) || status === 429;
        json(response, status, isWhole ? replies[0] : replies, { 'retry-after': header });
      });
      const single = await failureOf(client.request('eth_chainId', []));
      const call = { method: 'eth_chainId', params: [] };
      const batch = await client.batch([call, call]).catch((error: unknown) => [error]);
      for (const error of [single, ...batch]) {
        expect(classifyRpcError(error)).toEqual({ kind: 'rate_limited', retryAfterMs: delayMs });
      }
    },
  );

  it.each([200, 404, 502])('names a web page with status %i, and not the path of the URL', async (status) => {
    const { client, host } = await clientOf((response, _body, path) =>
      response
        .writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
        .end(`<html>Cannot POST ${path}</html>`),
    );
    const error = await failureOf(client.request('eth_chainId', []));
    expect(error).toBeInstanceOf(RpcError);
    expect(error.message).toContain(`${host} sent a web page instead of JSON`);
    expect(error.message).not.toContain('secret-key');
  });

  it('names text that is not JSON, and leaves the path of the URL out of the texts of a node', async () => {
    const { client, host } = await clientOf((response, body, path) => {
      if (!Array.isArray(body) && body.method === 'text') response.end('soon');
      else json(response, 200, { id: 1, error: { code: -32000, message: `no key in ${path}` } });
    });
    expect((await failureOf(client.request('text', []))).message).toBe(`${host} sent a response that is not JSON`);
    expect((await failureOf(client.request('eth_chainId', []))).message).toBe('no key in /...');
  });

  it('names too large a response, which asks for fewer blocks', async () => {
    const { client, host } = await clientOf((response, body) =>
      json(response, 200, { id: [body].flat()[0]?.id, result: 'x'.repeat(2000) }),
    );
    const error = await failureOf(client.request('eth_getLogs', []));
    expect(error.message).toBe(`${host} sent a response of more than 1000 bytes`);
    expect(classifyRpcError(error).kind).toBe('too_large');
  });

  it('rejects a response to another request', async () => {
    const { client } = await clientOf((response) => json(response, 200, { id: 0, result: '0x1' }));
    expect((await failureOf(client.request('eth_chainId', []))).message).toBe('The response is to another request');
  });

  describe.each(['an error', 'status 400'])('with a node that rejects batches with %s', (rejection) => {
    /** The node has the calls that it has not answered. */
    async function withoutBatches() {
      const waiting: { readonly call: Call; readonly answer: (status: number, reply: object) => void }[] = [];
      const { client } = await clientOf((response, body) => {
        if (Array.isArray(body) && rejection === 'status 400') response.writeHead(400).end('no');
        else if (Array.isArray(body)) json(response, 200, { error: { code: -32600, message: 'no batches' } });
        else waiting.push({ call: body, answer: (code, reply) => json(response, code, { id: body.id, ...reply }) });
      });
      const answerAll = () => {
        for (const { call, answer } of waiting.splice(0)) answer(200, { result: call.method });
      };
      const first = client.batch(callsOf(4));
      const timer = setInterval(answerAll, 1);
      await first.finally(() => clearInterval(timer));
      return { client, waiting, answerAll };
    }
    const untilWaiting = (waiting: readonly unknown[], count: number) =>
      vi.waitFor(() => expect(waiting).toHaveLength(count), 10_000);
    const callsOf = (count: number) => Array.from({ length: count }, (_, n) => ({ method: `call_${n}`, params: [] }));

    it('sends 50 single requests at once', async () => {
      const { client, waiting, answerAll } = await withoutBatches();
      const replies = client.batch(callsOf(120));
      await untilWaiting(waiting, 50);
      const rejected = waiting.shift();
      rejected?.answer(200, { error: { code: -32000, message: 'unknown block' } });
      answerAll();
      await untilWaiting(waiting, 50);
      answerAll();
      await untilWaiting(waiting, 20);
      answerAll();
      expect(await replies).toEqual(
        callsOf(120).map(({ method }) => (method === rejected?.call.method ? expect.any(RpcError) : method)),
      );
    });

    it('sends no further requests when it fails one that may succeed later', async () => {
      const { client, waiting, answerAll } = await withoutBatches();
      const failure = failureOf(client.batch(callsOf(120)));
      await untilWaiting(waiting, 50);
      waiting.shift()?.answer(429, { error: { code: -32005, message: 'too many requests' } });
      answerAll();
      expect(classifyRpcError(await failure).kind).toBe('rate_limited');
      expect(waiting).toHaveLength(0);
    });
  });
});
