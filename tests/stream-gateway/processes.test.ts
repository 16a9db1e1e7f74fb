import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLog } from '../../infra/log/open-log.js';
import type { Log } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { displayedKeyPrefix, hashKey, newRawKey } from '../../schemas/api-keys.js';
import { createCodec } from '../../schemas/codec.js';
import { topics, topicsOnOneMachine } from '../../schemas/topics.js';
import type { AccountState } from '../../schemas/types.gen.js';
import { connectTestClient, type Frame, streamEvent } from '../../stream-gateway/testing.js';
import { freePorts } from '../support/ports.js';
import { eventually } from '../support/product.js';

const script = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist', 'stream-gateway', 'main.js');
const codec = createCodec();
const key = newRawKey();
const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-gateways-'));
const children: ChildProcess[] = [];
let log: Log;
let seq = 0;

async function accountState(entity: string, state: AccountState['state']): Promise<void> {
  const value = codec.encode('account_state', { entity, updated_at_ms: 1, command_id: 'c', state });
  await log.append(topics.accountsState.name, [{ key: entity, value, timestampMs: 1 }]);
}

/** Appends `count` events with consecutive seq. */
async function append(count: number): Promise<void> {
  const records = Array.from({ length: count }, () => {
    const event = streamEvent(++seq, { timestamp_ms: Date.now() });
    return { key: event.id, value: codec.encode('stream_event', event), timestampMs: event.timestamp_ms };
  });
  await log.append(topics.streamEvents.name, records);
}

beforeAll(async () => {
  log = await openLog(`lmdb:${join(dataDir, 'log')}`, { logger: silentLogger() });
  await log.ensureTopics(topicsOnOneMachine);
  const at = { created_at_ms: 1 };
  await accountState('account:a', {
    'oddstream.Account': {
      account_id: 'a',
      plan: 'enterprise',
      label: 'a',
      active_keys: 1,
      custom_limits: null,
      ledger_entries: 0,
      deleted_at_ms: null,
      terms_since_ms: 0,
      ...at,
    },
  });
  const key_hash = hashKey(key);
  await accountState(`key:${key_hash}`, {
    'oddstream.Key': {
      key_hash,
      key_prefix: displayedKeyPrefix(key),
      account_id: 'a',
      name: 'k',
      active: true,
      expires_at_ms: null,
      replaced_by: null,
      first_key_hash: null,
      ...at,
    },
  });
  await append(5);
});
afterAll(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await log.close();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Gateway {
  readonly child: ChildProcess;
  readonly output: () => string;
  ready(): Promise<void>;
  connections(): Promise<number>;
}

function startGateway(port: number, adminPort: number, processes: number): Gateway {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    env: {
      ...process.env,
      ODDSTREAM_DATA: dataDir,
      GATEWAY_PORT: String(port),
      ORDERBOOK_PORT: '0',
      GATEWAY_PROCESSES: String(processes),
      ADMIN_PORT_GATEWAY: String(adminPort),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const get = async (path: string) => fetch(`http://127.0.0.1:${adminPort}${path}`);
  return {
    child,
    output: () => output,
    async ready() {
      await eventually('readiness', async () => {
        if (child.exitCode !== null) throw new Error(output);
        return (await get('/readyz')).status === 200;
      });
    },
    async connections() {
      const text = await (await get('/metrics')).text();
      return Number(/^oddstream_gateway_connections\{.*\} (\d+)$/m.exec(text)?.[1] ?? 0);
    },
  };
}

const seqs = (frames: readonly Frame[]) => frames.flatMap((frame) => (frame.seq === undefined ? [] : [frame.seq]));

describe('gateway processes', () => {
  it('share a port, serve the same events, and a client of a stopped one resumes at another without loss', async () => {
    const [port, firstAdmin, secondAdmin] = (await freePorts(3)) as [number, number, number];
    const gateways = [startGateway(port, firstAdmin, 2), startGateway(port, secondAdmin, 2)] as const;
    await Promise.all(gateways.map((gateway) => gateway.ready()));
    const clients: Awaited<ReturnType<typeof connectTestClient>>[] = [];
    const spread = async () => Promise.all(gateways.map((gateway) => gateway.connections()));
    while ((await spread()).some((count) => count === 0)) {
      expect(clients.length).toBeLessThan(100);
      for (let more = 0; more < 4; more++) clients.push(await connectTestClient({ port }, { key }));
    }
    for (const client of clients) {
      client.send({ action: 'subscribe', type: 'trades', filters: { since_seq: 0 } });
      await client.count(1 + 5);
    }
    await append(20);
    const all = Array.from({ length: 25 }, (_, at) => at + 1);
    for (const client of clients) {
      await client.count(1 + 25);
      expect(seqs(client.frames)).toEqual(all);
    }

    const [stopping, staying] = gateways;
    const before = await staying.connections();
    stopping.child.kill('SIGTERM');
    const [code] = (await once(stopping.child, 'exit')) as [number];
    expect(code).toBe(0);
    const cut = clients.filter(({ socket }) => socket.readyState !== socket.OPEN);
    expect(cut.length).toBe(clients.length - before);
    for (const client of cut) expect(await client.closed).toEqual({ code: 1012, reason: 'server restart' });
    await append(5);
    const reconnected = await connectTestClient({ port }, { key });
    reconnected.send({ action: 'subscribe', type: 'trades', filters: { since_seq: 20 } });
    await reconnected.count(1 + 10);
    expect(seqs(reconnected.frames)).toEqual([21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
    for (const { socket } of [...clients, reconnected]) socket.terminate();
  });

  it('tell load balancers at /healthz of the event socket that events and books have loaded', async () => {
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    await startGateway(port, adminPort, 1).ready();
    const response = await fetch(`http://127.0.0.1:${port}/healthz`);
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
  });

  it('listen exclusively by default: a second process on the port fails to start', async () => {
    const [port, firstAdmin, secondAdmin] = (await freePorts(3)) as [number, number, number];
    const first = startGateway(port, firstAdmin, 1);
    await first.ready();
    for (const processes of [1, 2]) {
      const second = startGateway(port, secondAdmin, processes);
      const [code] = (await once(second.child, 'exit')) as [number];
      expect(code).not.toBe(0);
      expect(second.output()).toContain(`Cannot listen on 127.0.0.1:${port}`);
    }
  });
});
