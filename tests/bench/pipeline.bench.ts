import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ClickHouse, createClickHouse } from '../../infra/clickhouse/client.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { openLog } from '../../infra/log/open-log.js';
import type { Log, LogRecord } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createBlockEncoder } from '../../ingest/chain/block-records.js';
import { blockEvent, decodeBlock, decodePending } from '../../ingest/chain/decode/index.js';
import { fillsSink, fillsTable } from '../../processors/fills/sink.js';
import { migrations } from '../../processors/migrations.js';
import { createSink } from '../../processors/sink/sink.js';
import { createChunkTransform } from '../../processors/sink/transform-chunk.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics } from '../../schemas/topics.js';
import { startTestKafka, whyNoKafka } from '../support/kafka.js';
import { freePorts } from '../support/ports.js';
import { eventually } from '../support/product.js';
import { FILLS_PER_BLOCK, fillBlock } from './fill-blocks.js';

const account = { user: 'bench', password: 'bench' };
const FILLS = Number(process.env.BENCH_FILLS ?? 400_000);
const BLOCKS = Math.ceil(FILLS / FILLS_PER_BLOCK);
const STAGE_BLOCKS = Math.min(BLOCKS, 1_250);
/** Fills per second. */
const TARGETS = { LMDB: 30_000, Kafka: 15_000 } as const;
type Engine = keyof typeof TARGETS;
const logger = silentLogger();
const codec = createCodec();

/**
 * Decode -> log -> fills table (and the tables derived from it), on the LMDB log and on a real Kafka broker where one can run, with ingest and
 * ClickHouse in separate processes: fills per second from the first append to the last row, and each stage alone in the same run, to show the
 * bottleneck.
 */
