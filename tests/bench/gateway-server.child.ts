import uws from 'uWebSockets.js';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createCodec } from '../../schemas/codec.js';
import { plans } from '../../schemas/plans.js';
import { topics, topicsOnOneMachine } from '../../schemas/topics.js';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { createLocalAdmission } from '../../stream-gateway/admission/local-admission.js';
import { decodeLiveEvent } from '../../stream-gateway/hub/live-event.js';
import { tailStream } from '../../stream-gateway/hub/tail-stream.js';
import { createHistory } from '../../stream-gateway/replay/history.js';
import { createRecentEvents } from '../../stream-gateway/replay/recent-events.js';
import { startGatewayServer } from '../../stream-gateway/server.js';
import { streamEvent } from '../../stream-gateway/testing.js';

/** Commands of the benchmark to a server process. */
export type ServerCommand =
  | { readonly do: 'burst'; readonly events: number; readonly bytes: number }
  | {
      readonly do: 'paced';
      readonly perSecond: number;
      readonly seconds: number;
      readonly bytes: number;
      readonly spread: number;
    }
  | { readonly do: 'fill'; readonly events: number; readonly bytes: number }
  | { readonly do: 'total' };
export interface ServerResult {
  readonly port?: number;
  readonly cpuS: number;
  readonly rssMb: number;
}

/** An event encoded in advance; only its time is written when it is published. `frameTimeAt`, `recordTimeAt`: byte positions of the time. */
interface PreparedEvent {
  readonly frame: Buffer;
  readonly record: Buffer;
  readonly frameTimeAt: number;
  readonly recordTimeAt: number;
}
type Publish = (events: readonly PreparedEvent[]) => Promise<void> | void;

const nowMs = () => performance.timeOrigin + performance.now();
let seq = 0;

/** `spread`: number of distinct wallets and tokens; 0: always the same. The creation time is at a fixed position of the frame. */
function createEvent(bytes: number, spread: number): StreamEvent {
  const at = ++seq;
  const random = (range: number) => Math.floor(Math.random() * range);
  const head = `{"type":"trade","t":${nowMs().toFixed(3)},"seq":${at},"pad":"`;
  const frame = `${head}${'x'.repeat(Math.max(0, bytes - head.length - 2))}"}`;
  if (spread === 0) return streamEvent(at, { frame });
  const wallets = [
    `0x${random(spread).toString(16).padStart(40, '0')}`,
    `0x${random(spread).toString(16).padStart(40, '0')}`,
  ];
  return streamEvent(at, { frame, wallets, tokens: [String(random(spread)).padStart(77, '1')] });
}

interface Served {
  readonly port: number;
  readonly publish: Publish;
  /** Appends `count` events to the log and follows it. */
  readonly fill?: (count: number, bytes: number) => Promise<void>;
}

async function bareUws(): Promise<Served> {
  const app = uws.App();
  app.ws('/ws', {
    idleTimeout: 0,
    maxBackpressure: 512 * 1024 * 1024,
    open: (socket) => void socket.subscribe('trade'),
  });
  const token = await new Promise<uws.us_listen_socket>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (listening) => (listening ? resolve(listening) : reject(new Error('cannot listen'))));
  });
  const publish: Publish = (events) => {
    for (const { frame } of events) app.publish('trade', frame);
  };
  return { port: uws.us_socket_local_port(token), publish };
}

async function wsLoop(): Promise<Served> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, path: '/ws', perMessageDeflate: false });
  await new Promise((resolve) => server.once('listening', resolve));
  const clients = new Set<WebSocket>();
  server.on('connection', (socket) => {
    clients.add(socket);
    socket.on('close', () => clients.delete(socket));
  });
  const publish: Publish = (events) => {
    for (const { frame } of events) for (const client of clients) client.send(frame, { binary: false });
  };
  return { port: (server.address() as { port: number }).port, publish };
}

