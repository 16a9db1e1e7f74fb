import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Kafka, logLevel } from 'kafkajs';
import { open } from 'lmdb';
import { openLog } from '../../infra/log/open-log.js';
import type { Log, NewRecord } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { startTestKafka, whyNoKafka } from '../support/kafka.js';
import { median, quantile } from './measure.js';
import { type Figure, PER_MILLION } from './report/figure.js';
import { syncsPerSecond } from './report/probes.js';

const RUNS = 7;
const VALUE = Buffer.alloc(300, 7);

interface TailReport {
  readonly seen: readonly string[];
  readonly cpuMs: number;
  readonly rssMb: number;
}

/** The simplest loop on the same engine. */
interface Baseline {
  readonly name: string;
  append(topic: string, records: readonly NewRecord[]): Promise<void>;
  /** Reads `count` records of the topic; resolves with the duration, ms. null: there is no comparable reader. */
  readonly read: ((topic: string, count: number) => Promise<number>) | null;
  close(): Promise<void>;
}

function bareLmdb(path: string): Baseline {
  const store = open<Buffer, number>({ path, encoding: 'binary', keyEncoding: 'uint32' });
  let nextKey = 0;
  return {
    name: 'bare LMDB puts, flushed',
    async append(_topic, input) {
      for (const _ of input) void store.put(nextKey++, VALUE);
      await store.flushed;
    },
    read: null,
    close: () => store.close(),
  };
}

async function kafkajsLoop(brokers: readonly string[]): Promise<Baseline> {
  const client = new Kafka({ clientId: 'bench', brokers: [...brokers], logLevel: logLevel.ERROR });
  const producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  let groups = 0;
  return {
    name: 'kafkajs',
    async append(topic, input) {
      await producer.send({ topic, acks: -1, messages: input.map(({ key, value }) => ({ key, value })) });
    },
    async read(topic, count) {
      const consumer = client.consumer({ groupId: `bench-${groups++}` });
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      // Joining the group is not measured: from the first batch to the last.
      let startedMs = 0;
      let firstRecords = 0;
      let read = 0;
      const durationMs = await new Promise<number>((resolve, reject) => {
        consumer
          .run({
            async eachBatch({ batch }) {
              if (startedMs === 0) {
                startedMs = performance.now();
                firstRecords = batch.messages.length;
              }
              read += batch.messages.length;
              if (read >= count) resolve((performance.now() - startedMs) * (count / (count - firstRecords)));
            },
          })
          .catch(reject);
      });
      await consumer.disconnect();
      return durationMs;
    },
    close: () => producer.disconnect(),
  };
}

/** Throughput and latency of both log engines, each compared with the simplest loop on it in the same run. Medians of 7 runs after a warm-up. */
export async function run(): Promise<readonly Figure[]> {
  const syncs = syncsPerSecond();
  console.log(`writes of 4 KiB with fdatasync: ${Math.round(syncs).toLocaleString('en')} per second`);
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-bench-log-'));
  const figures: Figure[] = [];
  try {
    console.log('### LMDB');
    figures.push(...(await engine('LMDB', `lmdb:${join(dir, 'log')}`, bareLmdb(join(dir, 'bare')), syncs)));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  const missing = await whyNoKafka();
  if (missing !== null) {
    console.log(`### Kafka: not measured. ${missing}`);
    return figures;
  }
  console.log('### Kafka, one broker on this machine');
  const kafka = await startTestKafka({ quickStart: false });
  try {
    figures.push(...(await engine('Kafka', kafka.url, await kafkajsLoop(kafka.brokers), syncs)));
  } finally {
    await kafka.stop();
  }
  return figures;
}

async function engine(name: string, url: string, baseline: Baseline, syncs: number): Promise<Figure[]> {
  const log = await openLog(url, { logger: silentLogger(), maintenance: false });
  try {
    const figures = [
      ...(await throughput(log, baseline, syncs)),
      ...(await steps(log)),
      await readBack(log, baseline),
      await latency(log, url),
    ];
    return figures.map((figure) => ({ ...figure, name: `${name}: ${figure.name}` }));
  } finally {
    await baseline.close();
    await log.close();
  }
}

function records(count: number): NewRecord[] {
  return Array.from({ length: count }, (_, i) => ({
    key: `key-${i % 97}`,
    value: VALUE,
    timestampMs: 1_700_000_000_000 + i,
  }));
}

const whole = (value: number) => Math.round(value).toLocaleString('en');

interface Rates {
  readonly perSecond: readonly number[];
  /** Processor time of this process, s per million records. */
  readonly cost: readonly number[];
}

async function measured(count: number, work: () => Promise<void>): Promise<Rates> {
  await work();
  const perSecond: number[] = [];
  const cost: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    const cpu = process.cpuUsage();
    const started = performance.now();
    await work();
    perSecond.push(count / ((performance.now() - started) / 1000));
    const { user, system } = process.cpuUsage(cpu);
    cost.push((user + system) / count);
  }
  return { perSecond, cost };
}