export async function run(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-bench-pipeline-'));
  const server = await startServer(dir);
  try {
    console.table(await stages(dir, server.url));
    await endToEnd('LMDB', `lmdb:${join(dir, 'log')}`, server);
    const missing = await whyNoKafka();
    if (missing !== null) console.log(`Kafka was not measured: ${missing}`);
    else {
      const kafka = await startTestKafka({ quickStart: false });
      try {
        await endToEnd('Kafka', kafka.url, server);
      } finally {
        await kafka.stop();
      }
    }
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

const perSecond = (count: number, ms: number): string => Math.round(count / (ms / 1000)).toLocaleString('en');

async function connect(url: string, database: string): Promise<ClickHouse> {
  const client = createClickHouse({ url, ...account, database }, { logger });
  await migrate({ client, migrations, logger });
  return client;
}

/** Measures each stage alone, one after the other, with the same fills. */
async function stages(dir: string, url: string): Promise<readonly Record<string, string>[]> {
  const log = await openLog(`lmdb:${join(dir, 'stages')}`, { logger, maintenance: false });
  await log.ensureTopics(allTopics);
  const client = await connect(url, 'stages');
  const blocks = Array.from({ length: STAGE_BLOCKS }, (_, i) => fillBlock(i + 1));
  const fills = STAGE_BLOCKS * FILLS_PER_BLOCK;
  const lines: Record<string, string>[] = [];
  const timed = async <T>(stage: string, work: () => T | Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await work();
    lines.push({ stage, 'fills/s': perSecond(fills, performance.now() - startedAt) });
    return result;
  };
  const encode = createBlockEncoder({ codec, decoder: { decodeBlock, blockEvent, decodePending } });
  for (const block of blocks.slice(0, 200)) encode(block);
  const records = await timed('decode and encode', () =>
    blocks.flatMap((block) => {
      const { eventRecords, block: end } = encode(block);
      return [...eventRecords, end];
    }),
  );
  await timed('append to the log, durable', async () => {
    for (let i = 0; i < records.length; i += 4_096) await log.append('chain.final', records.slice(i, i + 4_096));
  });
  const logRecords = await timed('read from the log', () => readAll(log));
  const transform = createChunkTransform({ definition: fillsSink, codec, partition: 0 });
  await transform(logRecords.slice(0, 10_000));
  const bodies: Buffer[] = [];
  await timed('Avro to TabSeparated', async () => {
    for (let i = 0; i < logRecords.length; i += 20_000) {
      const chunk = await transform(logRecords.slice(i, i + 20_000));
      for (const table of chunk.tables) bodies.push(table.body);
    }
  });
  const insert = (table: string) => async () => {
    for (const [i, body] of bodies.entries())
      await client.insertBytes(table, 'TabSeparated', body, {
        columns: fillsTable.columns,
        dedupToken: `bench-${table}-${i}`,
      });
  };
  await client.command('CREATE TABLE fills_alone AS fills');
  await timed('insert into a table like fills, no views', insert('fills_alone'));
  await timed('insert into fills and its derived tables', insert('fills'));
  await client.close();
  await log.close();
  return lines;
}

async function readAll(log: Log): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  const read = { topic: 'chain.final', partition: 0, from: 'earliest', follow: false, maxRecords: 5_000 } as const;
  for await (const batch of log.read(read)) for (const record of batch.records) all.push(record);
  return all;
}

async function endToEnd(
  engine: Engine,
  logUrl: string,
  server: Awaited<ReturnType<typeof startServer>>,
): Promise<void> {
  const log = await openLog(logUrl, { logger, maintenance: false });
  await log.ensureTopics(allTopics);
  const client = await connect(server.url, `pipeline_${engine}`);
  const child = fork(fileURLToPath(new URL('./pipeline-ingest.child.js', import.meta.url)), [logUrl, String(BLOCKS)]);
  const messageOf = (type: string) =>
    new Promise<Record<string, number>>((resolve, reject) => {
      child.on('message', (message: Record<string, number> & { type: unknown }) => {
        if (message.type === type) resolve(message);
      });
      child.once('exit', (code) => reject(new Error(`ingest exited with code ${code}`)));
    });
  await messageOf('ready');
  const sink = createSink({
    definition: fillsSink,
    partition: 0,
    log,
    store: client,
    codec,
    logger,
    metrics: createMetrics({ process: 'bench', defaults: false }),
  });
  const controller = new AbortController();
  const running = sink.run(controller.signal);
  const done = messageOf('done');
  const cpuBefore = process.cpuUsage();
  const serverBefore = server.cpuSeconds();
  const startedAt = performance.now();
  child.send('go');
  const ingest = await done;
  let lagAtIngestEnd: number | undefined;
  for (;;) {
    const { lag } = await sink.state();
    lagAtIngestEnd ??= lag;
    if (lag === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const ms = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuBefore);
  const serverCpu = server.cpuSeconds() - serverBefore;
  controller.abort();
  await running;
  const [count] = await client.query<{ fills: string; wallets: string }>(
    'SELECT (SELECT count() FROM fills FINAL) AS fills, (SELECT count() FROM fills_by_wallet FINAL) AS wallets',
  );
  const fills = BLOCKS * FILLS_PER_BLOCK;
  if (Number(count?.fills) !== fills) throw new Error(`${count?.fills} of ${fills} fills arrived`);
  const rate = fills / (ms / 1000);
  console.table([
    { process: 'ingest', 'CPU s': ingest.cpuSeconds?.toFixed(1), 'resident MB': ingest.rssMb },
    {
      process: 'processors (fills sink)',
      'CPU s': ((cpu.user + cpu.system) / 1e6).toFixed(1),
      'resident MB': Math.round(process.memoryUsage.rss() / 2 ** 20),
    },
    { process: 'clickhouse', 'CPU s': serverCpu.toFixed(1), 'resident MB': server.residentMb() },
  ]);
  console.log(
    `end to end on ${engine}: ${fills.toLocaleString('en')} fills in ${(ms / 1000).toFixed(1)} s = ${perSecond(fills, ms)} fills/s ` +
      `(target ${TARGETS[engine].toLocaleString('en')}: ${rate >= TARGETS[engine] ? 'met' : 'MISSED'})`,
  );
  const seconds = (value: number | undefined) => `${(value ?? 0).toFixed(1)} s`;
  const finalLag = lagAtIngestEnd ?? 0;
  console.log(
    `ingest: ${seconds(ingest.encodingSeconds)} decoding and encoding, ${seconds(ingest.waitingSeconds)} waiting for durable appends, ` +
      `${seconds(ingest.generatingSeconds)} generating blocks (part of the end-to-end time, not of the product). ` +
      `The sink was ${finalLag.toLocaleString('en')} records behind at the end of ingest: ` +
      (finalLag > 2 * 20_000
        ? 'the insert into ClickHouse is the bottleneck.'
        : 'decoding and encoding in ingest are the bottleneck.'),
  );
  await client.close();
  await log.close();
}

async function startServer(dataDir: string) {
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  const script = fileURLToPath(new URL('../../infra/clickhouse/main.js', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [script], {
    stdio: 'ignore',
    env: {
      ...process.env,
      UV_THREADPOOL_SIZE: '16',
      ODDSTREAM_DATA: dataDir,
      CLICKHOUSE_EMBEDDED_PORT: String(port),
      CLICKHOUSE_USER: account.user,
      CLICKHOUSE_PASSWORD: account.password,
      ADMIN_PORT_CLICKHOUSE: String(adminPort),
    },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await eventually('clickhouse', async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status === 200);
  const proc = (file: string) => readFileSync(`/proc/${child.pid}/${file}`, 'utf8');
  const ticksPerSecond = 100;
  return {
    url: `http://127.0.0.1:${port}`,
    residentMb: () => Math.round(Number(/VmRSS:\s+(\d+)/.exec(proc('status'))?.[1]) / 1024),
    cpuSeconds: () => {
      const fields = proc('stat').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
