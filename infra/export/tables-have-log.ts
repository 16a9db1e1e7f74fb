import { setTimeout as sleep } from 'node:timers/promises';
import { consumerGroups } from '../../schemas/consumer-groups.js';
import { type Topic, topics } from '../../schemas/topics.js';
import { FatalError } from '../errors.js';
import { endOffsets } from '../log/partitions.js';
import type { Log } from '../log/port.js';
import type { ExportDatabase } from './exporter.js';

/**
 * A product that keeps up has all of its log in the tables within this time, also if its node calls blocks final only when they are more than a minute old:
 * its tasks then wait up to five times as long for more records.
 */
export const REACH_MS = 30_000;

/** Sinks of the exported rows that read what ingest writes, with their topics. */
export const sourceSinks: Readonly<Record<string, Topic>> = {
  fills: topics.chainFinal,
  chain: topics.chainFinal,
  wallet_events: topics.chainFinal,
  oracle: topics.oracleTicks,
  catalog: topics.catalog,
};
/** Those that read what processors derive from chain.final. */
export const derivedSinks: Readonly<Record<string, Topic>> = {
  positions: topics.positions,
  pnl: topics.pnlEvents,
  wallet_activity: topics.walletActivity,
};

/** Next offset of one partition of a sink: all rows before it are in the tables. */
export interface SinkPosition {
  readonly sink: string;
  readonly partition: number;
  readonly next: number;
}

/** Positions of all sinks that have written to the product's database `name`. */
export async function sinkPositions(
  { query }: Pick<ExportDatabase, 'query'>,
  name: string,
): Promise<readonly SinkPosition[]> {
  const rows = await query<{ sink: string; partition: number; next: string }>(
    `SELECT toString(sink) AS sink, partition, toString(max(next_offset)) AS next FROM ${name}.sink_progress GROUP BY sink, partition`,
    {},
  );
  return rows.map(({ sink, partition, next }) => ({ sink, partition, next: Number(next) }));
}

type CheckedLog = Pick<Log, 'partitions' | 'bounds' | 'lastRecord' | 'committed'>;

/** Throws FatalError if the tables have records that the log does not have: it is that of another installation, and says nothing about these tables. */
async function requireOwnLog(log: CheckedLog, positions: readonly SinkPosition[]): Promise<void> {
  const topicOf = { ...sourceSinks, ...derivedSinks };
  for (const { sink, partition, next } of positions) {
    const topic = topicOf[sink]?.name;
    if (topic === undefined) continue;
    const isThere = partition < (await log.partitions(topic));
    if (!isThere || (await log.bounds(topic, partition)).next < next)
      throw new FatalError(
        `The tables have records of ${topic}/${partition} that the log does not have: set LOG_URL and ODDSTREAM_DATA as for processors`,
      );
  }
}

/**
 * Resolves with true once the tables have all records that the log has now and all that follows from them, whichever process fills them; with false
 * when they do not within `withinMs`. Throws FatalError for the log of other tables.
 */
export async function tablesHaveLog(options: {
  readonly log: CheckedLog;
  readonly positions: () => Promise<readonly SinkPosition[]>;
  readonly withinMs: number;
  readonly pollMs: number;
}): Promise<boolean> {
  const { log, positions, withinMs, pollMs } = options;
  const deadlineMs = performance.now() + withinMs;
  const until = async (isReached: () => Promise<boolean>): Promise<boolean> => {
    while (!(await isReached())) {
      if (performance.now() >= deadlineMs) return false;
      await sleep(pollMs);
    }
    return true;
  };
  const read = async (group: string, { name }: Topic, partition: number): Promise<number> =>
    (await log.committed(group, name)).find((one) => one.partition === partition)?.nextOffset ?? 0;
  const untilRead = (groupOf: (partition: number) => string, topic: Topic, ends: readonly number[]) =>
    until(async () => {
      const next = await Promise.all(ends.map((_, partition) => read(groupOf(partition), topic, partition)));
      return ends.every((end, partition) => (next[partition] ?? 0) >= end);
    });
  const endsOf = async (sinks: Readonly<Record<string, Topic>>) =>
    Promise.all(Object.entries(sinks).map(async ([sink, topic]) => ({ sink, ends: await endOffsets(log, topic) })));

  await requireOwnLog(log, await positions());
  const sourceEnds = await endsOf(sourceSinks);
  // The records that follow from these exist once the processors have read them; only then their ends count.
  const chainEnds = await endOffsets(log, topics.chainFinal);
  if (!(await untilRead(() => consumerGroups.activity, topics.chainFinal, chainEnds))) return false;
  const activityEnds = await endOffsets(log, topics.walletActivity);
  if (!(await untilRead(consumerGroups.positions, topics.walletActivity, activityEnds))) return false;
  const ends = [...sourceEnds, ...(await endsOf(derivedSinks))];
  return until(async () => {
    const next = new Map((await positions()).map((one) => [`${one.sink}/${one.partition}`, one.next]));
    return ends.every((one) => one.ends.every((end, partition) => (next.get(`${one.sink}/${partition}`) ?? 0) >= end));
  });
}