const topicOf = (name: string) => ({ name, partitions: 1, retentionMs: null, compacted: false });

async function throughput(log: Log, baseline: Baseline, syncs: number): Promise<Figure[]> {
  const rows: Record<string, string>[] = [];
  const figures: Figure[] = [];
  for (const [batch, batches] of [
    [1, 500],
    [100, 200],
    [1000, 60],
  ] as const) {
    const topic = `append-${batch}`;
    await log.ensureTopics([topicOf(topic), topicOf(`bare-${batch}`)]);
    const input = records(batch);
    const appends = (count: number) =>
      measured(batch * count, async () => {
        for (let i = 0; i < count; i++) await log.append(topic, input);
      });
    const once = await appends(batches);
    const bare = await measured(batch * batches, async () => {
      for (let i = 0; i < batches; i++) await baseline.append(`bare-${batch}`, input);
    });
    const twice = await appends(2 * batches);
    rows.push({
      'records per append': String(batch),
      'log, records/s': whole(median(once.perSecond)),
      [`${baseline.name}, records/s`]: whole(median(bare.perSecond)),
      ratio: (median(once.perSecond) / median(bare.perSecond)).toFixed(2),
    });
    const work = `${whole(2 * batches)} appends`;
    const name = `appends of ${whole(batch)} ${batch === 1 ? 'record' : 'records'} of ${VALUE.length} bytes, durable`;
    figures.push({
      name,
      unit: 'records/s',
      better: 'more',
      values: once.perSecond,
      baseline: { name: baseline.name, values: bare.perSecond },
      ...(batch === 1 ? { limit: { name: 'writes with fdatasync', value: syncs } } : {}),
      twice: { work, values: twice.perSecond },
    });
    if (batch === 1000)
      figures.push({
        name,
        unit: `${PER_MILLION} records, in the writer`,
        better: 'less',
        values: once.cost,
        baseline: { name: baseline.name, values: bare.cost },
        twice: { work, values: twice.cost },
      });
  }
  await log.ensureTopics([topicOf('concurrent')]);
  const one = records(1);
  const concurrent = await measured(20_000, async () => {
    await Promise.all(Array.from({ length: 20_000 }, () => log.append('concurrent', one)));
  });
  rows.push({ 'records per append': '1, 20,000 concurrent', 'log, records/s': whole(median(concurrent.perSecond)) });
  figures.push({
    name: '20,000 concurrent appends of 1 record, durable',
    unit: 'records/s',
    better: 'more',
    values: concurrent.perSecond,
  });
  console.table(rows);
  return figures;
}

