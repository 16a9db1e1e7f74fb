import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import WebSocket from 'ws';
import type { ServerCommand, ServerResult } from './gateway-server.child.js';
import type { SubscribersCommand, SubscribersResult } from './gateway-subscribers.child.js';
import { median, quantile } from './measure.js';
import type { Figure } from './report/figure.js';

const ROUNDS = 5;
const SOCKETS = 10;
const SUBSCRIPTIONS = 1_500;
const PING_EVERY_MS = 5;
const ROUND_MS = 6_000;
/** Events in the gateway's memory; the snapshot of each subscription searches all of them. */
const EVENTS = 50_000;
const folder = dirname(fileURLToPath(import.meta.url));

/** Round-trip times of the pings of one client while ten others, and twice as many, send 1,500 subscriptions each. */
export async function run(): Promise<readonly Figure[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-fairness-'));
  const server = fork(join(folder, 'gateway-server.child.js'), ['gateway', dataDir]);
  const subscribers = fork(join(folder, 'gateway-subscribers.child.js'));
  try {
    const [{ port = 0 }] = await Promise.all([nextMessage<ServerResult>(server), nextMessage(subscribers)]);
    await request<ServerResult>(server, { do: 'fill', events: EVENTS, bytes: 500 } satisfies ServerCommand);
    const client = new WebSocket(`ws://127.0.0.1:${port}/ws?key=bench`, { perMessageDeflate: false });
    await once(client, 'open');
    await pings(client, () => sleep(1_000));
    const idle: number[] = [];
    const loaded: number[] = [];
    const twice: number[] = [];
    const acked: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      idle.push(quantile(await pings(client, () => sleep(ROUND_MS)), 0.99));
      const beside = async (sockets: number, acks: number[]) => {
        const load: SubscribersCommand = { port, sockets, subscriptions: SUBSCRIPTIONS, ms: ROUND_MS };
        const times = await pings(client, async () => acks.push(await request<SubscribersResult>(subscribers, load)));
        await sleep(1_000);
        return quantile(times, 0.99);
      };
      loaded.push(await beside(SOCKETS, acked));
      twice.push(await beside(2 * SOCKETS, []));
    }
    console.log(`p99 of a client's pings, median of ${ROUNDS} rounds\n`);
    console.log('| | p99 ms | ratio | goal ms | acked in 6 s |\n|---|---|---|---|---|');
    console.log(`| idle | ${median(idle).toFixed(1)} | 1 | | |`);
    const ratio = median(loaded) / median(idle);
    const name = `${SOCKETS} sockets with ${SUBSCRIPTIONS} subscriptions each`;
    console.log(`| ${name} | ${median(loaded).toFixed(1)} | ${ratio.toFixed(1)} | <= 100 | ${median(acked)} |`);
    client.terminate();
    const baseline = { name: 'without them', values: idle };
    return [
      {
        name: `p99 of pings beside ${name}`,
        unit: 'ms',
        better: 'less',
        values: loaded,
        baseline,
        twice: { work: `${2 * SOCKETS} sockets`, values: twice },
      },
    ];
  } finally {
    for (const child of [subscribers, server]) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Sends a ping every few ms while `work` runs, without waiting for earlier pongs. Returns round-trip times in ms. */
async function pings(client: WebSocket, work: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  const onPong = (data: Buffer) => times.push(performance.now() - Number(data.toString()));
  client.on('pong', onPong);
  const timer = setInterval(() => client.ping(String(performance.now())), PING_EVERY_MS);
  await work();
  clearInterval(timer);
  await sleep(200);
  client.off('pong', onPong);
  return times;
}

async function nextMessage<T>(child: ChildProcess): Promise<T> {
  return ((await once(child, 'message')) as [T])[0];
}
async function request<T>(child: ChildProcess, command: object): Promise<T> {
  const acked = nextMessage<T>(child);
  child.send(command);
  return acked;
}
