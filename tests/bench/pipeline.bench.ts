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
import { SINK_FORMAT } from '../../processors/sink/table-store.js';
import { createChunkTransform } from '../../processors/sink/transform-chunk.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics } from '../../schemas/topics.js';
import { startTestKafka, whyNoKafka } from '../support/kafka.js';
import { freePorts } from '../support/ports.js';
import { eventually } from '../support/product.js';
import { FILLS_PER_BLOCK, fillBlock } from './fill-blocks.js';
import { median } from './measure.js';
import { type Figure, PER_MILLION } from './report/figure.js';

const account = { user: 'bench', password: 'bench' };
/** Fills of a round from end to end. */
const FILLS = Number(process.env.BENCH_FILLS ?? 150_000);
const STAGE_FILLS = Math.min(FILLS, 50_000);
const ROUNDS = 5;
const blocksOf = (fills: number) => Math.ceil(fills / FILLS_PER_BLOCK);
/** Fills per second. */
const TARGETS = { LMDB: 30_000, Kafka: 15_000 } as const;
type Engine = keyof typeof TARGETS;
const logger = silentLogger();
const codec = createCodec();

/**
 * Decode -> log -> fills table (and the tables derived from it), on the LMDB log and on a real Kafka broker where one can run, with ingest and
 * ClickHouse in separate processes: fills per second from the first block, made beforehand, to the last row, and each stage alone in the same run, to show the
 * bottleneck.
 */
