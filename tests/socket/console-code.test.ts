import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
// @ts-expect-error: a browser module without types
import { snippets } from '../../pages/console/browser/message.js';
import { pythonWith, whyNoPython } from '../support/python.js';

interface Frame {
  readonly type: string;
  readonly seq?: number;
  readonly data?: object;
}
/** A client under test: the events that it printed, and what it wrote to stderr. */
interface Running {
  readonly seqs: number[];
  errors(): string;
  stop(): void;
}
type Answer = (socket: WebSocket, send: (frame: object) => void) => void;

const trade = (seq: number) => ({ type: 'trade', seq, timestamp: 1, data: { event_type: 'trade' } });
/** What the server does with each connection. Only the last one stays in use; a client that waits on another one gets no further event. */
const answers: readonly ('reject' | Answer)[] = [
  'reject',
  (socket, send) => {
    send({ type: 'subscribed', epoch: 'a' });
    send(trade(7));
    send({ type: 'heartbeat', seq: 9, cursor: 'a:9' });
    socket.close(1012);
  },
  (_socket, send) => send({ type: 'error', code: 'since_seq_unavailable', message: 'gone', earliest_seq: 100 }),
  (socket, send) => {
    send({ type: 'subscribed', epoch: 'b' });
    send({ type: 'snapshot', count: 1, events: [trade(2)] });
    // A dead connection: no heartbeat, and no response to a close frame.
    socket.pause();
  },
  (_socket, send) => send({ type: 'error', code: 'cursor_of_another_log', message: 'another log' }),
  (_socket, send) => {
    send({ type: 'subscribed', epoch: 'c' });
    send(trade(3));
  },
];

async function startServer() {
  const asked: unknown[] = [];
  let connections = 0;
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer();
  server.on('upgrade', (request, stream, head) => {
    const answer = answers[connections++] ?? 'reject';
    if (answer === 'reject') {
      stream.end('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      socket.once('message', (text) => {
        asked.push((JSON.parse(text.toString()) as { filters: unknown }).filters);
        answer(socket, (frame) => socket.send(JSON.stringify(frame)));
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`,
    /** The filters of each subscription. */
    asked,
    close() {
      for (const socket of sockets.clients) socket.terminate();
      server.close();
    },
  };
}

function startJavaScript(code: string): Running {
  const seqs: number[] = [];
  const sockets: WebSocket[] = [];
  let stopped = false;
  let passedMs = 0;
  const Socket = class extends WebSocket {
    constructor(url: string) {
      super(url);
      sockets.push(this);
    }
  };
  const log = (frame: Frame | string) => {
    if (typeof frame !== 'object' || frame.data === undefined) return;
    seqs.push(frame.seq as number);
    // The event after which the connection is dead.
    if (frame.seq === 2) passedMs = 16_000;
  };
  new Function('WebSocket', 'console', 'setTimeout', 'Date', code)(
    Socket,
    { log },
    (work: () => void) => stopped || setTimeout(work, 5),
    { now: () => Date.now() + passedMs },
  );
  return {
    seqs,
    errors: () => '',
    stop() {
      stopped = true;
      for (const socket of sockets) socket.terminate();
    },
  };
}

async function startPython(code: string): Promise<Running> {
  const programs = await pythonWith('websockets', 'tests/socket/requirements.txt');
  const source = code
    .replace('print(event)', 'print(json.dumps(event), flush=True)')
    .replace('0, 1\n', '0, 0.01\n')
    .replace('recv(), 15)', 'recv(), 4)')
    .replace('max_size=None', 'max_size=None, close_timeout=0.1');
  const child = spawn(join(programs, 'python'), ['-c', source], { stdio: ['ignore', 'pipe', 'pipe'] });
  const seqs: number[] = [];
  let errors = '';
  createInterface(child.stdout).on('line', (line) => {
    const frame = line.startsWith('{"') ? (JSON.parse(line) as Frame) : null;
    if (frame?.data !== undefined) seqs.push(frame.seq as number);
  });
  child.stderr.on('data', (text) => {
    errors += text;
  });
  return { seqs, errors: () => errors, stop: () => child.kill('SIGKILL') };
}

describe('code that the console shows', () => {
  it.each([
    ['javascript', startJavaScript],
    ['python', startPython],
  ] as const)(
    'in %s delivers on after a rejection, a lost log, a dead connection and a new log',
    async (language, start) => {
      const missing = language === 'python' ? await whyNoPython('the Python clients') : null;
      if (missing !== null) return expect(missing).toMatch(/Python/);
      const server = await startServer();
      const message = { action: 'subscribe', type: 'trades', filters: { min_size: 5, since_seq: 4 } };
      const client = await start(snippets[language]({ socket: server.url, message }));
      try {
        await expect
          .poll(() => ({ asked: server.asked, seqs: client.seqs, errors: client.errors() }))
          .toEqual({
            asked: [
              { min_size: 5, since_seq: 4 },
              { min_size: 5, since_seq: 'a:9' },
              { min_size: 5 },
              { min_size: 5, since_seq: 'b:2' },
              { min_size: 5 },
            ],
            seqs: [7, 2, 3],
            errors: '',
          });
      } finally {
        client.stop();
        server.close();
      }
    },
  );
});
