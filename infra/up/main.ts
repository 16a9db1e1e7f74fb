import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Config, loadConfig } from '../config/config.js';
import { EXIT_FATAL, EXIT_RETRYABLE, exitCodeFor, RetryableError } from '../errors.js';
import { makePrivateDirectory, setPrivateUmask } from '../files/private-files.js';
import { acquireProcessLock } from '../process-lock/process-lock.js';
import { openEventLog } from '../registry/open-event-log.js';
import { silentLogger } from '../telemetry/logger.js';
import {
  addressesOf,
  areSourcesDescribed,
  type SourceSummary,
  STARTED_MESSAGE,
  startBanner,
  startingText,
} from './banner.js';
import { watchCode } from './code-watch.js';
import { type Console, createConsole } from './console.js';
import { devKeyFile, ensureDevKey } from './dev-key.js';
import { isLoopback } from './loopback.js';
import { probe, waitFor, whyNotBindable } from './probe.js';
import type { ReadinessSummary } from './readiness-summary.js';
import { reportLoadProgress } from './report-load-progress.js';
import { createSupervisor, findPortsInUse, portProblems, type Supervisor, servicesOf } from './supervisor.js';

const STOP_GRACE_MS = 4500;
/** Failures at the start that are shorter than this are not reported. A first start creates the tables, which takes some 20 s on a busy machine. */
const REPORT_FAILURE_AFTER_MS = 30_000;
/** Threads of V8's garbage collector. With V8's default of four, a collection in one process used both cores of a small machine. */
const GC_THREADS = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)));
const NODE_FLAGS = ['--enable-source-maps', '--disable-warning=ExperimentalWarning', `--v8-pool-size=${GC_THREADS}`];

async function loadDevKey(config: Config): Promise<string | null> {
  const { log, codec } = await openEventLog(config, { logger: silentLogger(), maintenance: false });
  try {
    const { embedded } = config.clickhouse;
    const loopback = isLoopback(config.host) && (embedded === null || isLoopback(embedded.host));
    return await ensureDevKey({ dataDir: config.dataDir, loopback, log, codec, nowMs: Date.now });
  } finally {
    await log.close();
  }
}

interface StatusBody {
  readonly sources?: readonly { source: string; mode: string; detail: string; shift_days: number | null }[];
}

async function sourceSummaries(api: string, key: string | null): Promise<readonly SourceSummary[]> {
  const response = await probe(`${api}/v1/status`, key === null ? {} : { 'x-api-key': key });
  if (response?.status !== 200) return [];
  const body = JSON.parse(response.body) as StatusBody;
  return (body.sources ?? []).map((entry) => ({
    source: entry.source,
    mode: entry.mode,
    detail: entry.detail,
    shiftDays: entry.shift_days,
  }));
}

/** Resolves with the ready key as soon as log and registry are reachable. */
async function waitForDevKey(config: Config, view: Console, signal: AbortSignal): Promise<string | null> {
  for (let delayMs = 1_000; ; delayMs = Math.min(delayMs * 2, 10_000)) {
    try {
      return await loadDevKey(config);
    } catch (error) {
      if (exitCodeFor(error) !== EXIT_RETRYABLE || signal.aborted) throw error;
      view.print(`Cannot open the log yet, retrying: ${error instanceof Error ? error.message : String(error)}`);
      await waitFor(async () => false, { timeoutMs: delayMs, signal });
    }
  }
}

/**
 * Prints that Oddstream is up once every process is ready or loading and the API responds. Until then it prints, after a while, which checks
 * fail, and each process that goes down for good.
 */
async function reportStartup(deps: {
  config: Config;
  key: string | null;
  keyFile: string;
  /** An earlier start has printed the key. */
  isKeyShown: boolean;
  supervisor: Supervisor;
  view: Console;
  signal: AbortSignal;
}): Promise<void> {
  const { config, key, supervisor, view, signal } = deps;
  let { isKeyShown } = deps;
  const addresses = addressesOf(config);
  const startedMs = Date.now();
  let reportedFailure = false;
  const probeApi = async () => {
    if (key === null) return { responds: (await probe(`${addresses.api}/healthz`))?.status === 200, sources: [] };
    const sources = await sourceSummaries(addresses.api, key);
    // The start-up text says by how many days a recording is shifted.
    const responds = config.sources.mode === 'recorded' ? areSourcesDescribed(sources) : sources.length > 0;
    return { responds, sources };
  };
  const banner = (summary: ReadinessSummary, sources: readonly SourceSummary[]) => {
    const { analystDatabase: database, user, password: externalPassword, embedded, analyst } = config.clickhouse;
    // The embedded engine accepts local analysts without a password.
    const externalUser = externalPassword === '' ? null : user;
    const login = embedded === null ? externalUser : analyst.password === undefined ? null : 'analyst';
    const password = embedded === null ? undefined : '$ANALYST_PASSWORD';
    const keyFile = isKeyShown ? deps.keyFile : null;
    view.print(startBanner({ addresses, key, keyFile, database, sources, login, password, ...summary }));
    isKeyShown = true;
  };
  let reportedDown = 0;
  const checkOnce = async (): Promise<boolean> => {
    const [summary, api] = [await supervisor.readReadiness(), await probeApi()];
    if (signal.aborted) return true;
    const { failing, down } = summary;
    if (failing.length === 0 && (api.responds || down.length > 0)) {
      if (down.length > reportedDown || (down.length === 0 && !reportedFailure)) banner(summary, api.sources);
      else if (down.length === 0) view.print(STARTED_MESSAGE);
      return true;
    }
    if ((!reportedFailure && Date.now() - startedMs > REPORT_FAILURE_AFTER_MS) || down.length > reportedDown) {
      reportedFailure = true;
      reportedDown = down.length;
      const noReason = failing.length + down.length === 0;
      banner(noReason ? { ...summary, failing: ['api: does not respond as expected yet'] } : summary, api.sources);
    }
    return false;
  };
  let reportedError = false;
  const checkSafely = () =>
    checkOnce().catch((error: unknown) => {
      // A failed check must not end the product: the queried process may be restarting.
      if (!reportedError)
        view.print(
          `Cannot read the state of the processes yet, retrying: ${error instanceof Error ? error.message : String(error)}`,
        );
      reportedError = true;
      return false;
    });
  await waitFor(checkSafely, { timeoutMs: Number.POSITIVE_INFINITY, everyMs: 200, signal });
}

