import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  eventually,
  type ProcessName,
  type Product,
  processNames,
  startProduct,
  untilLoaded,
  untilUp,
} from '../support/product.js';
import { runRebuild } from '../support/run-rebuild.js';
import { parseSoakArguments, type SoakArguments, USAGE } from './arguments.js';
import type { LoadCounts, LoadOptions } from './load.child.js';
import { inRandomRounds } from './random.js';
import { type Kill, problemsOf, reportOf, type SoakResult } from './report.js';
import { type Sample, takeSample } from './samples.js';
import type { SubscribersMessage, SubscribersOptions } from './subscribers.child.js';
import type { UpstreamMessage, UpstreamOptions } from './upstreams.child.js';

/** `npm run soak`: see USAGE. Prints the result as Markdown; exit code 1 if anything was lost, doubled, out of order or different. */
const SUBSCRIBERS = { filtered: 200, slow: 10 } as const;
const CLIENTS = { hostile: 5, analysts: 3 } as const;
const SAMPLE_INTERVAL_MS = 15_000;
const PROGRESS_INTERVAL_MS = 30_000;
/** No kill in the last minute, so that its recovery is part of the result. */
const CALM_END_MS = 60_000;
const TABLES_TIMEOUT_MS = 600_000;

const folder = dirname(fileURLToPath(import.meta.url));
const root = join(folder, '..', '..', '..');