/** Consume-transform-produce: each step appends records and commits an offset atomically. */
async function steps(log: Log): Promise<Figure[]> {
  await log.ensureTopics(['steps-in', 'steps-out'].map(topicOf));
  const rows: Record<string, string>[] = [];
  const figures: Figure[] = [];
  for (const [size, count] of [
    [1, 100],
    [1000, 40],
  ] as const) {
    const outputs = [{ topic: 'steps-out', records: records(size) }];
    const { perSecond } = await measured(count, async () => {
      for (let i = 0; i < count; i++) {
        const offsets = [{ topic: 'steps-in', partition: 0, nextOffset: i }];
        await log.appendAndCommit({ outputs, group: 'bench', offsets });
      }
    });
    const rate = median(perSecond);
    rows.push({
      'records per atomic step': String(size),
      'steps/s': rate.toFixed(0),
      'records/s': whole(rate * size),
    });
    figures.push({
      name: `atomic steps of ${whole(size)} ${size === 1 ? 'record' : 'records'}`,
      unit: 'steps/s',
      better: 'more',
      values: perSecond,
    });
  }
  console.table(rows);
  return figures;
}

async function readBack(log: Log, baseline: Baseline): Promise<Figure> {
  let count = 0;
  const all = async () => {
    count = 0;
    for await (const batch of log.read({ topic: 'append-1000', partition: 0, from: 'earliest', follow: false })) {
      count += batch.records.length;
    }
  };
  await all();
  const { perSecond } = await measured(count, all);
  console.log(`read back in batches of 1000: ${whole(median(perSecond))} records/s`);
  const figure = { name: 'reading back', unit: 'records/s', better: 'more', values: perSecond } as const;
  if (baseline.read === null) return figure;
  const values: number[] = [];
  for (let n = 0; n < 5; n++) values.push(count / ((await baseline.read('append-1000', count)) / 1000));
  console.log(`${baseline.name}: ${whole(median(values))} records/s`);
  return { ...figure, baseline: { name: baseline.name, values } };
}

/** Latency from the call of `append`, and from its resolution, to the record read by another process. */
async function latency(log: Log, url: string): Promise<Figure> {
  const PER_RUN = 300;
  const WARM_UP = 50;
  const rows: Record<string, string>[] = [];
  const p50s: number[] = [];
  for (let runNumber = 0; runNumber < RUNS; runNumber++) {
    const topic = `tail-${runNumber}`;
    await log.ensureTopics([{ name: topic, partitions: 1, retentionMs: null, compacted: false }]);
    const child = fork(fileURLToPath(new URL('./log-tail.child.js', import.meta.url)), [url, topic, String(PER_RUN)]);
    await message(child);
    const report = message(child);
    const called: bigint[] = [];
    const acked: bigint[] = [];
    const [record] = records(1);
    for (let i = 0; i < PER_RUN; i++) {
      called.push(process.hrtime.bigint());
      await log.append(topic, [record!]);
      acked.push(process.hrtime.bigint());
      await sleep(5);
    }
    const { seen, cpuMs, rssMb } = (await report) as TailReport;
    if (child.exitCode === null) await once(child, 'exit');
    const ms = (since: bigint[]) => seen.map((at, i) => Number(BigInt(at) - since[i]!) / 1e6).slice(WARM_UP);
    const fromCall = ms(called);
    const fromAck = ms(acked);
    p50s.push(quantile(fromCall, 0.5));
    rows.push({
      run: String(runNumber + 1),
      'append to read p50, ms': quantile(fromCall, 0.5).toFixed(3),
      'p99, ms': quantile(fromCall, 0.99).toFixed(3),
      'acked to read p50, ms': quantile(fromAck, 0.5).toFixed(3),
      'reader CPU, ms in total': cpuMs.toFixed(0),
      'reader RSS, MB': rssMb.toFixed(0),
    });
  }
  console.table(rows);
  console.log(`cross-process tail, append to read: median of p50 ${median(p50s).toFixed(3)} ms`);
  return { name: 'p50 from an append to its reader in another process', unit: 'ms', better: 'less', values: p50s };
}

function message(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The reader ended with code ${code}`)));
  });
}