/** Throws RetryableError that names the process which runs on the data directory, and its pages if they are where this start would serve them. */
async function lockDataDirectory(config: Config): Promise<void> {
  try {
    await acquireProcessLock(join(config.dataDir, 'supervisor.lock'), 'Oddstream on this data directory');
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error;
    const { api } = addressesOf(config);
    const served = (await probe(`${api}/healthz`))?.status === 200 ? ` It serves ${api}/app.` : '';
    throw new RetryableError(`${error.message}.${served} A second one needs its own ODDSTREAM_DATA and ports.`);
  }
}

async function hostProblems(config: Config): Promise<string[]> {
  const hosts: [string, string | undefined][] = [
    ['ODDSTREAM_HOST', config.host],
    ['CLICKHOUSE_EMBEDDED_HOST', config.clickhouse.embedded?.host],
  ];
  const found = await Promise.all(
    hosts.map(async ([variable, host]) => {
      const reason = host === undefined ? null : await whyNotBindable(host);
      return reason === null ? [] : [`${variable}: ${reason}`];
    }),
  );
  return found.flat();
}

function recordedProblems({ mode, recordedDir }: Config['sources']): string[] {
  if (mode === 'live' || ['.', 'set'].some((folder) => existsSync(join(recordedDir, folder, 'manifest.json'))))
    return [];
  return [
    `RECORDED_DIR: ${recordedDir} has no recorded input (manifest.json); the project's own is in tests/recorded/set`,
  ];
}

async function main(): Promise<void> {
  const config = loadConfig();
  setPrivateUmask();
  makePrivateDirectory(config.dataDir);
  const dist = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
  const services = servicesOf(config, dist);
  const view = createConsole(
    process.stdout,
    services.map((service) => service.name),
  );
  // Released when the process ends. A second supervisor on other ports would start a second writer of all data.
  await lockDataDirectory(config);
  const problems = [
    ...portProblems(config, services),
    ...(await hostProblems(config)),
    ...recordedProblems(config.sources),
  ];
  if (problems.length === 0) problems.push(...(await findPortsInUse(config, services)));
  if (problems.length > 0) {
    for (const line of problems) view.print(line);
    process.exit(EXIT_FATAL);
  }
  view.print(startingText(config));
  const supervisor = createSupervisor({ config, services, nodeFlags: NODE_FLAGS, env: process.env, view });
  const stop = new AbortController();
  let stopping: Promise<void> | undefined;
  const onSignal = () => {
    if (stopping !== undefined) process.exit(1);
    stop.abort();
    view.print('Stopping ...');
    stopping = supervisor.stopAll(STOP_GRACE_MS).then(() => {
      view.print('Stopped.');
      process.exit(0);
    });
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);

  if (process.argv.includes('--restart-changed')) {
    watchCode({
      dist,
      services,
      assets: { api: join(dist, '..', 'pages') },
      onChanged: (names) => {
        view.print(`Restarting ${names.join(', ')}: their code changed`);
        void supervisor.restart(names, STOP_GRACE_MS);
      },
    });
  }

  try {
    const keyFile = devKeyFile(config.dataDir);
    const isKeyShown = existsSync(keyFile);
    const readyOrNot = waitForDevKey(config, view, stop.signal);
    // Looked at below; a start that fails first must not leave it unheard.
    readyOrNot.catch(() => undefined);
    await supervisor.startAll(stop.signal);
    const key = await readyOrNot;
    await reportStartup({ config, key, keyFile, isKeyShown, supervisor, view, signal: stop.signal });
    await reportLoadProgress({ readReadiness: supervisor.readReadiness, print: view.print, signal: stop.signal });
  } catch (error) {
    if (stop.signal.aborted) return;
    view.print(error instanceof Error ? error.message : String(error));
    await supervisor.stopAll(STOP_GRACE_MS);
    process.exit(exitCodeFor(error));
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(exitCodeFor(error));
});
