import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Broker, requireJava, startBroker } from '../../infra/kafka/broker.js';
import { ensureJars } from '../../infra/kafka/jars.js';
import { runCommand } from '../../infra/run-command.js';
import { freePort } from './ports.js';

export interface TestKafka {
  /** For LOG_URL. */
  readonly url: string;
  readonly brokers: readonly string[];
  /** Controlled stop (or SIGKILL) without deleting the data; `start` starts it again on the same port. */
  halt(how: 'stop' | 'kill'): Promise<void>;
  start(): Promise<void>;
  /** Resolves when the broker has ended, by itself or by `halt`. */
  ended(): Promise<void>;
  stop(): Promise<void>;
}

type Properties = Readonly<Record<string, string | number | boolean>>;

/** A real, empty, single-node broker on a free port. */
export async function startTestKafka({
  quickStart = true,
  dir: given,
  properties,
  formatArguments,
}: {
  quickStart?: boolean;
  /** Data directory; default: a temporary one, which is removed at the end. */
  dir?: string;
  properties?: Properties | ((ports: { port: number; controllerPort: number }) => Properties);
  /** Additional arguments of the tool that sets the storage up. */
  formatArguments?: readonly string[];
} = {}): Promise<TestKafka> {
  const jarsDir = await ensureJars(resolve('data'));
  const dir = given ?? (await mkdtemp(join(tmpdir(), 'oddstream-kafka-')));
  const [port, controllerPort] = [await freePort(), await freePort()];
  let broker: Broker | null = null;
  const start = async () => {
    const ports = { port, controllerPort };
    const all = typeof properties === 'function' ? properties(ports) : properties;
    broker = await startBroker({ dir, jarsDir, ...ports, heapMb: 512, quickStart, properties: all, formatArguments });
  };
  const halt = async (how: 'stop' | 'kill') => {
    await (how === 'stop' ? broker?.stop() : broker?.kill());
    broker = null;
  };
  await start();
  return {
    url: `kafka://127.0.0.1:${port}`,
    brokers: [`127.0.0.1:${port}`],
    halt,
    start,
    async ended() {
      await broker?.ended;
    },
    stop: async () => {
      await halt('kill');
      if (given === undefined) await rm(dir, { recursive: true, force: true });
    },
  };
}

/**
 * Why this machine cannot run the broker; null when it can. In CI always null, so that a missing tool fails the tests.
 */
export async function whyNoKafka(): Promise<string | null> {
  if (process.env.CI !== undefined && process.env.CI !== '' && process.env.CI !== 'false') return null;
  try {
    await requireJava();
  } catch (error) {
    return (error as Error).message;
  }
  const jars = await runCommand('mvn', ['-v']);
  return jars.code === 0 ? null : 'Apache Maven (mvn) is needed to fetch Apache Kafka, and none was found';
}
