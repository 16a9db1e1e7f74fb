import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { createAccountCommands } from '../../infra/accounts/commands.js';
import { openLog } from '../../infra/log/open-log.js';
import type { Log } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createAccountsProcessor } from '../../processors/accounts/processor.js';
import { displayedKeyPrefix, hashKey, newRawKey } from '../../schemas/api-keys.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { AccountCommand, Plan } from '../../schemas/types.gen.js';
import { freePorts } from '../support/ports.js';
import { eventually } from '../support/product.js';

const DAY_MS = 86_400_000;
/** Longer than the test of session time takes. */
const BEFORE_MIDNIGHT_MS = 120_000;
const codec = createCodec();
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface RealGateway {
  readonly url: string;
  readonly child: ChildProcess;
  kill(): Promise<void>;
}

/** A fresh log with a running accounts processor, for real gateway processes. */
async function startLog() {
  const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-gateways-'));
  cleanups.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const logger = silentLogger();
  const log: Log = await openLog(`lmdb:${join(dataDir, 'log')}`, { logger });
  await log.ensureTopics(allTopics);
  const stop = new AbortController();
  const metrics = createMetrics({ process: 'test', defaults: false });
  const running = createAccountsProcessor({ log, codec, logger, metrics }).run(stop.signal);
  cleanups.push(async () => {
    stop.abort();
    await running;
    await log.close();
  });
  const commands = createAccountCommands({ log, codec });
  const send = (command: AccountCommand['command']) => commands.send(command);

  return {
    log,
    send,
    async key(accountId: string, plan: Plan): Promise<string> {
      const key = newRawKey();
      const shown = { key_hash: hashKey(key), key_prefix: displayedKeyPrefix(key), name: 'test' };
      await send({ 'oddstream.CreateAccount': { account_id: accountId, plan, label: 'test' } });
      await send({ 'oddstream.CreateKey': { account_id: accountId, ...shown } });
      return key;
    },
    async gateway(ports?: readonly number[]): Promise<RealGateway> {
      const [port, admin] = ports ?? (await freePorts(2));
      const child = spawn(process.execPath, ['dist/stream-gateway/main.js'], {
        env: {
          ...process.env,
          ODDSTREAM_DATA: dataDir,
          LOG_LEVEL: 'error',
          GATEWAY_PORT: String(port),
          ORDERBOOK_PORT: '0',
          ADMIN_PORT_GATEWAY: String(admin),
        },
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = once(child, 'exit');
        child.kill(signal);
        await ended;
      };
      cleanups.push(() => end('SIGTERM'));
      await eventually('the gateway', async () => (await fetch(`http://127.0.0.1:${admin}/readyz`)).ok);
      return { url: `ws://127.0.0.1:${port}/ws`, child, kill: () => end('SIGKILL') };
    },
  };
}

interface ConnectResult {
  readonly status: number;
  readonly body: string;
  readonly socket: WebSocket | null;
}

function connect({ url }: RealGateway, key: string): Promise<ConnectResult> {
  const socket = new WebSocket(`${url}?key=${key}`, { perMessageDeflate: false });
  cleanups.push(() => socket.terminate());
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve({ status: 101, body: '', socket }));
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, socket: null }));
    });
  });
}

