import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { open } from 'lmdb';
import { openLog } from '../../infra/log/open-log.js';
import type { Log, NewRecord } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { startTestKafka, whyNoKafka } from '../support/kafka.js';
import { median, quantile } from './measure.js';

const RUNS = 7;
const VALUE = Buffer.alloc(300, 7);

interface TailReport {
  readonly seen: readonly string[];
  readonly cpuMs: number;
  readonly rssMb: number;
}

/** Throughput and latency of both log engines, LMDB compared with the bare library in the same run. Medians of 7 runs after a warm-up. */
export async function run(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-bench-log-'));
  try {
    console.log('### LMDB');
    await engine(`lmdb:${join(dir, 'log')}`, join(dir, 'bare'));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  const missing = await whyNoKafka();
  if (missing !== null) {
    console.log(`### Kafka: not measured. ${missing}`);
    return;
  }
  console.log('### Kafka, one broker on this machine');
  const kafka = await startTestKafka({ quickStart: false });
  try {
    await engine(kafka.url, null);
  } finally {
    await kafka.stop();
  }
}

async function engine(url: string, bareDir: string | null): Promise<void> {
  const log = await openLog(url, { logger: silentLogger(), maintenance: false });
  try {
    await throughput(log, bareDir);
    await steps(log);
    await readBack(log);
    await latency(log, url);
  } finally {
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

async function medianRate(count: number, work: () => Promise<void>): Promise<number> {
  await work();
  const rates: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    const started = performance.now();
    await work();
    rates.push(count / ((performance.now() - started) / 1000));
  }
  return median(rates);
}

async function throughput(log: Log, bareDir: string | null): Promise<void> {
  const bare =
    bareDir === null ? null : open<Buffer, number>({ path: bareDir, encoding: 'binary', keyEncoding: 'uint32' });
  let nextKey = 0;
  const rows: Record<string, string>[] = [];
  const add = (label: string, rate: number, baseline: number | null, note = '') =>
    rows.push({
      'records per append': label,
      'log, records/s': Math.round(rate).toLocaleString('en'),
      ...(baseline === null
        ? {}
        : {
            'bare LMDB puts + flushed, records/s': `${Math.round(baseline).toLocaleString('en')}${note}`,
            ratio: (rate / baseline).toFixed(2),
          }),
    });
  for (const [batch, batches] of [
    [1, 500],
    [100, 200],
    [1000, 60],
  ] as const) {
    const topic = `append-${batch}`;
    await log.ensureTopics([{ name: topic, partitions: 1, retentionMs: null, compacted: false }]);
    const input = records(batch);
    const rate = await medianRate(batch * batches, async () => {
      for (let i = 0; i < batches; i++) await log.append(topic, input);
    });
    const baseline =
      bare === null
        ? null
        : await medianRate(batch * batches, async () => {
            for (let i = 0; i < batches; i++) {
              for (let j = 0; j < batch; j++) void bare.put(nextKey++, VALUE);
              await bare.flushed;
            }
          });
    add(String(batch), rate, baseline);
  }
  await log.ensureTopics([{ name: 'concurrent', partitions: 1, retentionMs: null, compacted: false }]);
  const one = records(1);
  const concurrent = await medianRate(20_000, async () => {
    await Promise.all(Array.from({ length: 20_000 }, () => log.append('concurrent', one)));
  });
  const unflushed =
    bare === null
      ? null
      : await medianRate(60_000, async () => {
          for (let j = 0; j < 60_000; j++) void bare.put(nextKey++, VALUE);
          await bare.committed;
        });
  add('1, 20,000 concurrent', concurrent, unflushed, ' (not flushed)');
  console.table(rows);
  await bare?.close();
}

/** Consume-transform-produce: each step appends records and commits an offset atomically. */
async function steps(log: Log): Promise<void> {
  await log.ensureTopics(
    ['steps-in', 'steps-out'].map((name) => ({ name, partitions: 1, retentionMs: null, compacted: false })),
  );
  const rows: Record<string, string>[] = [];
  for (const [size, count] of [
    [1, 100],
    [1000, 40],
  ] as const) {
    const outputs = [{ topic: 'steps-out', records: records(size) }];
    const rate = await medianRate(count, async () => {
      for (let i = 0; i < count; i++) {
        const offsets = [{ topic: 'steps-in', partition: 0, nextOffset: i }];
        await log.appendAndCommit({ outputs, group: 'bench', offsets });
      }
    });
    rows.push({
      'records per atomic step': String(size),
      'steps/s': rate.toFixed(0),
      'records/s': Math.round(rate * size).toLocaleString('en'),
    });
  }
  console.table(rows);
}

async function readBack(log: Log): Promise<void> {
  let count = 0;
  const all = async () => {
    count = 0;
    for await (const batch of log.read({ topic: 'append-1000', partition: 0, from: 'earliest', follow: false })) {
      count += batch.records.length;
    }
  };
  await all();
  const rate = await medianRate(count, all);
  console.log(`read back in batches of 1000: ${Math.round(rate).toLocaleString('en')} records/s`);
}

/** Latency from the call of `append`, and from its resolution, to the record read by another process. */
async function latency(log: Log, url: string): Promise<void> {
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
}

function message(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The reader ended with code ${code}`)));
  });
}
