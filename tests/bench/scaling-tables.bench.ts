import { createClickHouse } from '../../infra/clickhouse/client.js';
import { openLog } from '../../infra/log/open-log.js';
import type { Log } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createBlockEncoder } from '../../ingest/chain/block-records.js';
import { blockEvent, decodeBlock, decodePending } from '../../ingest/chain/decode/index.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { ClickHouseProcess } from '../support/clickhouse-process.js';
import { eventually } from '../support/product.js';
import { FILLS_PER_BLOCK, fillBlock } from './fill-blocks.js';
import { median } from './measure.js';
import { type Figure, PER_MILLION } from './report/figure.js';
import { COUNTS, measureCounts } from './scaling.js';
import { type StartedProcess, startProcess } from './started-process.js';

/** Blocks that are appended at once, and how often. */
const BLOCKS = Number(process.env.BENCH_BLOCKS ?? 150);
const ROUNDS = 5;
const KILLS = 5;
const BLOCKS_AFTER_KILL = 5;
const WAIT_MS = 180_000;
/** Checks of a processors process that are not tasks. */
const NO_TASK = new Set(['start', 'log', 'registry', 'clickhouse', 'members', 'tables']);
const codec = createCodec();
const logger = silentLogger();

interface Measured {
  readonly perSecond: number[];
  /** Of all processors, s per million fills. */
  readonly cost: number[];
  readonly recoveryS: number[];
}

/**
 * 1, 2 and 4 processors of the tables on one Kafka broker and one ClickHouse: fills per second from the append to chain.final until all tables are complete,
 * and the time from SIGKILL of the process that has the task `activity` until fills that were appended after it are in all tables.
 */
export async function run(): Promise<readonly Figure[]> {
  console.log('| processors | fills/s | CPU s per million fills | recovery after SIGKILL, s |\n|---|---|---|---|');
  const results = await measureCounts(measure, (count, result) => {
    const cells = [median(result.perSecond).toFixed(0), median(result.cost).toFixed(1)];
    const recovery = result.recoveryS.map((seconds) => seconds.toFixed(1)).join(', ');
    console.log(`| ${[count, ...cells, recovery].join(' | ')} |`);
  });
  const [single] = results as [Measured];
  return results.flatMap(({ perSecond, cost, recoveryS }, n): Figure[] => {
    const name = COUNTS[n] === 1 ? '1 process' : `${COUNTS[n]} processes`;
    const baseline = (values: readonly number[]) => (n === 0 ? {} : { baseline: { name: '1 process', values } });
    return [
      {
        name: `chain.final to all tables, ${name}`,
        unit: 'fills/s',
        better: 'more',
        values: perSecond,
        ...baseline(single.perSecond),
      },
      {
        name: `processors, ${name}`,
        unit: `${PER_MILLION} fills`,
        better: 'less',
        values: cost,
        ...baseline(single.cost),
      },
      {
        name: `SIGKILL to complete tables, ${name}${n === 0 ? ' (restarted)' : ''}`,
        unit: 's',
        better: 'less',
        values: recoveryS,
        ...baseline(single.recoveryS),
      },
    ];
  });
}

