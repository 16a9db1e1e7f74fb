import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** A faulty HTTP response, independent of its content. */
export type HostileResponse = (response: ServerResponse, url: string) => void;

const json =
  (body: string | Buffer, headers: Record<string, string> = {}): HostileResponse =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
const status =
  (code: number, headers: Record<string, string> = {}, body = 'no'): HostileResponse =>
  (response) =>
    response.writeHead(code, headers).end(body);
/** Writes until the client hangs up. */
const endless =
  (chunk: Buffer, everyMs: number): HostileResponse =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(chunk), everyMs);
    response.on('close', () => clearInterval(timer));
  };
const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024, '['), { level: 1 });

/** Responses of a broken or hostile HTTP service. */
export const hostileResponses: ReadonlyMap<string, HostileResponse> = new Map([
  ['an endless body', endless(Buffer.alloc(4 * 1024 * 1024, ' '), 1)],
  ['an endless list', endless(Buffer.from('[1,'.repeat(300_000)), 1)],
  ['a reset', (response) => response.socket?.resetAndDestroy()],
  [
    'a reset inside the body',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"jsonrpc":"2.0","result":');
      setTimeout(() => response.socket?.resetAndDestroy(), 20);
    },
  ],
  ['an empty body', json('')],
  ['a page', status(200, { 'content-type': 'text/html' }, '<html>login</html>')],
  ['half of a document', json('{"jsonrpc":"2.0","id":1,"result":{"number":"0x')],
  ['a document nested too deeply', json('['.repeat(200_000) + ']'.repeat(200_000))],
  ['an object nested too deeply', json(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)],
  ['status 500', status(500)],
  ['status 502 with a page', status(502, { 'content-type': 'text/html' }, '<html>bad gateway</html>')],
  ['status 429', status(429)],
  ['status 429 with a strange Retry-After', status(429, { 'retry-after': 'soon' })],
  ['status 403', status(403)],
  ['status 204', (response) => response.writeHead(204).end()],
  ['a redirect to itself', (response, url) => response.writeHead(302, { location: url }).end()],
  ['a redirect to a file', status(302, { location: 'file:///etc/passwd' })],
  [
    'a body shorter than its Content-Length',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{}');
      setTimeout(() => response.destroy(), 20);
    },
  ],
  ['a gzip bomb', json(bomb, { 'content-encoding': 'gzip' })],
  ['invalid gzip', json('not packed', { 'content-encoding': 'gzip' })],
  ['null', json('null')],
  ['a number', json('1e999')],
  ['a text', json('"result"')],
  ['a list of nothing', json('[null,null,{}]')],
  ['an empty object', json('{}')],
  ['bytes that are not UTF-8', json(Buffer.from([0xff, 0xfe, 0x22, 0x80]))],
  ['an error without a message', json('{"jsonrpc":"2.0","id":1,"error":{}}')],
  ['a response to another request', json('{"jsonrpc":"2.0","id":987654,"result":"0x1"}')],
  ['keys of the prototype', json('{"__proto__":{"a":1},"constructor":null,"id":1,"result":{"__proto__":1}}')],
  // These wait for a timeout, so they are last.
  ['a byte at a time', endless(Buffer.from('['), 100)],
  ['no response', () => undefined],
]);

export interface HostileProxy {
  readonly url: string;
  /** Replaces every response; null: responses are forwarded. */
  response: HostileResponse | null;
  /** Changes the body of forwarded responses. */
  change: ((body: unknown) => unknown) | null;
  readonly requests: () => number;
  stop(): Promise<void>;
}