describe('gateway processes on one log', () => {
  it('admit exactly the cap under simultaneous connects, and expire the sessions of a killed one, but not at once', async () => {
    const { key: newKey, gateway } = await startLog();
    const key = await newKey('acme', 'starter');
    const gateways = [await gateway(), await gateway()] as const;
    const first = await eventually('the key', async () => {
      const tried = await connect(gateways[0], key);
      return tried.status === 101 ? tried : null;
    });
    first.socket?.close();

    let open: WebSocket[] = [];
    for (let round = 0; round < 3; round++) {
      const tries = await eventually('ten free permits', async () => {
        const all = await Promise.all(
          Array.from({ length: 40 }, (_, n) => connect(gateways[n % 2 === 0 ? 0 : 1], key)),
        );
        expect(new Set(all.map(({ status }) => status))).toEqual(new Set([101, 429]));
        const open = all.filter(({ socket }) => socket !== null);
        expect(open.length).toBeLessThanOrEqual(10);
        if (open.length === 10) return all;
        for (const { socket } of open) socket?.close();
        return null;
      });
      expect(tries.filter(({ status }) => status === 429)).toHaveLength(30);
      open = tries.flatMap(({ socket }) => (socket === null ? [] : [socket]));
      if (round < 2) for (const socket of open) socket.close();
    }

    expect(open.map(({ readyState }) => readyState)).toEqual(Array(10).fill(WebSocket.OPEN));
    const port = (url: string) => new URL(url).port;
    // On a busy machine one of them may have admitted all ten.
    const connectionsOf = ({ url }: RealGateway) => open.filter((socket) => port(socket.url) === port(url)).length;
    const [victim, survivor] = gateways.toSorted((a, b) => connectionsOf(b) - connectionsOf(a)) as [
      RealGateway,
      RealGateway,
    ];
    const killedMs = Date.now();
    await victim.kill();
    const other = await eventually('a free permit', async () => {
      const tried = await connect(survivor, key);
      return tried.status === 101 ? tried : null;
    });
    expect(other.socket === null ? '' : port(other.socket.url)).toBe(port(survivor.url));
    // A process is expired after five missed heartbeats of 2 s.
    expect(Date.now() - killedMs).toBeGreaterThan(6_000);
  });

  it('expire the sessions of a killed predecessor at once when a process with the same ports starts', async () => {
    const { key: newKey, gateway } = await startLog();
    const key = await newKey('solo', 'free');
    const ports = await freePorts(2);
    const before = await gateway(ports);
    await eventually('the key', async () => (await connect(before, key)).status === 101);
    expect((await connect(before, key)).status).toBe(429);
    await before.kill();
    const after = await gateway(ports);
    expect((await connect(after, key)).status).toBe(101);
  });

  it('close a free session when the hour of the day is used up, over processes and restarts', async () => {
    const { key: newKey, gateway, log } = await startLog();
    const key = await newKey('hour', 'free');
    const untilMidnightMs = DAY_MS - (Date.now() % DAY_MS);
    if (untilMidnightMs < BEFORE_MIDNIGHT_MS) await sleep(untilMidnightMs + 1_000);
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    // All but 8 s of the hour, in the half of the UTC day that does not contain now.
    const usedFromMs = Date.now() - today > DAY_MS / 2 ? today : today + DAY_MS - 3_592_000;
    const fact = {
      'oddstream.ConnectionSession': {
        session_id: 'ended/1',
        account_id: 'hour',
        stage: 'ended' as const,
        cap: 1,
        timed: true,
        opened_ms: usedFromMs,
        seen_ms: usedFromMs + 3_592_000,
        timed_from_ms: null,
      },
    };
    const value = codec.encode('gateway_session', { process_id: 'ended', at_ms: Date.now(), fact });
    await log.append(topics.gatewaySessions.name, [{ key: 'session:ended/1', value, timestampMs: Date.now() }]);

    const ports = await freePorts(2);
    const first = await gateway(ports);
    const opened = await eventually('the key', async () => {
      const tried = await connect(first, key);
      return tried.status === 101 ? tried : null;
    });
    const openedMs = Date.now();
    await eventually('some seconds of recorded session time', async () => Date.now() - openedMs > 4_500);
    expect(opened.socket?.readyState).toBe(WebSocket.OPEN);
    await first.kill();
    opened.socket?.terminate();

    const second = await gateway(ports);
    const reconnected = await connect(second, key);
    expect(reconnected.status).toBe(101);
    const frames: string[] = [];
    reconnected.socket?.on('message', (data) => frames.push(data.toString()));
    const [code] = (await once(reconnected.socket as WebSocket, 'close')) as [number];
    expect(code).toBe(4429);
    const resetsAt = new Date(today + DAY_MS).toISOString();
    expect(frames.map((frame) => JSON.parse(frame) as object)).toMatchObject([
      { type: 'error', code: 'free_tier_limit_reached', resets_at: resetsAt },
    ]);
    const rejected = await connect(second, key);
    expect(rejected).toMatchObject({ status: 429 });
    expect(JSON.parse(rejected.body)).toMatchObject({ resets_at: resetsAt });

    await second.kill();
    const third = await gateway(ports);
    expect((await connect(third, key)).status).toBe(429);
    expect((await connect(await gateway(), key)).status).toBe(429);
  }, 300_000);

  it('apply a change of plan to open connections, and close those of a revoked key', async () => {
    const { key: newKey, gateway, send } = await startLog();
    const key = await newKey('change', 'starter');
    const gateways = [await gateway(), await gateway()] as const;
    const open = async (at: 0 | 1) => {
      const { socket } = await eventually('a connection', async () => {
        const tried = await connect(gateways[at], key);
        return tried.status === 101 ? tried : null;
      });
      const frames: Record<string, unknown>[] = [];
      socket?.on('message', (data) => frames.push(JSON.parse(data.toString()) as Record<string, unknown>));
      const closed = once(socket as WebSocket, 'close').then(([code]) => code as number);
      return { socket: socket as WebSocket, frames, closed };
    };
    const connections = [await open(0), await open(1), await open(0), await open(1)];
    const [oldest, ...others] = connections as [(typeof connections)[0], ...typeof connections];
    const subscribe = { action: 'subscribe', type: 'trades', filters: { snapshot_count: 500 } };
    const warnings = async () => {
      const before = oldest.frames.length;
      oldest.socket.send(JSON.stringify(subscribe));
      const answer = await eventually('the acknowledgement', async () =>
        oldest.frames.slice(before).find(({ type }) => type === 'subscribed'),
      );
      return answer.warnings;
    };
    expect(await warnings()).toEqual(['snapshot_count clamped to 100, the cap of your plan']);

    await send({ 'oddstream.SetPlan': { account_id: 'change', plan: 'free' } });
    expect(await Promise.all(others.map(({ closed }) => closed))).toEqual([4409, 4409, 4409]);
    expect(oldest.socket.readyState).toBe(WebSocket.OPEN);
    expect(await warnings()).toEqual(['snapshot_count clamped to 20, the cap of your plan']);
    expect((await connect(gateways[1], key)).status).toBe(429);

    await send({ 'oddstream.RevokeKey': { account_id: 'change', key_hash: hashKey(key) } });
    expect(await oldest.closed).toBe(4403);
    expect((await connect(gateways[0], key)).status).toBe(403);
  });
});
