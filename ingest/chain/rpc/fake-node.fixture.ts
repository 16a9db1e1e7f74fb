import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Hex } from '../source.js';

export interface FakeBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly logs: number;
}

type Reply =
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown } }
  | { status: number; headers?: Record<string, string> };

export interface Request {
  readonly method: string;
  readonly params: readonly never[];
}

const hex = (value: number): Hex => `0x${value.toString(16)}`;
export const hash = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`;

/** A JSON-RPC node over HTTP and WebSocket with the parts that the readers use; `override` replaces single responses. */
export async function startFakeNode(options: {
  logsAt?: (number: number) => number;
  length?: number;
  override?: (request: Request) => Reply | undefined;
  noBatches?: boolean;
  /** Largest batch; larger ones are rejected with this status. */
  batchLimit?: { readonly calls: number; readonly status: number };
  /** Bloom filter of the header of a block; headers have none by default. */
  bloomAt?: (number: number) => Hex;
  /** Unix seconds of block 0, and between two blocks. */
  startS?: number;
  blockS?: number;
  /** Logs of a block; replaces the number of logs from `logsAt`. */
  written?: (
    number: number,
  ) => readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
}) {
  const blocks: FakeBlock[] = [];
  const seen: Request[] = [];
  const batches: number[] = [];
  const sockets = new Set<WebSocket>();
  const subscriptions: { socket: WebSocket; id: Hex; params: readonly unknown[] }[] = [];
  let finalized: number | null = null;
  let salt = 1;
  const mine = (logs = options.written?.(blocks.length).length ?? options.logsAt?.(blocks.length) ?? 0) => {
    const block = { number: blocks.length, hash: hash(salt), parentHash: blocks.at(-1)?.hash ?? hash(0), logs };
    salt += 1;
    blocks.push(block);
    return block;
  };
  for (let i = 0; i < (options.length ?? 1); i += 1) mine();

  const header = (block: FakeBlock) => ({
    number: hex(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    ...(options.bloomAt && { logsBloom: options.bloomAt(block.number) }),
    timestamp: hex((options.startS ?? 1_700_000_000) + block.number * (options.blockS ?? 1)),
    transactions: Array.from({ length: 3 }, (_, index) => hash(index)),
  });
  const logsOf = (block: FakeBlock) =>
    Array.from({ length: block.logs }, (_, index) => ({
      address: '0xE111180000d2663C0091e4f400237545B87B996B',
      topics: [hash(1)],
      data: '0x',
      ...options.written?.(block.number)[index],
      blockNumber: hex(block.number),
      blockHash: block.hash,
      transactionHash: hash(block.number * 1000 + index),
      transactionIndex: hex(index),
      logIndex: hex(index),
    }));
  const respond = ({ method, params }: Request): Reply => {
    const [first] = params as readonly unknown[];
    switch (method) {
      case 'eth_chainId':
        return { result: '0x89' };
      case 'eth_getBlockByNumber': {
        const number = first === 'latest' ? blocks.length - 1 : first === 'finalized' ? finalized : Number(first);
        const block = number === null ? undefined : blocks[number];
        return { result: block === undefined ? null : header(block) };
      }
      case 'eth_getBlockByHash': {
        const block = blocks.find((candidate) => candidate.hash === first);
        return { result: block === undefined ? null : header(block) };
      }
      case 'eth_getLogs': {
        const filter = first as { blockHash?: Hex; fromBlock?: Hex; toBlock?: Hex };
        if (filter.blockHash !== undefined) {
          const block = blocks.find((candidate) => candidate.hash === filter.blockHash);
          return block === undefined
            ? { error: { code: -32000, message: 'unknown block' } }
            : { result: logsOf(block) };
        }
        return { result: blocks.slice(Number(filter.fromBlock), Number(filter.toBlock) + 1).flatMap(logsOf) };
      }
      default:
        return { error: { code: -32601, message: `the method ${method} does not exist` } };
    }
  };
  const reply = (request: Request): Reply => {
    seen.push(request);
    return options.override?.(request) ?? respond(request);
  };
  const bodyOf = async (request: IncomingMessage) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    return JSON.parse(Buffer.concat(parts).toString()) as (Request & { id: number }) | (Request & { id: number })[];
  };
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    if (Array.isArray(body) && options.noBatches === true) {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch is not supported' } }),
      );
      return;
    }
    const { calls = Number.POSITIVE_INFINITY, status = 0 } = options.batchLimit ?? {};
    if (Array.isArray(body)) batches.push(body.length);
    if (Array.isArray(body) && body.length > calls) {
      response.writeHead(status).end('no');
      return;
    }
    const replies = (Array.isArray(body) ? body : [body]).map((one) => ({ id: one.id, reply: reply(one) }));
    const rejected = replies.find(({ reply: one }) => 'status' in one)?.reply;
    if (rejected !== undefined && 'status' in rejected) {
      response.writeHead(rejected.status, rejected.headers);
      response.end('no');
      return;
    }
    const out = replies.map(({ id, reply: one }) => ({ jsonrpc: '2.0', id, ...one }));
    response.setHeader('content-type', 'application/json');
    // The responses of a batch may be in any order.
    response.end(JSON.stringify(Array.isArray(body) ? out.reverse() : out[0]));
  });
  const wss = new WebSocketServer({ server });
  wss.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('message', (data) => {
      const request = JSON.parse(data.toString()) as Request & { id: number };
      seen.push(request);
      const bent = options.override?.(request);
      if (bent !== undefined && !('status' in bent)) {
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...bent }));
        return;
      }
      const id = hex(subscriptions.length + 1);
      subscriptions.push({ socket, id, params: request.params });
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: request.id, result: id }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    rpcUrl: `http://127.0.0.1:${port}/v2/secret-key`,
    wsUrl: `ws://127.0.0.1:${port}`,
    blocks,
    logsOf,
    seen,
    /** Number of calls of each batch, rejected ones too. */
    batches,
    mine,
    fork: (depth: number) => {
      blocks.length -= depth;
    },
    finalize(number: number | null) {
      finalized = number;
    },
    /** Sends to every open subscription of that kind. */
    notify(kind: string, result: unknown) {
      for (const { socket, id, params } of subscriptions) {
        if (params[0] !== kind || socket.readyState !== socket.OPEN) continue;
        socket.send(
          JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: id, result } }),
        );
      }
    },
    announce(block: FakeBlock) {
      this.notify('newHeads', header(block));
    },
    raw(text: string) {
      for (const socket of sockets) socket.send(text);
    },
    subscribed: (kind: string) =>
      subscriptions.some(({ socket, params }) => params[0] === kind && socket.readyState === socket.OPEN),
    cut() {
      for (const socket of sockets) socket.terminate();
    },
    async close() {
      for (const socket of sockets) socket.terminate();
      wss.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type FakeNode = Awaited<ReturnType<typeof startFakeNode>>;
