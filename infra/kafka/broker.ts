import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FatalError, RetryableError } from '../errors.js';
import { openConnection } from '../log/kafka/broker-connection.js';
import { runCommand } from '../run-command.js';
import { silentLogger } from '../telemetry/logger.js';

export interface BrokerOptions {
  /** Directory of the broker's properties and data; it remains between starts. */
  readonly dir: string;
  readonly jarsDir: string;
  readonly port: number;
  readonly controllerPort: number;
  readonly heapMb?: number;
  /** For tests: faster start, lower throughput, frequent cleanup. */
  readonly quickStart?: boolean;
  /** Additional broker properties; they override the defaults. */
  readonly properties?: Readonly<Record<string, string | number | boolean>>;
  /** Additional arguments of the tool that sets the storage up. */
  readonly formatArguments?: readonly string[];
  /** Receives each output line of the broker (warnings and errors). */
  readonly onLine?: (line: string) => void;
}

export interface Broker {
  readonly pid: number;
  /** Resolves when the process has ended, with its last output lines. */
  readonly ended: Promise<{ readonly code: number | null; readonly lastLines: readonly string[] }>;
  /** Controlled shutdown; SIGKILL after 20 s. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

const HOST = '127.0.0.1';
const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const LAST_LINES = 20;
const MIN_JAVA_VERSION = 17;

/** Throws FatalError when there is no Java that runs the broker. */
export async function requireJava(): Promise<void> {
  const { code, output } = await runCommand('java', ['-version']);
  const major = Number(/version "(\d+)/.exec(output)?.[1] ?? 0);
  if (code !== 0)
    throw new FatalError(`Java ${MIN_JAVA_VERSION} or later is needed to run Apache Kafka, and none was found`);
  if (major < MIN_JAVA_VERSION)
    throw new FatalError(`Apache Kafka needs Java ${MIN_JAVA_VERSION} or later; this is ${major}`);
}

/** Starts a single-node broker in KRaft mode on the loopback interface. Resolves when it responds to clients. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { dir, port, quickStart = false } = options;
  const properties = join(dir, 'server.properties');
  const data = join(dir, 'data');
  await mkdir(dir, { recursive: true });
  await writeFile(properties, serverProperties(options, data));
  const java = [
    ...['-Xms128m', `-Xmx${options.heapMb ?? 512}m`, '-XX:+UseSerialGC', '-Xshare:auto', '-XX:+ExitOnOutOfMemoryError'],
    ...(quickStart ? ['-XX:TieredStopAtLevel=1'] : []),
    ...['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-Dorg.slf4j.simpleLogger.showDateTime=true'],
    ...['-Djava.awt.headless=true', '-cp', join(options.jarsDir, '*')],
  ];
  if (!existsSync(join(data, 'meta.properties'))) {
    const id = randomBytes(16);
    // The tool reads an id that begins with "-" as an option. Without the top bit, the first base64url letter is one of the first 32, which excludes "-".
    id[0]! &= 0x7f;
    const clusterId = id.toString('base64url');
    const format = [
      ...java,
      'kafka.tools.StorageTool',
      'format',
      '-t',
      clusterId,
      '-c',
      properties,
      ...(options.formatArguments ?? []),
    ];
    const formatted = await runCommand('java', format);
    if (formatted.code !== 0) throw new FatalError(`Kafka's storage could not be set up:\n${formatted.output}`);
  }
  // A separate process group: Ctrl-C in the terminal reaches only this process, which then stops the broker in order.
  const child = spawn('java', [...java, 'kafka.Kafka', properties], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  killOnParentExit(child);
  const lastLines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        lastLines.push(line);
        if (lastLines.length > LAST_LINES) lastLines.shift();
        options.onLine?.(line);
      }
    });
  }
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code));
    child.once('error', () => resolve(null));
  });
  const ended = exited.then((code) => ({ code, lastLines }));
  const broker: Broker = { pid: child.pid ?? -1, ended, stop: () => stop(child), kill: () => kill(child) };
  try {
    await waitUntilReady(port, child, ended);
  } catch (error) {
    await broker.kill();
    throw error;
  }
  return broker;
}

/** Ends the broker when this process ends for any reason: the watcher's standard input then closes. */
function killOnParentExit(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const wait = 'for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; kill -0 "$1" || exit; done';
  const script = `cat >/dev/null; kill -TERM "$1"; ${wait}; kill -KILL "$1"`;
  const watcher = spawn('sh', ['-c', script, 'sh', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  let watching = true;
  const over = () => {
    watching = false;
  };
  watcher.once('exit', over);
  // Without a shell there is no watcher; the broker does not need one.
  watcher.once('error', over);
  child.once('exit', () => {
    if (watching && watcher.pid !== undefined) process.kill(-watcher.pid, 'SIGKILL');
  });
}

async function waitUntilReady(port: number, child: ChildProcess, ended: Broker['ended']): Promise<void> {
  const deadlineMs = Date.now() + READY_TIMEOUT_MS;
  let over = false;
  void ended.then(() => {
    over = true;
  });
  while (!over && Date.now() < deadlineMs) {
    if (await isBrokerReady(port)) return;
    await Promise.race([sleep(100), ended]);
  }
  if (!over) throw new RetryableError(`Kafka did not respond on ${HOST}:${port} within ${READY_TIMEOUT_MS / 1000} s`);
  const { lastLines } = await ended;
  throw new RetryableError(`Kafka ended with ${child.exitCode ?? child.signalCode} at start:\n${lastLines.join('\n')}`);
}

async function isBrokerReady(port: number): Promise<boolean> {
  try {
    const connection = await openConnection(HOST, port, { logger: silentLogger() });
    try {
      return (await connection.metadata('none')).brokers.length > 0;
    } finally {
      connection.close();
    }
  } catch {
    return false;
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(killer);
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function serverProperties(options: BrokerOptions, data: string): string {
  const { port, controllerPort, quickStart = false } = options;
  const properties = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@${HOST}:${controllerPort}`,
    listeners: `PLAINTEXT://${HOST}:${port},CONTROLLER://${HOST}:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://${HOST}:${port}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': data,
    'auto.create.topics.enable': false,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    // Positions of an idle consumer group must not expire: the longest retention that Kafka allows.
    'offsets.retention.minutes': 2_147_483_647,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 4,
    // Transactions of a dead process are aborted soon after their timeout.
    'transaction.abort.timed.out.transaction.cleanup.interval.ms': 1000,
    'num.network.threads': 2,
    'num.io.threads': 4,
    'num.recovery.threads.per.data.dir': 1,
    'log.cleaner.dedupe.buffer.size': 16_777_216,
    'log.cleaner.io.buffer.size': 131_072,
    // A killed broker can register again after its old session has expired; a short timeout suits tests, but not a machine that stalls.
    'broker.session.timeout.ms': quickStart ? 2000 : 9000,
    'broker.heartbeat.interval.ms': quickStart ? 500 : 2000,
    // Retention and compaction within a test's time.
    ...(quickStart
      ? { 'log.initial.task.delay.ms': 500, 'log.retention.check.interval.ms': 500, 'log.cleaner.backoff.ms': 200 }
      : {}),
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    ...options.properties,
  };
  return `${Object.entries(properties)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`;
}