function child<Message>(script: string, options: object) {
  const started: ChildProcess = fork(join(folder, script), [JSON.stringify(options)]);
  started.on('exit', (code) => {
    if (code !== 0 && code !== null) console.error(`${script} ended with ${code}`);
  });
  return {
    /** Sends the message and resolves with the next one that passes `is`. */
    ask: <T extends Message>(message: string | null, is: (answer: Message) => answer is T, timeoutMs = 60_000) =>
      new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${script} did not respond to ${message}`)), timeoutMs);
        const listener = (answer: unknown) => {
          if (!is(answer as Message)) return;
          clearTimeout(timer);
          started.off('message', listener);
          resolve(answer as T);
        };
        started.on('message', listener);
        if (message !== null) started.send(message);
      }),
    send: (message: string) => started.send(message),
    stop: () => started.kill('SIGKILL'),
  };
}

const isReady = (message: UpstreamMessage): message is Extract<UpstreamMessage, { ready: unknown }> =>
  'ready' in message;
const isStopped = (message: UpstreamMessage): message is Extract<UpstreamMessage, { stopped: unknown }> =>
  'stopped' in message;
const isPause = (message: SubscribersMessage): message is Extract<SubscribersMessage, { pauseMs: number }> =>
  'pauseMs' in message;
const isVerified = (message: SubscribersMessage): message is Extract<SubscribersMessage, { verified: unknown }> =>
  'verified' in message;
const isCounts = (message: LoadCounts): message is LoadCounts => 'rest' in message;

async function fillsIn(product: Product): Promise<{ rows: number; distinct: number }> {
  const [row] = await product.sql<{ rows: string; distinct: string }>(
    'SELECT toString(count()) AS rows, toString(uniqExact((block_number, log_index))) AS distinct FROM fills',
  );
  return { rows: Number(row?.rows), distinct: Number(row?.distinct) };
}

async function kill(product: Product, process_: ProcessName): Promise<number | null> {
  const pid = await eventually(`${process_} to run`, async () => product.pid(process_));
  const killedMs = Date.now();
  process.kill(pid, 'SIGKILL');
  const ready = async () => {
    const now = product.pid(process_);
    return now !== null && now !== pid && (await product.readyz(process_)).ready;
  };
  return eventually(`${process_} to be ready`, ready, 180_000).then(
    () => Date.now() - killedMs,
    () => null,
  );
}

async function soak(options: SoakArguments): Promise<SoakResult> {
  const { minutes, rate, seed, killEveryS, wallets } = options;
  const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-soak-'));
  const stops: (() => unknown)[] = [() => rmSync(dataDir, { recursive: true, force: true })];
  try {
    const upstreams = child<UpstreamMessage>('upstreams.child.js', { seed, rate, wallets } satisfies UpstreamOptions);
    stops.push(upstreams.stop);
    const { env } = (await upstreams.ask(null, isReady)).ready;
    const productEnv = { ...env, LOG_LEVEL: 'warn' };
    const product = await startProduct({ env: productEnv, dataDir });
    stops.push(() => product.stop());
    await untilUp(product, 180_000);
    upstreams.send('mine');
    await untilLoaded(product, 300_000);
    const address = `${product.socket}?key=${product.key()}&notices=1&heartbeat_interval=5`;
    const subscribers = child<SubscribersMessage>('subscribers.child.js', {
      ...{ address, seed, wallets, log: `lmdb:${join(dataDir, 'log')}` },
      ...SUBSCRIBERS,
    } satisfies SubscribersOptions);
    stops.push(subscribers.stop);
    const load = child<LoadCounts>('load.child.js', {
      ...{
        api: product.api,
        socket: product.socket,
        clickhouse: product.clickhouse,
        key: product.key(),
        seed,
        wallets,
      },
      ...CLIENTS,
    } satisfies LoadOptions);
    stops.push(load.stop);

    const startMs = Date.now();
    const endMs = startMs + minutes * 60_000;
    const kills: Kill[] = [];
    const samples: Sample[] = [];
    const processes = () => [
      ...processNames.map((name) => [name, product.pid(name)] as const),
      ['supervisor', product.supervisorPid] as const,
    ];
    const pauseMs = async () => (await subscribers.ask('pause', isPause)).pauseMs;
    let recovery: { readonly process: ProcessName; readonly readyMs: Promise<number | null> } | null = null;
    const finishRecovery = async () => {
      if (recovery === null) return;
      const { process, readyMs } = recovery;
      recovery = null;
      kills.push({ process, readyMs: await readyMs, pauseMs: await pauseMs() });
    };
    let nextKillMs = startMs + killEveryS * 1000;
    let nextSampleMs = startMs + SAMPLE_INTERVAL_MS;
    let nextProgressMs = startMs + PROGRESS_INTERVAL_MS;
    for (let n = 0; Date.now() < endMs; await sleep(500)) {
      const now = Date.now();
      if (product.exited() !== null) throw new Error(`the product ended:\n${product.output().slice(-4_000)}`);
      if (killEveryS > 0 && now >= nextKillMs && now < endMs - CALM_END_MS) {
        await finishRecovery();
        await pauseMs();
        // In rounds: memory of the second half does not depend on which processes happen to be young in it.
        const name = inRandomRounds<ProcessName>(processNames, n, seed);
        recovery = { process: name, readyMs: kill(product, name) };
        n += 1;
        nextKillMs += killEveryS * 1000;
      }
      if (now >= nextSampleMs) {
        const sample = await takeSample(processes(), dataDir);
        if (sample !== null) samples.push(sample);
        nextSampleMs += SAMPLE_INTERVAL_MS;
      }
      if (now >= nextProgressMs) {
        const last = samples.at(-1);
        const heaps = Object.entries(last?.byProcess ?? {}).map(([name, mib]) => `${name} ${mib.toFixed(0)}`);
        console.error(
          `${((now - startMs) / 60_000).toFixed(1)} of ${minutes} min: ${kills.length} kills, memory ${last?.pssMiB.toFixed(0)} MiB (heaps: ${heaps.join(', ')}), disk ${last?.diskMiB.toFixed(0)} MiB`,
        );
        nextProgressMs += PROGRESS_INTERVAL_MS;
      }
    }
    await finishRecovery();
    const { fills } = (await upstreams.ask('stop', isStopped)).stopped;
    const counts = await load.ask('counts', isCounts);
    load.stop();
    const stoppedMs = Date.now();
    const complete = await eventually(
      'the last fills in the table',
      async () => (await fillsIn(product)).rows >= fills,
      TABLES_TIMEOUT_MS,
    ).catch(() => false);
    const tablesCompleteS = complete ? (Date.now() - stoppedMs) / 1000 : null;
    const { verified } = await subscribers.ask('verify', isVerified, 600_000);
    const { rows, distinct } = await fillsIn(product);
    const { code: exitCode } = await product.stop();
    const check = await runRebuild({
      ...{ root, dataDir, env: { ...productEnv, LOG_LEVEL: 'info' } },
      args: ['all', '--check'],
    });
    const summary = check.output.match(/"tables":(\d+),"different":\[([^\]]*)\]/);
    return {
      ...{ minutes, rate, wallets, verified, kills, samples, exitCode, tablesCompleteS },
      ...{ fillsIn: fills, fillsInTable: rows, distinctFillsInTable: distinct, load: counts },
      rebuild: {
        code: check.code,
        tables: Number(summary?.[1] ?? 0),
        different: summary?.[2] ?? check.output.slice(-2_000),
      },
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function argumentsOrExit(): SoakArguments {
  if (process.argv.includes('--help')) {
    console.log(USAGE);
    process.exit(0);
  }
  try {
    return parseSoakArguments(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(78);
  }
}

const result = await soak(argumentsOrExit());
console.log(reportOf(result));
const problems = problemsOf(result);
for (const problem of problems) console.log(`\nPROBLEM: ${problem}`);
process.exit(problems.length > 0 ? 1 : 0);
