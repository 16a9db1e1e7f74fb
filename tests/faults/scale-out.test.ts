import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EXIT_RETRYABLE } from '../../infra/errors.js';
import { openLog } from '../../infra/log/open-log.js';
import type { Log } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { digest, untilTablesComplete } from '../support/digest.js';
import { headFill } from '../support/head-fill.js';
import { startTestKafka, whyNoKafka } from '../support/kafka.js';
import { freePorts } from '../support/ports.js';
import { eventually, outputs, type Product, startProduct } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, referenceTables } from '../support/reference-run.js';
import { shortHistory } from '../support/short-recording.js';

const missing = await whyNoKafka();
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Work of a dead process is taken over within this. */
const TAKEOVER_MS = 90_000;
/** Checks of a process besides its tasks. */
const OTHER_CHECKS = ['members', 'tables', 'log', 'registry', 'clickhouse'];
const isTask = (name: string) => !OTHER_CHECKS.includes(name);
const ENV = shortHistory();

async function startOn(logUrl: string | undefined): Promise<Product> {
  const product = await startProduct({ env: { ...ENV, ...(logUrl === undefined ? {} : { LOG_URL: logUrl }) } });
  cleanups.push(() => product.dispose());
  return product;
}

interface ExtraProcess {
  pid(): number;
  kill(): void;
  tasks(): Promise<string[]>;
  metric(name: string): Promise<number>;
}

/**
 * Starts an additional process and restarts it when it exits with 75, as a supervisor does. On Kafka it shares only the log and ClickHouse, like a process
 * on another host.
 */