export async function run(): Promise<readonly Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-bench-pipeline-'));
  const server = await startServer(dir);
  try {
    const figures = await allStages(dir, server);
    const lmdb = (round: string) => `lmdb:${join(dir, `log-${round}`)}`;
    figures.push(...(await rounds('LMDB', lmdb, server)));
    const missing = await whyNoKafka();
    if (missing !== null) console.log(`Kafka was not measured: ${missing}`);
    else figures.push(...(await rounds('Kafka', null, server)));
    return figures;
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

const whole = (value: number): string => Math.round(value).toLocaleString('en');

type Server = Awaited<ReturnType<typeof startServer>>;

/** Each stage alone, once and with twice the fills. */
async function allStages(dir: string, server: Server): Promise<Figure[]> {
  const once = new Map<string, Stage[]>();
  const twice = new Map<string, Stage[]>();
  const add = (to: Map<string, Stage[]>, stages: ReadonlyMap<string, Stage>) => {
    for (const [name, stage] of stages) to.set(name, [...(to.get(name) ?? []), stage]);
  };
  for (let round = 0; round < ROUNDS; round++) {
    add(once, await stages(dir, server, STAGE_FILLS, `stages_${round}`));
    add(twice, await stages(dir, server, 2 * STAGE_FILLS, `twice_${round}`));
  }
  const rates = (stages: readonly Stage[] = []) => stages.map(({ perSecond }) => perSecond);
  const costs = (stages: readonly Stage[] = []) => stages.map(({ cpuSPerMillion }) => cpuSPerMillion);
  console.table([...once].map(([stage, measured]) => ({ stage, 'fills/s': whole(median(rates(measured))) })));
  const work = `${whole(2 * STAGE_FILLS)} fills`;
  return [...once].flatMap(([name, measured]): Figure[] => {
    const plain = name === DERIVED ? once.get(PLAIN) : undefined;
    return [
      {
        name,
        unit: 'fills/s',
        better: 'more',
        values: rates(measured),
        ...(plain === undefined ? {} : { baseline: { name: PLAIN, values: rates(plain) } }),
        twice: { work, values: rates(twice.get(name)) },
      },
      {
        name,
        unit: `${PER_MILLION} fills, this process and ClickHouse`,
        better: 'less',
        values: costs(measured),
        ...(plain === undefined ? {} : { baseline: { name: PLAIN, values: costs(plain) } }),
        twice: { work, values: costs(twice.get(name)) },
      },
    ];
  });
}

/** The whole pipeline, in alternation with twice the fills. `urlOf` null: a new broker for each round. */
async function rounds(engine: Engine, urlOf: ((round: string) => string) | null, server: Server): Promise<Figure[]> {
  const once: EndToEnd[] = [];
  const twice: EndToEnd[] = [];
  for (let round = 0; round < ROUNDS; round++)
    for (const [to, fills, name] of [
      [once, FILLS, `once_${round}`],
      [twice, 2 * FILLS, `twice_${round}`],
    ] as const) {
      const kafka = urlOf === null ? await startTestKafka({ quickStart: false }) : null;
      try {
        to.push(await endToEnd(engine, kafka?.url ?? urlOf?.(name) ?? '', server, fills, name));
      } finally {
        await kafka?.stop();
      }
    }
  const work = `${whole(2 * FILLS)} fills`;
  const figure = (name: string, field: keyof EndToEnd): Figure => ({
    name: `${name}, ${engine}`,
    ...(field === 'perSecond'
      ? ({ unit: 'fills/s', better: 'more' } as const)
      : ({ unit: `${PER_MILLION} fills`, better: 'less' } as const)),
    values: once.map((one) => one[field]),
    twice: { work, values: twice.map((one) => one[field]) },
  });
  return [
    figure('end to end', 'perSecond'),
    figure('ingest', 'ingest'),
    figure('processors, sink of fills', 'sink'),
    figure('clickhouse, fills and derived tables', 'clickhouse'),
  ];
}

const perSecond = (count: number, ms: number): string => whole(count / (ms / 1000));

async function connect(url: string, database: string): Promise<ClickHouse> {
  const client = createClickHouse({ url, ...account, database }, { logger });
  await migrate({ client, migrations, logger });
  return client;
}

interface Stage {
  readonly perSecond: number;
  readonly cpuSPerMillion: number;
}
const PLAIN = 'insert into a table like fills, no views';
const DERIVED = 'insert into fills and its derived tables';

/** Measures each stage alone, one after the other, with the same fills. `name`: a new database and log. */
async function stages(dir: string, server: Server, count: number, name: string): Promise<ReadonlyMap<string, Stage>> {
  const log = await openLog(`lmdb:${join(dir, name)}`, { logger, maintenance: false });
  await log.ensureTopics(allTopics);
  const client = await connect(server.url, name);
  const blocks = Array.from({ length: blocksOf(count) }, (_, i) => fillBlock(i + 1));
  const fills = blocks.length * FILLS_PER_BLOCK;
  const measured = new Map<string, Stage>();
  const timed = async <T>(stage: string, work: () => T | Promise<T>): Promise<T> => {
    const cpu = process.cpuUsage();
    const serverCpu = server.cpuSeconds();
    const startedAt = performance.now();
    const result = await work();
    const seconds = (performance.now() - startedAt) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const cpuS = (user + system) / 1e6 + server.cpuSeconds() - serverCpu;
    measured.set(stage, { perSecond: fills / seconds, cpuSPerMillion: (cpuS / fills) * 1e6 });
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
  await timed('Avro to RowBinary', async () => {
    for (let i = 0; i < logRecords.length; i += 20_000) {
      const chunk = await transform(logRecords.slice(i, i + 20_000));
      for (const table of chunk.tables) bodies.push(table.body);
    }
  });
  const insert = (table: string) => async () => {
    for (const [i, body] of bodies.entries())
      await client.insertBytes(table, SINK_FORMAT, body, {
        columns: fillsTable.columns,
        dedupToken: `bench-${table}-${i}`,
      });
  };
  await client.command('CREATE TABLE fills_alone AS fills');
  await timed(PLAIN, insert('fills_alone'));
  await timed(DERIVED, insert('fills'));
  await client.command(`DROP DATABASE ${name}`);
  await client.close();
  await log.close();
  return measured;
}

async function readAll(log: Log): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  const read = { topic: 'chain.final', partition: 0, from: 'earliest', follow: false, maxRecords: 5_000 } as const;
  for await (const batch of log.read(read)) for (const record of batch.records) all.push(record);
  return all;
}

interface EndToEnd {
  readonly perSecond: number;
  /** Processor seconds per million fills, of each process. */
  readonly ingest: number;
  readonly sink: number;
  readonly clickhouse: number;
}

async function endToEnd(
  engine: Engine,
  logUrl: string,
  server: Server,
  wanted: number,
  round: string,
): Promise<EndToEnd> {
  const blocks = blocksOf(wanted);
  const database = `pipeline_${engine}_${round}`;
  const log = await openLog(logUrl, { logger, maintenance: false });
  await log.ensureTopics(allTopics);
  const client = await connect(server.url, database);
  const child = fork(fileURLToPath(new URL('./pipeline-ingest.child.js', import.meta.url)), [logUrl, String(blocks)]);
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
  const fills = blocks * FILLS_PER_BLOCK;
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
    `ingest: ${seconds(ingest.encodingSeconds)} decoding and encoding, ${seconds(ingest.waitingSeconds)} waiting for durable appends. ` +
      `The sink was ${finalLag.toLocaleString('en')} records behind at the end of ingest: ` +
      (finalLag > 2 * 20_000
        ? 'the insert into ClickHouse is the bottleneck.'
        : 'decoding and encoding in ingest are the bottleneck.'),
  );
  await client.command(`DROP DATABASE ${database}`);
  await client.close();
  await log.close();
  const perMillion = (seconds: number) => (seconds / fills) * 1e6;
  return {
    perSecond: rate,
    ingest: perMillion(ingest.cpuSeconds ?? Number.NaN),
    sink: perMillion((cpu.user + cpu.system) / 1e6),
    clickhouse: perMillion(serverCpu),
  };
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
