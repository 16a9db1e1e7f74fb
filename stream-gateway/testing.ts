import { once } from 'node:events';
import { inflateRawSync } from 'node:zlib';
import WebSocket from 'ws';
import { silentLogger } from '../infra/telemetry/logger.js';
import { createMetrics } from '../infra/telemetry/metrics.js';
import { plans } from '../schemas/plans.js';
import type { StreamEvent } from '../schemas/types.gen.js';
import { createLocalAdmission } from './admission/local-admission.js';
import type { GatewayLimits } from './gateway-limits.js';
import { LiveEvent } from './hub/live-event.js';
import type { History } from './replay/history.js';
import { createRecentEvents } from './replay/recent-events.js';
import { type GatewayServer, startGatewayServer } from './server.js';

/** A stream event for tests: a maker fill by default. */
export function streamEvent(seq: number, over: Partial<StreamEvent> = {}): StreamEvent {
  const base = {
    seq,
    id: `0x${seq.toString(16).padStart(64, '0')}-1`,
    kind: 'trade',
    timestamp_ms: 1_790_000_000_000 + seq,
    block_number: 1000 + seq,
    tx_hash: `0x${seq.toString(16).padStart(64, '0')}`,
    confirmed: true,
    wallets: ['0xaa'],
    tokens: ['1'],
    condition_ids: ['0xc0'],
    slugs: ['some-market'],
    side: 'BUY',
    usd: 5_000_000n,
    feed: null,
    twap_window_s: null,
    combo: null,
    ...over,
  };
  return {
    ...base,
    frame: over.frame ?? JSON.stringify({ type: base.kind, timestamp: base.timestamp_ms, seq, data: {} }),
  };
}

export const liveEvent = (seq: number, over: Partial<StreamEvent> = {}): LiveEvent =>
  new LiveEvent(streamEvent(seq, over));

/** History in memory. The offset is 10 x position, so that offsets and seq differ. `evict` acts as retention. */
function createMemoryHistory() {
  const events: LiveEvent[] = [];
  let evicted = 0;
  const reads = { pages: 0 };
  const from = (offset: number) => Math.max(evicted, Math.ceil(offset / 10));
  const storedEvent = (position: number) => {
    const event = events[position];
    return event === undefined ? null : { event, offset: position * 10 };
  };
  const offsetOf = (fits: (event: LiveEvent) => boolean) => {
    const position = events.findIndex((event, index) => index >= evicted && fits(event));
    return (position === -1 ? events.length : position) * 10;
  };
  const history: History = {
    earliest: async () => storedEvent(evicted),
    newestSeq: async () => events.at(-1)?.seq ?? -1,
    earliestOffset: async () => evicted * 10,
    firstAt: async (offset) => storedEvent(from(offset)),
    offsetAfter: async (seq) => offsetOf((event) => event.seq > seq),
    offsetAfterTime: async (ms) => offsetOf((event) => event.timestamp_ms > ms),
    async *pages(offset) {
      const end = events.length;
      for (let position = from(offset); position < end; position += 20) {
        reads.pages++;
        const upTo = Math.min(position + 20, end);
        yield { events: events.slice(Math.max(position, evicted), upTo), nextOffset: upTo * 10 };
      }
    },
  };
  return {
    history,
    reads,
    append: (event: LiveEvent) => events.push(event),
    evict(count: number) {
      evicted = count;
    },
  };
}

export type Frame = Record<string, unknown> & { type: string };

/** A real server on a free port; `publish` appends events to its history and sends them to its sockets. */
export async function startTestGateway(
  over: Omit<Partial<Parameters<typeof startGatewayServer>[0]>, 'limits'> & {
    limits?: Partial<GatewayLimits>;
    recentEvents?: number;
  } = {},
) {
  const { recentEvents = 1000, ...rest } = over;
  const recent = createRecentEvents({ maxEvents: recentEvents, maxBytes: 64 * 1024 * 1024 });
  const memory = createMemoryHistory();
  const metrics = createMetrics({ process: 'test', defaults: false });
  const server = await startGatewayServer({
    host: '127.0.0.1',
    port: 0,
    allowedHosts: ['gateway.example'],
    verifyKey: (key) => {
      if (key === '') return { status: 'malformed' };
      if (key === 'revoked') return { status: 'inactive' };
      return {
        status: 'ok',
        accountId: key,
        keyHash: key,
        terms: plans[key.startsWith('free') ? 'free' : 'enterprise'],
      };
    },
    ready: () => true,
    admission: createLocalAdmission(),
    meter: { add: () => undefined },
    lookup: { bySlugs: async () => [], byConditions: async () => [] },
    recent,
    history: memory.history,
    metrics,
    logger: silentLogger(),
    ...rest,
  });
  return {
    server,
    metrics,
    memory,
    async publish(...events: readonly StreamEvent[]): Promise<void> {
      const live = events.map((event) => new LiveEvent(event));
      for (const event of live) memory.append(event);
      await server.publish(live);
    },
    load(event: StreamEvent): void {
      const live = new LiveEvent(event);
      memory.append(live);
      server.load(live);
    },
    async metric(name: string): Promise<number> {
      const found = await metrics.registry.getSingleMetric(`oddstream_${name}`)?.get();
      return found?.values.reduce((sum, { value }) => sum + value, 0) ?? 0;
    },
  };
}

/** Long enough on a busy machine; only a failing test waits this long. */
const WAIT_TIMEOUT_MS = 5_000;

/** A client that records the frames it receives; compressed events are inflated. */
export async function connectTestClient(
  server: Pick<GatewayServer, 'port'>,
  options: { key?: string; autoPong?: boolean; compress?: boolean; query?: string } = {},
) {
  const more = `${options.compress === true ? '&compress=zlib' : ''}${options.query ?? ''}`;
  const query = `key=${options.key ?? 'big'}${more}`;
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/ws?${query}`, {
    perMessageDeflate: false,
    autoPong: options.autoPong ?? true,
    maxPayload: 0,
  });
  const frames: Frame[] = [];
  const raw: { readonly bytes: number; readonly isBinary: boolean }[] = [];
  const waiting = new Set<() => void>();
  let read = 0;
  socket.on('message', (data: Buffer, isBinary) => {
    raw.push({ bytes: data.length, isBinary });
    frames.push(JSON.parse((isBinary ? inflateRawSync(data) : data).toString()) as Frame);
    for (const wake of waiting) wake();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  /** Resolves when `expected` frames have arrived; rejects if no frame arrives for `WAIT_TIMEOUT_MS`. */
  const count = async (expected: number): Promise<void> => {
    while (frames.length < expected) {
      await new Promise<void>((resolve, reject) => {
        const done = (settle: () => void) => {
          waiting.delete(wake);
          clearTimeout(timer);
          settle();
        };
        const wake = () => done(resolve);
        const missing = () =>
          new Error(`${frames.length} of ${expected} frames; last ${JSON.stringify(frames.at(-1))}`);
        const timer = setTimeout(() => done(() => reject(missing())), WAIT_TIMEOUT_MS);
        waiting.add(wake);
      });
    }
  };
  return {
    socket,
    frames,
    raw,
    closed,
    count,
    /** The next frame that `next` has not returned yet. */
    async next(): Promise<Frame> {
      await count(read + 1);
      return frames[read++] as Frame;
    },
    send: (message: unknown) =>
      socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message)),
  };
}