async function measure(count: number, logUrl: string, clickhouse: ClickHouseProcess): Promise<Measured> {
  const database = `scaling_${count}`;
  const env = {
    LOG_URL: logUrl,
    CLICKHOUSE_URL: clickhouse.url,
    CLICKHOUSE_USER: clickhouse.user,
    CLICKHOUSE_PASSWORD: clickhouse.password,
    CLICKHOUSE_DATABASE: database,
    ANALYST_DATABASE: `market_${count}`,
  };
  const log = await openLog(logUrl, { logger, maintenance: false });
  await log.ensureTopics(allTopics);
  const { url, user, password } = clickhouse;
  const client = createClickHouse({ url, user, password, database }, { logger });
  const processes: StartedProcess[] = [];
  try {
    const all = { script: 'processors', args: ['tables'], adminVariable: 'ADMIN_PORT_PROCESSORS', env };
    // The first creates the tables; the others start together.
    processes.push(await startProcess(all));
    const [first] = processes as [StartedProcess];
    await eventually('the tables', async () => (await tasksOf(first)).includes('activity'), WAIT_MS);
    processes.push(...(await Promise.all(Array.from({ length: count - 1 }, () => startProcess(all)))));
    const shared = async () => {
      const owned = await Promise.all(processes.map(tasksOf));
      const sizes = owned.map(({ length }) => length);
      return new Set(owned.flat()).size === owned.flat().length && Math.max(...sizes) - Math.min(...sizes) <= 1;
    };
    await eventually('equal shares of the tasks', shared, WAIT_MS);

    const appender = createAppender(log);
    const complete = async (alive: readonly StartedProcess[]) => {
      const [row] = await client.query<{ fills: string }>('SELECT toString(count()) AS fills FROM fills');
      if (Number(row?.fills) < appender.fills()) return false;
      const lags = await Promise.all(
        alive.flatMap((one) =>
          ['oddstream_sink_lag_records', 'oddstream_processor_lag_records'].map((name) => one.metric(name)),
        ),
      );
      return lags.every((lag) => lag === 0);
    };
    /** Twice in a row: a task may have read its lag before the task that it reads from. */
    const untilComplete = (alive: readonly StartedProcess[]) =>
      eventually('complete tables', async () => (await complete(alive)) && (await complete(alive)), WAIT_MS);

    const cpuS = () => processes.reduce((sum, one) => sum + one.cpuS(), 0);
    const result: Measured = { perSecond: [], cost: [], recoveryS: [] };
    for (let round = 0; round <= ROUNDS; round++) {
      const cpuBefore = cpuS();
      const startedMs = performance.now();
      await appender.append(BLOCKS);
      await untilComplete(processes);
      // The first round is the warm-up.
      if (round === 0) continue;
      const fills = BLOCKS * FILLS_PER_BLOCK;
      result.perSecond.push(fills / ((performance.now() - startedMs) / 1000));
      result.cost.push(((cpuS() - cpuBefore) / fills) * 1e6);
    }

    const allTasks = new Set((await Promise.all(processes.map(tasksOf))).flat());
    for (let kill = 0; kill < KILLS; kill++) {
      const owned = await Promise.all(processes.map(tasksOf));
      const victim = processes[owned.findIndex((tasks) => tasks.includes('activity'))] as StartedProcess;
      const others = processes.filter((one) => one !== victim);
      const killedMs = performance.now();
      await victim.kill();
      await appender.append(BLOCKS_AFTER_KILL);
      const alive = count === 1 ? processes : others;
      if (count === 1) await victim.restart();
      const takenOver = async () => {
        const tasks = new Set((await Promise.all(alive.map(tasksOf))).flat());
        return tasks.size === allTasks.size;
      };
      await eventually('all tasks', takenOver, WAIT_MS);
      await untilComplete(alive);
      result.recoveryS.push((performance.now() - killedMs) / 1000);
      if (count === 1) continue;
      await victim.restart();
      await eventually('equal shares of the tasks', shared, WAIT_MS);
    }
    return result;
  } finally {
    await Promise.all(processes.map((one) => one.dispose()));
    await client.close();
    await log.close();
  }
}

const tasksOf = async (one: StartedProcess): Promise<readonly string[]> =>
  Object.keys((await one.readiness()).checks).filter((name) => !NO_TASK.has(name));

/** Appends finalized blocks, each with 80 fills, as ingest does. */
function createAppender(log: Log) {
  const encode = createBlockEncoder({ codec, decoder: { decodeBlock, blockEvent, decodePending } });
  let next = 1;
  return {
    fills: () => (next - 1) * FILLS_PER_BLOCK,
    async append(count: number) {
      const records = Array.from({ length: count }, (_, n) => encode(fillBlock(next + n))).flatMap(
        ({ eventRecords, block }) => [...eventRecords, block],
      );
      next += count;
      for (let n = 0; n < records.length; n += 4_096)
        await log.append(topics.chainFinal.name, records.slice(n, n + 4_096));
    },
  };
}
