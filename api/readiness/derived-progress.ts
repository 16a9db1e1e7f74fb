import { endOffsets, partitionsOf } from '../../infra/log/partitions.js';
import type { Log } from '../../infra/log/port.js';
import { consumerGroups } from '../../schemas/consumer-groups.js';
import { topics } from '../../schemas/topics.js';
import type { DerivedGroup } from './table-groups.js';
import { derivedGroupNames, derivedGroups } from './table-groups.js';

/** Progress of one partition of a sink in the tables. */
export interface CommittedProgress {
  readonly next: number;
  readonly key: string;
  readonly timeMs: number;
}
/** Committed progress by partition; empty if nothing is committed. */
export type CommittedBySink = (sink: string) => ReadonlyMap<number, CommittedProgress>;

export type ReadLog = Pick<Log, 'partitions' | 'bounds' | 'lastRecord' | 'committed' | 'read'>;

export const covers = (committed: ReadonlyMap<number, CommittedProgress>, ends: readonly number[]): boolean =>
  ends.every((end, partition) => (committed.get(partition)?.next ?? 0) >= end);

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
export const fractionDone = (done: number, all: number): number => (all <= 0 ? 0 : Math.min(1, done / all));
export const committedRecords = (committed: ReadonlyMap<number, CommittedProgress>): number =>
  sum([...committed.values()].map(({ next }) => next));
/** Next offset of each partition of a topic, including offsets of transaction markers. */
export const nextOffsets = async (log: ReadLog, topic: { readonly name: string }): Promise<readonly number[]> =>
  Promise.all(
    (await partitionsOf(log, topic)).map(async (partition) => (await log.bounds(topic.name, partition)).next),
  );

/** Position of chain.final up to which a derived table group is complete. */
export interface CompleteThrough {
  readonly offset: number;
  readonly block: number | null;
  readonly timeMs: number | null;
}

/** One measurement: the offset of chain.final that the activity processor had read, and the ends of its output topics at that time. */
interface MeasurementRound extends CompleteThrough {
  readonly startedMs: number;
  readonly activityEnds: readonly number[];
  ends: Readonly<Record<DerivedGroup, readonly number[]>> | null;
}

/**
 * Measures in rounds how far the tables derived from chain.final are: first the offset that the activity processor has read, then the progress of the
 * positions processors on its outputs, then that of the sinks on theirs. After a round the tables are complete up to the block at which it started.
 */
export function createDerivedProgress(log: ReadLog) {
  const { chainFinal, walletActivity } = topics;
  let round: MeasurementRound | null = null;
  const through = new Map<DerivedGroup, CompleteThrough>();
  const positionOf = async (group: string, topic: string, partition: number): Promise<number> =>
    (await log.committed(group, topic)).find((one) => one.partition === partition)?.nextOffset ?? 0;

  const read = () => positionOf(consumerGroups.activity, chainFinal.name, 0);

  /** The processor reads whole blocks, so the record before its position is the last of a block. */
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
    /** Performs one step. `atLeast`: a round starts once the activity processor has read this offset. */
    async advance(committedOf: CommittedBySink, nowMs: number, atLeast: number): Promise<void> {
      const activity = await read();
      if (round === null && activity > 0 && activity >= atLeast) round = await begin(nowMs, activity);
      if (round !== null && round.ends === null) {
        const processed = await Promise.all(
          round.activityEnds.map((_, partition) =>
            positionOf(consumerGroups.positions(partition), walletActivity.name, partition),
          ),
        );
        if (round.activityEnds.every((end, partition) => (processed[partition] ?? 0) >= end)) {
          const [positions, pnl] = await Promise.all([
            endOffsets(log, derivedGroups.positions.topic),
            endOffsets(log, derivedGroups.pnl.topic),
          ]);
          round.ends = { positions, pnl, wallet_activity: round.activityEnds };
        }
      }
      if (round?.ends !== null && round !== null) {
        const { ends } = round;
        let open = false;
        for (const group of derivedGroupNames) {
          if (covers(committedOf(derivedGroups[group].sink), ends[group])) through.set(group, round);
          else open = true;
        }
        if (!open) round = null;
      }
    },
    /** Estimated fraction (0 to 1) of the records before `target` of chain.final that the groups have processed. */
    async fractions(committedOf: CommittedBySink, target: number): Promise<Readonly<Record<DerivedGroup, number>>> {
      const partitions = await partitionsOf(log, walletActivity);
      const activity = fractionDone(await read(), target);
      const processed = await Promise.all(
        partitions.map((partition) => positionOf(consumerGroups.positions(partition), walletActivity.name, partition)),
      );
      const accounted = fractionDone(sum(processed), sum(await nextOffsets(log, walletActivity)));
      const sinkFraction = async (group: DerivedGroup) =>
        fractionDone(
          committedRecords(committedOf(derivedGroups[group].sink)),
          sum(await nextOffsets(log, derivedGroups[group].topic)),
        );
      const [positions, pnl, wallet_activity] = await Promise.all([
        sinkFraction('positions'),
        sinkFraction('pnl'),
        sinkFraction('wallet_activity'),
      ]);
      return {
        positions: activity * accounted * positions,
        pnl: activity * accounted * pnl,
        wallet_activity: activity * wallet_activity,
      };
    },
    /** Position up to which the group was complete at the last step; undefined before the end of the first round. */
    through: (group: DerivedGroup): CompleteThrough | undefined => through.get(group),
    /** Discards all measurements, after the tables were emptied. */
    reset(): void {
      round = null;
      through.clear();
    },
    /** Start time of the current round, milliseconds; null if there is none. */
    roundStartedMs: (): number | null => round?.startedMs ?? null,
  };
}
