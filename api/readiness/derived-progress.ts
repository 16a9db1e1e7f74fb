import type { Log } from '../../infra/log/port.js';
import { topics } from '../../schemas/topics.js';
import type { DerivedGroup } from './table-groups.js';
import { derivedGroups } from './table-groups.js';

/** What is in the tables of one partition of a sink. */
export interface CommittedProgress {
  readonly next: number;
  readonly key: string;
  readonly timeMs: number;
}
/** By partition; none: nothing. */
export type CommittedBySink = (sink: string) => ReadonlyMap<number, CommittedProgress>;

export type ReadLog = Pick<Log, 'bounds' | 'lastRecord' | 'committed' | 'read'>;

/** Per partition, the offset behind the last record. Kafka's own end is further: it counts marks of transactions. */
export function endOffsets(log: ReadLog, topic: { name: string; partitions: number }): Promise<readonly number[]> {
  const of = async (partition: number) => ((await log.lastRecord(topic.name, partition))?.offset ?? -1) + 1;
  return Promise.all(Array.from({ length: topic.partitions }, (_, partition) => of(partition)));
}

export const covers = (committed: ReadonlyMap<number, CommittedProgress>, ends: readonly number[]): boolean =>
  ends.every((end, partition) => (committed.get(partition)?.next ?? 0) >= end);

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
export const fractionDone = (done: number, all: number): number => (all <= 0 ? 0 : Math.min(1, done / all));
export const committedRecords = (committed: ReadonlyMap<number, CommittedProgress>): number =>
  sum([...committed.values()].map(({ next }) => next));
/** Offsets given out in a topic, by partition. */
export const nextOffsets = (log: ReadLog, topic: { name: string; partitions: number }): Promise<readonly number[]> =>
  Promise.all(
    Array.from({ length: topic.partitions }, async (_, partition) => (await log.bounds(topic.name, partition)).next),
  );

/** Up to where of chain.final a derived table group is complete. */
export interface CompleteThrough {
  readonly offset: number;
  readonly block: number | null;
  readonly timeMs: number | null;
}

/** One measurement: what of chain.final the activity fold had read, and where that ends in the topics behind it. */
interface MeasurementRound extends CompleteThrough {
  readonly startedMs: number;
  readonly activityEnds: readonly number[];
  ends: Readonly<Record<DerivedGroup, readonly number[]>> | null;
}

/**
 * Follows what the accounting derives from chain.final, round by round: the offset that the activity fold has read, then its outputs up to there
 * through the positions folds, then their outputs through the sinks. What a round ends with is complete up to the block it began with.
 */
export function createDerivedProgress(log: ReadLog) {
  const { chainFinal, walletActivity } = topics;
  let round: MeasurementRound | null = null;
  const through = new Map<DerivedGroup, CompleteThrough>();
  const positionOf = async (group: string, topic: string, partition: number): Promise<number> =>
    (await log.committed(group, topic)).find((one) => one.partition === partition)?.nextOffset ?? 0;

  const read = () => positionOf('activity', chainFinal.name, 0);

  /** The fold reads whole blocks, so the record before its position closes one. */
  const recordBefore = async (offset: number) => {
    const from = { offset: Math.max(0, offset - 1) };
    for await (const { records } of log.read({
      topic: chainFinal.name,
      partition: 0,
      from,
      follow: false,
      maxRecords: 1,
    }))
      return records[0];
    return undefined;
  };

  const begin = async (nowMs: number, offset: number): Promise<MeasurementRound> => {
    const activityEnds = await endOffsets(log, walletActivity);
    const record = await recordBefore(offset);
    const block = record === undefined ? Number.NaN : Number(record.key);
    return {
      startedMs: nowMs,
      offset,
      block: Number.isSafeInteger(block) ? block : null,
      timeMs: record?.timestampMs ?? null,
      activityEnds,
      ends: null,
    };
  };

  return {
    /** One look. `atLeast`: a round begins when the activity fold has read this much. */
    async advance(committedOf: CommittedBySink, nowMs: number, atLeast: number): Promise<void> {
      const activity = await read();
      if (round === null && activity > 0 && activity >= atLeast) round = await begin(nowMs, activity);
      if (round !== null && round.ends === null) {
        const processed = await Promise.all(
          round.activityEnds.map((_, partition) =>
            positionOf(`positions-${partition}`, walletActivity.name, partition),
          ),
        );
        if (round.activityEnds.every((end, partition) => (processed[partition] ?? 0) >= end)) {
          const [positions, pnl] = await Promise.all([
            endOffsets(log, derivedGroups.positions.topic),
            endOffsets(log, derivedGroups.pnl.topic),
          ]);
          round.ends = { positions, pnl };
        }
      }
      if (round?.ends !== null && round !== null) {
        const { ends } = round;
        let open = false;
        for (const group of ['positions', 'pnl'] as const) {
          if (covers(committedOf(derivedGroups[group].sink), ends[group])) through.set(group, round);
          else open = true;
        }
        if (!open) round = null;
      }
    },
    /** Part of the records before `target` of chain.final that the groups have come through all folds, 0 to 1; an estimate. */
    async fractions(committedOf: CommittedBySink, target: number): Promise<Readonly<Record<DerivedGroup, number>>> {
      const partitions = Array.from({ length: walletActivity.partitions }, (_, partition) => partition);
      const activity = fractionDone(await read(), target);
      const processed = await Promise.all(
        partitions.map((partition) => positionOf(`positions-${partition}`, walletActivity.name, partition)),
      );
      const accounted = fractionDone(sum(processed), sum(await nextOffsets(log, walletActivity)));
      const sinkFraction = async (group: DerivedGroup) =>
        fractionDone(
          committedRecords(committedOf(derivedGroups[group].sink)),
          sum(await nextOffsets(log, derivedGroups[group].topic)),
        );
      const [positions, pnl] = await Promise.all([sinkFraction('positions'), sinkFraction('pnl')]);
      return { positions: activity * accounted * positions, pnl: activity * accounted * pnl };
    },
    /** Up to where the group was complete when last looked; undefined: no round has ended. */
    through: (group: DerivedGroup): CompleteThrough | undefined => through.get(group),
    /** The tables were emptied: what was measured before says nothing any more. */
    reset(): void {
      round = null;
      through.clear();
    },
    /** When the round under way began. */
    roundStartedMs: (): number | null => round?.startedMs ?? null,
  };
}