async function startExtraProcess(
  product: Product,
  logUrl: string | undefined,
  name: 'processors' | 'ingest' = 'processors',
): Promise<ExtraProcess> {
  const [port] = await freePorts(1);
  let dataDir = product.dataDir;
  if (logUrl !== undefined) {
    dataDir = await mkdtemp(join(tmpdir(), 'oddstream-further-'));
    cleanups.push(() => rm(dataDir, { recursive: true, force: true }));
  }
  let output = '';
  let wanted = true;
  const start = (): ChildProcess => {
    const started = spawn(process.execPath, [resolve('dist', name, 'main.js')], {
      env: {
        ...process.env,
        ...ENV,
        ODDSTREAM_DATA: dataDir,
        CLICKHOUSE_URL: product.clickhouse,
        CLICKHOUSE_USER: 'oddstream',
        CLICKHOUSE_PASSWORD: product.clickhousePassword(),
        [name === 'ingest' ? 'ADMIN_PORT_INGEST' : 'ADMIN_PORT_PROCESSORS']: String(port),
        ...(logUrl === undefined ? {} : { LOG_URL: logUrl }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    started.once('exit', (code) => {
      if (wanted && code === EXIT_RETRYABLE) child = start();
    });
    return started;
  };
  let child = start();
  outputs.set(`${name} on ${port}`, { text: () => output, isStopped: () => !wanted });
  cleanups.push(async () => {
    wanted = false;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  const get = async (path: string) => {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${output.slice(-3000)}`);
    return (await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(30_000) })).text();
  };
  return {
    pid: () => child.pid as number,
    kill: () => child.kill('SIGKILL'),
    async tasks() {
      const { checks } = JSON.parse(await get('/readyz')) as { checks: Record<string, unknown> };
      return Object.keys(checks).filter(isTask);
    },
    async metric(name) {
      const line = (await get('/metrics')).split('\n').find((text) => text.startsWith(`${name}{`));
      return Number(line?.slice(line.lastIndexOf(' ') + 1));
    },
  };
}

const urlOf = (product: Product, logUrl: string | undefined) => logUrl ?? `lmdb:${product.dataDir}/log`;
/** Read-only use: on LMDB an append would wait for a suspended process. */
const readLog = (product: Product, logUrl: string | undefined) =>
  openLog(urlOf(product, logUrl), { logger: silentLogger(), maintenance: false });

/** Whether any process still writes heartbeats. */
async function hasHeartbeats(log: Log): Promise<boolean> {
  const before = (await log.bounds(topics.members.name, 0)).next;
  const more = async () => (await log.bounds(topics.members.name, 0)).next > before;
  return eventually('a heartbeat', more, 6_000).catch(() => false);
}

/**
 * Suspends a process while others continue. On LMDB the process may own the write lock, which blocks every writer of the log and every process that opens
 * it, this one included; then it is resumed and suspended again later.
 */
async function suspend(product: Product, logUrl: string | undefined, pid: number): Promise<void> {
  const log = await readLog(product, logUrl);
  cleanups.push(() => log.close());
  for (let attempt = 1; ; attempt++) {
    process.kill(pid, 'SIGSTOP');
    if (await hasHeartbeats(log)) return;
    process.kill(pid, 'SIGCONT');
    expect(attempt, 'owned the write lock at every attempt').toBeLessThan(8);
    await sleep(100 + 37 * attempt);
  }
}

let truth: Record<string, string>;
beforeAll(async () => {
  truth = await referenceTables('short');
}, REFERENCE_RUN_TIMEOUT_MS);

/** Waits for equal tables; the lag metrics of one process do not include the work of the others. */
async function untilTablesMatch(product: Product): Promise<void> {
  let last: Record<string, string> | undefined;
  const equal = async () => {
    last = await digest(product);
    return JSON.stringify(last) === JSON.stringify(truth);
  };
  await eventually('the tables of the undisturbed run', equal, TAKEOVER_MS).catch(() => undefined);
  expect(last ?? (await digest(product))).toEqual(truth);
}

/** Appends a fill at the head at short intervals from now on, because the history alone produces no stream events. */
function feedHead(product: Product, logUrl: string | undefined): () => Promise<string[]> {
  const feeder = fork(resolve('dist/tests/support/append-head.child.js'), [urlOf(product, logUrl), '201']);
  const exited = once(feeder, 'exit');
  cleanups.push(async () => {
    feeder.kill('SIGKILL');
    await exited;
  });
  return async () => {
    const reply = once(feeder, 'message');
    feeder.send('enough');
    const [count] = (await reply) as [number];
    return Array.from({ length: count }, (_, n) => headFill(n).tx_hash);
  };
}

/** Expects one stream event per fill, in order, and contiguous `seq` numbers. */
async function expectStream(
  product: Product,
  logUrl: string | undefined,
  transactions: readonly string[],
): Promise<void> {
  const codec = createCodec();
  const log = await readLog(product, logUrl);
  const read = async () => {
    const events: StreamEvent[] = [];
    const from = { topic: topics.streamEvents.name, partition: 0, from: 'earliest', follow: false } as const;
    for await (const { records } of log.read(from)) {
      for (const { value } of records) {
        const event = value === null ? undefined : codec.decode(value);
        if (event?.kind === 'stream_event') events.push(event.value);
      }
    }
    return events;
  };
  const fills = (events: readonly StreamEvent[]) =>
    events.filter(({ kind }) => kind === 'trade').map((event) => event.tx_hash);
  await eventually(
    'all fills in the stream',
    async () => fills(await read()).length >= transactions.length,
    TAKEOVER_MS,
  );
  const events = await read();
  await log.close();
  expect(transactions.length).toBeGreaterThan(200);
  expect(fills(events)).toEqual(transactions);
  const first = events[0]?.seq ?? Number.NaN;
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => first + index));
}

/**
 * While the history loads, the product's ingest is suspended and a second one resumes from its position; three processors share the tasks, one is killed and
 * one suspended. Suspended processes are resumed after their tasks were taken over.
 */
async function sideBySide(url: string | undefined): Promise<void> {
  const product = await startOn(url);
  const own = async () => {
    const checks = await Promise.all([product.readyz('processors'), product.readyz('stream')]);
    return checks.flatMap((one) => Object.keys(one.checks)).filter(isTask);
  };
  const ingestWorks = () => product.metric('ingest', 'oddstream_ingest_active');
  await eventually('ingest to start', async () => (await ingestWorks()) === 1);
  // The two processes get their tasks at different times.
  const hasAll = (tasks: readonly string[]) => tasks.length > 20 && tasks.includes('stream');
  const all = (
    await eventually('the first processors to have all tasks', async () => {
      const tasks = await own();
      return hasAll(tasks) && tasks;
    })
  ).toSorted();
  const firstIngest = await eventually('ingest', async () => product.pid('ingest'));
  await suspend(product, url, firstIngest);

  const [standby, second, third] = await Promise.all([
    startExtraProcess(product, url, 'ingest'),
    startExtraProcess(product, url),
    startExtraProcess(product, url),
  ]);
  const shares = async () => [await own(), await second.tasks(), await third.tasks()];
  await eventually(
    'equal shares',
    async () => {
      const now = await shares();
      const sizes = now.map(({ length }) => length);
      return now.flat().toSorted().join() === all.join() && Math.max(...sizes) - Math.min(...sizes) <= 2;
    },
    TAKEOVER_MS,
  );
  const standbyWorks = async () => (await standby.metric('oddstream_ingest_active')) === 1;
  await eventually('the standby to take over', standbyWorks, TAKEOVER_MS);
  process.kill(firstIngest, 'SIGCONT');
  await eventually('the resumed ingest to be on standby', async () => (await ingestWorks()) === 0, TAKEOVER_MS);
  expect(await standbyWorks()).toBe(true);

  const stopFeeding = feedHead(product, url);
  second.kill();
  const twoHaveAll = async () => [...(await own()), ...(await third.tasks())].toSorted().join() === all.join();
  await eventually('the takeover from the killed processor', twoHaveAll, TAKEOVER_MS);
  await suspend(product, url, third.pid());
  const oneHasAll = async () => (await own()).toSorted().join() === all.join();
  await eventually('the takeover from the suspended processor', oneHasAll, TAKEOVER_MS);
  process.kill(third.pid(), 'SIGCONT');
  await eventually('the tasks of the resumed processor', async () => (await third.tasks()).length > 5 && twoHaveAll());

  const fed = await stopFeeding();
  await untilTablesComplete(product);
  await untilTablesMatch(product);
  await expectStream(product, url, fed);
}

describe('several processes per role', () => {
  it('take over tasks and leave the tables of an undisturbed run, on LMDB', () => sideBySide(undefined), 300_000);

  it.skipIf(missing !== null)(
    `the same on Kafka${missing === null ? '' : ` (not run: ${missing})`}`,
    async () => {
      const kafka = await startTestKafka();
      cleanups.push(() => kafka.stop());
      await sideBySide(kafka.url);
    },
    300_000,
  );
});
