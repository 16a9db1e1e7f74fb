import { setTimeout as sleep } from 'node:timers/promises';
import { endOffsets } from '../../infra/log/partitions.js';
import type { SourceStatusView } from '../../infra/sources/source-status-view.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Tables } from '../tables/port.js';
import {
  type CommittedProgress,
  committedRecords,
  covers,
  createDerivedProgress,
  fractionDone,
  nextOffsets,
  type ReadLog,
  sum,
} from './derived-progress.js';
import type { LoadStatus, TableGroupState } from './load-status.js';
import { newestSnapshotSql, type SinkProgressRow, type SnapshotRow, sinkProgressSql } from './readiness.sql.js';
import {
  type DerivedGroup,
  derivedGroupNames,
  derivedGroups,
  type SourceGroup,
  sourceGroups,
  type TableGroup,
} from './table-groups.js';

export interface TableProgress {
  /** Result of the last measurement; null before the first successful one. */
  current(): LoadStatus | null;
  /** Measures now. Rejects if log or tables do not respond. */
  measure(): Promise<LoadStatus>;
  /** Measures repeatedly until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

const POLL_INTERVAL_MS = 500;
const READY_POLL_INTERVAL_MS = 5_000;
/** After this time measurements become less frequent: the load is a long one. */
const LONG_LOAD_MS = 300_000;
const LONG_LOAD_POLL_INTERVAL_MS = 2_000;
/**
 * If the tables contain this fraction of the history at the start, it is not a first load: the api was restarted while the tables lagged, and the newest
 * leaderboards are those of complete tables.
 */
const NEARLY_COMPLETE_FRACTION = 0.95;

const noProgress: ReadonlyMap<number, CommittedProgress> = new Map();

function committedBySink(
  rows: readonly SinkProgressRow[],
): ReadonlyMap<string, ReadonlyMap<number, CommittedProgress>> {
  const bySink = new Map<string, Map<number, CommittedProgress>>();
  for (const { sink, partition, next, key, time_ms } of rows) {
    const committed = bySink.get(sink) ?? new Map<number, CommittedProgress>();
    committed.set(Number(partition), { next: Number(next), key, timeMs: Number(time_ms) });
    bySink.set(sink, committed);
  }
  return bySink;
}

/** End offsets of the log at one time. */
interface LogEnd {
  readonly atMs: number;
  readonly ends: readonly number[];
}

/**
 * Load progress of the tables, from the committed offsets of their sinks and the ends of the log. A group is loaded once its tables have reached the end that
 * the log had when its source announced the history as complete; emptied tables are loading again.
 */
export function createTableProgress(deps: {
  tables: Pick<Tables, 'rows'>;
  log: ReadLog;
  sources: Pick<SourceStatusView, 'get'>;
  nowMs: () => number;
  logger: Logger;
}): TableProgress {
  const { tables, log, sources, nowMs } = deps;
  const derived = createDerivedProgress(log);
  const targets = new Map<string, readonly number[]>();
  const logEnds = new Map<string, LogEnd>();
  /** Committed offsets at which the group was found loaded. */
  const loadedAt = new Map<TableGroup, readonly number[]>();
  let allLoadedMs: number | null = null;
  /** Committed records of the sources, and whether the derived tables lacked many, at the first measurement. */
  let first: { readonly positions: ReadonlyMap<TableGroup, number>; readonly derivedLacked: boolean } | undefined;
  let current: LoadStatus | null = null;

  /** A restarted source reads its history again; the announced end offsets stay valid. */
  const targetOf = async (group: SourceGroup): Promise<readonly number[] | undefined> => {
    const { source, topic } = sourceGroups[group];
    const target = targets.get(source);
    const status = sources.get(source);
    if (target !== undefined || status === undefined) return target;
    if (status.phase !== 'live' && status.progress !== 1) return undefined;
    const ends = await endOffsets(log, topic);
    targets.set(source, ends);
    return ends;
  };

  const isLoaded = (
    group: TableGroup,
    committed: ReadonlyMap<number, CommittedProgress>,
    reached: () => boolean,
  ): boolean => {
    const before = loadedAt.get(group);
    if (before !== undefined) {
      if (covers(committed, before)) return true;
      loadedAt.delete(group);
    }
    if (!reached()) return false;
    const partitions = Math.max(-1, ...committed.keys()) + 1;
    loadedAt.set(
      group,
      Array.from({ length: partitions }, (_, partition) => committed.get(partition)?.next ?? 0),
    );
    return true;
  };

  /** Seconds since the first measurement at which the log had records that are still not in the tables. */
  const lagOf = async (
    group: SourceGroup,
    committed: ReadonlyMap<number, CommittedProgress>,
    now: number,
  ): Promise<number> => {
    const logEnd = logEnds.get(group);
    if (logEnd !== undefined && !covers(committed, logEnd.ends))
      return Math.max(0, Math.floor((now - logEnd.atMs) / 1000));
    logEnds.set(group, { atMs: now, ends: await endOffsets(log, sourceGroups[group].topic) });
    return 0;
  };

  const sourceState = async (group: SourceGroup, committed: ReadonlyMap<number, CommittedProgress>, now: number) => {
    const { topic, source, inOrder } = sourceGroups[group];
    const target = await targetOf(group);
    const loaded = target !== undefined && isLoaded(group, committed, () => covers(committed, target));
    const position = committedRecords(committed);
    const ends = target ?? (await nextOffsets(log, topic));
    const targetRecords = sum(ends);
    const announced = target === undefined ? (sources.get(source)?.progress ?? null) : 1;
    const share = announced === null ? null : announced * fractionDone(position, targetRecords);
    const byTime = [...committed.values()].map(({ timeMs }) => timeMs);
    const isThere = ends.every((end, partition) => end === 0 || committed.has(partition));
    const throughMs = inOrder && isThere && byTime.length > 0 ? Math.min(...byTime) : null;
    const block = source === 'chain' ? Number(committed.get(0)?.key ?? Number.NaN) : Number.NaN;
    const state: TableGroupState = {
      table: group,
      state: loaded ? 'loaded' : position === 0 ? 'empty' : 'loading',
      position,
      target: target === undefined ? null : targetRecords,
      percent: loaded ? 100 : share === null ? null : Math.min(99, Math.floor(share * 100)),
      // The last block may have records that are not committed yet.
      throughBlock: Number.isSafeInteger(block) && position > 0 ? block - 1 : null,
      throughMs,
      lagS: loaded ? await lagOf(group, committed, now) : 0,
    };
    return state;
  };

  const measure = async (): Promise<LoadStatus> => {
    const now = nowMs();
    const [rows, snapshots] = await Promise.all([
      tables.rows<SinkProgressRow>(sinkProgressSql),
      tables.rows<SnapshotRow>(newestSnapshotSql),
    ]);
    const bySink = committedBySink(rows);
    const committedOf = (sink: string) => bySink.get(sink) ?? noProgress;
    const sourceStates = await Promise.all(
      (Object.keys(sourceGroups) as SourceGroup[]).map((group) =>
        sourceState(group, committedOf(sourceGroups[group].sink), now),
      ),
    );

    const chainEnd = targets.get('chain')?.[0];
    const allDerived = derivedGroupNames.every((group) => loadedAt.has(group));
    const lastChain = (await log.lastRecord(sourceGroups.fills.topic.name, 0))?.offset ?? -1;
    await derived.advance(committedOf, now, allDerived && derived.roundStartedMs() === null ? lastChain + 1 : 0);
    const shares = allDerived ? undefined : await derived.fractions(committedOf, chainEnd ?? lastChain + 1);
    const chainShare = chainEnd === undefined ? (sources.get('chain')?.progress ?? null) : 1;
    const derivedState = (group: DerivedGroup): TableGroupState => {
      const committed = committedOf(derivedGroups[group].sink);
      const before = loadedAt.get(group);
      if (before !== undefined && !covers(committed, before)) derived.reset();
      const through = derived.through(group);
      const reached = () => chainEnd !== undefined && (chainEnd === 0 || (through?.offset ?? 0) >= chainEnd);
      const loaded = isLoaded(group, committed, reached);
      const share = shares === undefined || chainShare === null ? null : shares[group] * chainShare;
      const position = committedRecords(committed);
      const startedMs = derived.roundStartedMs();
      return {
        table: group,
        state: loaded ? 'loaded' : position === 0 ? 'empty' : 'loading',
        position,
        target: null,
        percent: loaded ? 100 : share === null ? null : Math.min(99, Math.floor(share * 100)),
        throughBlock: through?.block ?? null,
        throughMs: through?.timeMs ?? null,
        lagS: loaded && startedMs !== null ? Math.max(0, Math.floor((now - startedMs) / 1000)) : 0,
      };
    };
    const derivedStates = derivedGroupNames.map(derivedState);

    const below = [...sourceStates, ...derivedStates];
    const isNearlyComplete = (fraction: number) => fraction >= NEARLY_COMPLETE_FRACTION;
    first ??= {
      positions: new Map(sourceStates.map(({ table, position }) => [table, position])),
      derivedLacked: !Object.values(shares ?? {}).every(isNearlyComplete),
    };
    const { positions: atStart, derivedLacked } = first;
    // A source announces its history some time after its start: until then nothing is known.
    const isFirstLoad =
      derivedLacked ||
      !sourceStates.every(
        ({ table, target }) => target !== null && isNearlyComplete(fractionDone(atStart.get(table) ?? 0, target)),
      );
    // At most now: else, after the clock is set back, no snapshot would count for as long as it ran ahead.
    if (below.every(({ state }) => state === 'loaded')) allLoadedMs = Math.min(allLoadedMs ?? now, now);
    else allLoadedMs = null;
    const takenMs = Number(snapshots[0]?.taken_ms ?? 0);
    const snapshotTaken = allLoadedMs !== null && takenMs > 0 && (!isFirstLoad || takenMs >= allLoadedMs);
    const leaderboards: TableGroupState = {
      table: 'leaderboards',
      state: snapshotTaken ? 'loaded' : Number(snapshots[0]?.ranked ?? 0) === 0 ? 'empty' : 'loading',
      position: takenMs > 0 ? 1 : 0,
      target: 1,
      percent: snapshotTaken ? 100 : Math.min(99, ...below.map(({ percent }) => percent ?? 0)),
      throughBlock: null,
      throughMs: takenMs > 0 ? takenMs : null,
      lagS: 0,
    };

    const all = [...below, leaderboards];
    const groups = Object.fromEntries(all.map((group) => [group.table, group])) as LoadStatus['groups'];
    current = { groups, ready: all.every(({ state }) => state === 'loaded') };
    return current;
  };

  return {
    current: () => current,
    measure,
    async run(signal) {
      const startedMs = nowMs();
      while (!signal.aborted) {
        await measure().catch((error: unknown) =>
          deps.logger.debug({ err: error }, 'cannot measure the load progress: the log or the tables did not respond'),
        );
        const whileLoading = nowMs() - startedMs > LONG_LOAD_MS ? LONG_LOAD_POLL_INTERVAL_MS : POLL_INTERVAL_MS;
        const waitMs = current?.ready === true ? READY_POLL_INTERVAL_MS : whileLoading;
        await sleep(waitMs, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}
