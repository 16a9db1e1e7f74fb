import { connect, type Socket } from 'node:net';

/** Commands of the benchmark to the process with the subscribers. */
export type ClientCommand =
  | {
      readonly do: 'connect';
      readonly port: number;
      readonly count: number;
      readonly items: number;
      readonly spread: number;
      readonly message: string | null;
      /** API key; a gateway of the benchmark accepts any. */
      readonly key?: string;
    }
  | { readonly do: 'await'; readonly frames: number }
  | { readonly do: 'measure' | 'stall' | 'read' };
export interface ClientResult {
  readonly frames: number;
  /** Latency from the creation of an event to its frame in this process, ms. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Duration of the command, ms. */
  readonly tookMs: number;
}

const handshake = (key: string) =>
  `GET /ws?key=${key} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
const TIME_AT = '{"type":"trade","t":'.length;
const TIME_LENGTH = '1790000000000.000'.length;
const SAMPLE_EVERY = 10;
const nowMs = () => performance.timeOrigin + performance.now();

let frames = 0;
let latencies: number[] = [];
let target: { readonly frames: number; readonly done: () => void } | null = null;

function maskedText(text: string): Buffer {
  const payload = Buffer.from(text);
  const header =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length])
      : payload.length < 65536
        ? Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 255])
        : Buffer.from([0x81, 0xff, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (payload.length >> shift) & 255)]);
  return Buffer.concat([header, Buffer.alloc(4), payload]);
}

/** Parses only frame headers, and the time of every tenth event: more work would measure the client. */
function createReader(onFrame: () => void) {
  let rest: Buffer | null = null;
  return (chunk: Buffer) => {
    const data: Buffer = rest === null ? chunk : Buffer.concat([rest, chunk]);
    rest = null;
    let at = 0;
    while (true) {
      if (data.length - at < 2) break;
      const short = (data[at + 1] as number) & 127;
      const header = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (data.length - at < header) break;
      const length =
        short === 126 ? data.readUInt16BE(at + 2) : short === 127 ? Number(data.readBigUInt64BE(at + 2)) : short;
      if (data.length - at < header + length) break;
      const body = at + header;
      // `{"type":"tr`: only trades are counted, and only those of the benchmark have their time behind it.
      if ((data[at] as number) === 0x81 && data[body + 9] === 0x74 && data[body + 10] === 0x72) {
        onFrame();
        if (frames % SAMPLE_EVERY === 0 && data[body + 16] === 0x22 && data[body + 17] === 0x74) {
          latencies.push(nowMs() - Number(data.toString('latin1', body + TIME_AT, body + TIME_AT + TIME_LENGTH)));
        }
      }
      at = body + length;
    }
    if (at < data.length) rest = Buffer.from(data.subarray(at));
  };
}

const onFrame = () => {
  frames++;
  if (target !== null && frames >= target.frames) target.done();
};

async function open(port: number, message: string | null, key = 'bench'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined);
  socket.write(handshake(key));
  await new Promise<void>((resolve, reject) => {
    let head = '';
    const onHead = (chunk: Buffer) => {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      if (!head.startsWith('HTTP/1.1 101')) return reject(new Error(`upgrade rejected: ${head}`));
      socket.off('data', onHead);
      const read = createReader(onFrame);
      if (message === null) {
        socket.on('data', read);
        resolve();
        return;
      }
      // The acknowledgement is the first frame from the server.
      socket.once('data', (first) => {
        read(first as Buffer);
        socket.on('data', read);
        resolve();
      });
      socket.write(maskedText(message));
    };
    socket.on('data', onHead);
  });
  return socket;
}

const sockets: Socket[] = [];
process.on('message', async (command: ClientCommand) => {
  const started = performance.now();
  if (command.do === 'connect') {
    const items = (at: number) => {
      const one = () => Math.floor(Math.random() * command.spread);
      const wallets = Array.from({ length: command.items }, () => `0x${one().toString(16).padStart(40, '0')}`);
      const tokens = Array.from({ length: command.items }, () => String(one()).padStart(77, '1'));
      const filters = { snapshot_count: 0, ...(at % 2 === 0 ? { wallets } : { tokens }) };
      return JSON.stringify({ action: 'subscribe', type: 'trades', filters });
    };
    for (let done = 0; done < command.count; done += 100) {
      const some = Array.from({ length: Math.min(100, command.count - done) }, (_, at) =>
        open(command.port, command.items > 0 ? items(at) : command.message, command.key),
      );
      sockets.push(...(await Promise.all(some)));
    }
  } else if (command.do === 'await') {
    await new Promise<void>((resolve) => {
      target = { frames: command.frames, done: resolve };
      if (frames >= command.frames) resolve();
    });
    target = null;
  } else if (command.do === 'stall') sockets[0]?.pause();
  else if (command.do === 'read') sockets[0]?.resume();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  process.send?.({ frames, p50: at(0.5), p99: at(0.99), max: at(1), tookMs: performance.now() - started });
  if (command.do === 'measure') {
    frames = 0;
    latencies = [];
  }
});
process.send?.({});