/** Proxy of an HTTP service that replaces or changes its responses. */
export async function startHostileProxy(target: string): Promise<HostileProxy> {
  let requests = 0;
  const pass = async (incoming: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const { change } = proxy;
    const url = new URL(incoming.url ?? '/', target);
    const forward = request(
      url,
      { method: incoming.method, headers: { 'content-type': 'application/json' } },
      (honest) => {
        const body: Buffer[] = [];
        honest.on('data', (chunk: Buffer) => body.push(chunk));
        honest.on('end', () => {
          const text = Buffer.concat(body).toString();
          const changed =
            change === null || honest.statusCode !== 200 ? text : JSON.stringify(change(JSON.parse(text)));
          response.writeHead(honest.statusCode ?? 500, { 'content-type': 'application/json' }).end(changed);
        });
      },
    );
    forward.on('error', () => response.destroy());
    forward.end(Buffer.concat(parts));
  };
  const server = createServer((incoming, response) => {
    requests += 1;
    response.on('error', () => undefined);
    if (proxy.response !== null) {
      incoming.resume();
      proxy.response(response, incoming.url ?? '/');
    } else pass(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: HostileProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    response: null,
    change: null,
    requests: () => requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}

type Change = (value: unknown) => unknown;
/** Sets every member `name` of a response to `value`. */
const set = (name: string, value: unknown): Change => {
  const change: Change = (found) => {
    if (Array.isArray(found)) return found.map(change);
    if (typeof found !== 'object' || found === null) return found;
    return Object.fromEntries(
      Object.entries(found).map(([key, member]) => [key, key === name ? value : change(member)]),
    );
  };
  return change;
};
/** Replaces the result of JSON-RPC responses that are a list of logs. */
const logs =
  (make: (list: readonly unknown[]) => unknown): Change =>
  (response) => {
    const one = (found: { result?: unknown }) =>
      Array.isArray(found.result) ? { ...found, result: make(found.result) } : found;
    return Array.isArray(response) ? response.map(one) : one(response as { result?: unknown });
  };

/** Faulty content of a node. */
export const nodeChanges: ReadonlyMap<string, Change> = new Map([
  ['a block of the year 2099', set('timestamp', `0x${(4_102_444_800_000).toString(16)}`)],
  ['a block of 1970', set('timestamp', '0x0')],
  ['a timestamp that is a number', set('timestamp', 1_700_000_000)],
  ['no timestamp', set('timestamp', null)],
  ['a timestamp of 10,000 digits', set('timestamp', `0x${'f'.repeat(10_000)}`)],
  ['a block number far ahead', set('number', '0xffffffffffffff')],
  ['a negative block number', set('number', '-0x1')],
  ['a block number that is no text', set('number', {})],
  ['a short hash', set('hash', '0x12')],
  ['a parent that does not exist', set('parentHash', `0x${'9'.repeat(64)}`)],
  ['a log without an address', set('address', null)],
  ['a log with a short address', set('address', '0x12')],
  ['a log with an address that is an object', set('address', { toLowerCase: 1 })],
  ['a log without topics', set('topics', null)],
  ['a log with topics that are numbers', set('topics', [1, 2])],
  [
    'a log with a hundred topics',
    set(
      'topics',
      Array.from({ length: 100 }, () => `0x${'1'.repeat(64)}`),
    ),
  ],
  ['a log with half a byte of data', set('data', '0x123')],
  ['a log whose data is no text', set('data', 5)],
  [
    'very large log indexes',
    logs((list) => list.map((log, n) => ({ ...(log as object), logIndex: `0x${(0xffffffffff + n).toString(16)}` }))),
  ],
  ['a log of another block', set('blockNumber', '0x1')],
  ['a log of another branch', set('blockHash', `0x${'8'.repeat(64)}`)],
  ['a log without a transaction', set('transactionHash', null)],
  ['logs twice', logs((list) => [...list, ...list])],
  ['logs that are an object', logs(() => ({}))],
  ['logs of nothing', logs(() => [null, 1, 'x', []])],
  ['another id', set('id', 1)],
  ['no result', set('result', undefined)],
]);

/** Sets the cursor of pages of events, the last one too. */
const cursor =
  (value: unknown): Change =>
  (page) =>
    typeof page === 'object' && page !== null && 'events' in page ? { ...page, next_cursor: value } : page;

/** Content of a catalogue that is broken or lies. */
export const catalogueChanges: ReadonlyMap<string, Change> = new Map([
  ['events that are an object', set('events', {})],
  ['events of nothing', set('events', [null, 1, 'x', [], {}])],
  ['the same cursor for ever', cursor('again')],
  ['a cursor that is an object', cursor({})],
  ['ids that are objects', set('id', {})],
  ['slugs of a megabyte', set('slug', 'x'.repeat(1_000_000))],
  ['condition ids that are none', set('conditionId', '0x12')],
  ['token ids that are none', set('clobTokenIds', '["x","-1"]')],
  ['token ids as numbers', set('clobTokenIds', [1e77, 2e77])],
  ['prices that are none', set('outcomePrices', '["NaN","Infinity"]')],
  ['outcomes that are no list', set('outcomes', '{"a":1}')],
  ['volumes beyond every number', set('volume', '1e999')],
  ['volumes beyond all money', set('volume', 1e300)],
  ['prices above 1', set('outcomePrices', '["7","1e3"]')],
  ['dates of the year 9999', set('endDate', '9999-12-31T23:59:59Z')],
  ['dates that are none', set('startDate', '2026-13-45')],
  ['flags that are text', set('closed', 'maybe')],
  ['titles with control characters', set('title', '\u0000\u001b[2J')],
  ['titles that are half a character', set('title', '\ud800')],
  ['markets that are not a list', set('markets', 'x')],
  ['tags that are not a list', set('tags', 5)],
  ['questions that are missing', set('question', null)],
]);

const at = () => Date.now();
/** Frames of a broken or hostile price feed. `topic` and `symbol` are subscribed ones. */
export const priceFrames = (topic: string, symbol: string): ReadonlyMap<string, string | Buffer> => {
  const update = (payload: Record<string, unknown>) =>
    JSON.stringify({ connection_id: 'c', topic, type: 'update', timestamp: at(), payload: { symbol, ...payload } });
  return new Map<string, string | Buffer>([
    ['text that is not JSON', 'not json'],
    ['half a frame', update({ timestamp: at(), value: 1 }).slice(0, 40)],
    ['bytes', Buffer.from([0, 1, 2, 255])],
    ['a frame of 2 MB', `"${'x'.repeat(2_000_000)}"`],
    ['a list nested too deeply', '['.repeat(100_000)],
    ['null', 'null'],
    ['a number', '5'],
    ['no payload', JSON.stringify({ topic, type: 'update' })],
    ['a payload that is a list', JSON.stringify({ topic, type: 'update', payload: [] })],
    ['another topic', JSON.stringify({ topic: 'other', type: 'update', payload: {} })],
    ['another symbol', JSON.stringify({ topic, type: 'update', payload: { symbol: 'nothing/usd' } })],
    ['a price of the year 2099', update({ timestamp: 4_102_444_800_000, value: 1 })],
    ['a price of 1970', update({ timestamp: 0, value: 1 })],
    ['a time in seconds', update({ timestamp: Math.floor(at() / 1000), value: 1 })],
    ['a time that is text', update({ timestamp: 'now', value: 1 })],
    ['a time with a fraction', update({ timestamp: at() + 0.5, value: 1 })],
    ['no price', update({ timestamp: at() })],
    ['a price of 0', update({ timestamp: at(), value: 0 })],
    ['a negative price', update({ timestamp: at(), value: -1 })],
    ['a price beyond every number', update({ timestamp: at(), value: 1 }).replace('"value":1', '"value":1e999')],
    [
      'a price of 10,000 digits',
      update({ timestamp: at(), value: 1 }).replace('"value":1', `"value":${'9'.repeat(10_000)}`),
    ],
    ['a price that is text', update({ timestamp: at(), value: 'Infinity' })],
    ['two prices that disagree', update({ timestamp: at(), value: 1, full_accuracy_value: '99000000000000000000' })],
    ['an exact price that is none', update({ timestamp: at(), value: 1, full_accuracy_value: '1.5' })],
    ['another window', update({ timestamp: at(), value: 1, window_s: 7 })],
    [
      'a dump of 5,000 bad rows',
      JSON.stringify({
        topic,
        type: 'subscribe',
        payload: { symbol, data: Array.from({ length: 5_000 }, () => ({ timestamp: -1 })) },
      }),
    ],
    ['a dump that is not a list', JSON.stringify({ topic, type: 'subscribe', payload: { symbol, data: {} } })],
    ['a rejection nested too deeply', `{"body":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['a status that has no text', '{"statusCode":{"toString":1,"valueOf":1}}'],
    ['a window that has no text', update({ timestamp: at(), value: 1, window_s: { toString: 1, valueOf: 1 } })],
    ['a rejection', JSON.stringify({ statusCode: 500, body: { message: 'internal' } })],
  ]);
};