/** The gateway as in its process, with a fresh log; events are decoded from their records like in production. */
async function oddstreamGateway(dataDir: string): Promise<Served> {
  const logger = silentLogger();
  const codec = createCodec();
  const log = await openLog(`lmdb:${join(dataDir, 'log')}`, { logger });
  await log.ensureTopics(topicsOnOneMachine);
  const recent = createRecentEvents({ maxEvents: 50_000, maxBytes: 128 * 1024 * 1024 });
  const onUnreadableEvent = (reason: string) => {
    throw new Error(reason);
  };
  const server = await startGatewayServer({
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    verifyKey: () => ({ status: 'ok', accountId: 'bench', keyHash: 'bench', terms: plans.enterprise }),
    admission: createLocalAdmission(),
    meter: { add: () => undefined },
    ready: () => true,
    lookup: { bySlugs: async () => [], byConditions: async () => [] },
    recent,
    history: createHistory({ log, codec, onUnreadableEvent }),
    metrics: createMetrics({ process: 'bench', defaults: false }),
    logger,
  });
  const publish = async (events: readonly PreparedEvent[]) => {
    const live = events.map(({ record }) =>
      decodeLiveEvent(codec, { key: '', value: record, offset: 0, timestampMs: 0 }, onUnreadableEvent),
    );
    await server.publish(live.filter((event) => event !== null));
  };
  const fill = async (count: number, bytes: number) => {
    for (let done = 0; done < count; done += 1000) {
      const records = Array.from({ length: Math.min(1000, count - done) }, () => {
        const event = createEvent(bytes, 0);
        return { key: event.id, value: codec.encode('stream_event', event), timestampMs: event.timestamp_ms };
      });
      await log.append(topics.streamEvents.name, records);
    }
    let caughtUp: () => void = () => undefined;
    const loaded = new Promise<void>((resolve) => {
      caughtUp = resolve;
    });
    void tailStream({
      log,
      codec,
      lookbackEvents: 50_000,
      signal: new AbortController().signal,
      load: server.load,
      publish: server.publish,
      onCaughtUp: caughtUp,
      onDelivered: () => undefined,
      onUnreadableEvent,
    });
    await loaded;
  };
  return { port: server.port, publish, fill };
}

const [kind, dataDir] = process.argv.slice(2) as [string, string];
const server: Served =
  kind === 'uws' ? await bareUws() : kind === 'ws' ? await wsLoop() : await oddstreamGateway(dataDir);

const respond = (cpu: NodeJS.CpuUsage, extra: Partial<ServerResult> = {}) => {
  const used = process.cpuUsage(cpu);
  process.send?.({ cpuS: (used.user + used.system) / 1e6, rssMb: process.memoryUsage().rss / 1e6, ...extra });
};

const PREPARED = 10_000;
let prepared: readonly PreparedEvent[] = [];
let preparedSpread = -1;
function prepare(bytes: number, spread: number): void {
  if (preparedSpread === spread) return;
  preparedSpread = spread;
  const codec = createCodec();
  prepared = Array.from({ length: PREPARED }, () => {
    const event = createEvent(bytes, spread);
    const frame = Buffer.from(event.frame);
    const record = codec.encode('stream_event', event);
    const frameTimeAt = frame.indexOf('"t":') + 4;
    return { frame, record, frameTimeAt, recordTimeAt: record.indexOf('"t":') + 4 };
  });
}
let position = 0;
function take(count: number): readonly PreparedEvent[] {
  const time = nowMs().toFixed(3);
  return Array.from({ length: count }, () => {
    const event = prepared[position++ % PREPARED] as PreparedEvent;
    event.frame.write(time, event.frameTimeAt, 'latin1');
    event.record.write(time, event.recordTimeAt, 'latin1');
    return event;
  });
}

async function paced(perSecond: number, seconds: number): Promise<void> {
  const started = performance.now();
  const total = perSecond * seconds;
  for (let published = 0; published < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - started) * perSecond) / 1000));
    if (due > published) {
      await server.publish(take(due - published));
      published = due;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function burst(events: number): Promise<void> {
  for (let at = 0; at < events; at += 20) {
    await server.publish(take(20));
    await yieldToEventLoop();
  }
}

process.on('message', async (command: ServerCommand) => {
  if (command.do === 'burst' || command.do === 'paced') {
    prepare(command.bytes, command.do === 'burst' ? 0 : command.spread);
  }
  const cpu = command.do === 'total' ? { user: 0, system: 0 } : process.cpuUsage();
  if (command.do === 'burst') await burst(command.events);
  if (command.do === 'paced') await paced(command.perSecond, command.seconds);
  if (command.do === 'fill') await server.fill?.(command.events, command.bytes);
  respond(cpu);
});
respond(process.cpuUsage(), { port: server.port });
