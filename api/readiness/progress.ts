import type { Logger } from '../../infra/telemetry/logger.js';
import type { SourceStatusView } from '../sources/source-status-view.js';
import type { Tables } from '../tables/port.js';
import {
  covers,
  createDerivedProgress,
  endsOf,
  heldBy,
  type Landed,
  nextOf,
  part,
  type ReadLog,
  sum,
} from './derived.js';
import { type DerivedGroup, derivedGroups, type SourceGroup, sourceGroups, type TableGroup } from './groups.js';
import { type PictureRow, pictureSql, type SinkProgressRow, sinkProgressSql } from './readiness.sql.js';
import type { GroupState, Loading } from './state.js';

export interface TableProgress {
  /** As of the last look; null before the first that was answered. */
  current(): Loading | null;
  /** Looks now. Rejects when log or tables do not answer. */
  look(): Promise<Loading>;
  /** Looks again and again until the signal. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

const LOOK_MS = 500;
const LOOK_WHEN_READY_MS = 5_000;
/** A load that takes longer than this may take months. */
const LONG_MS = 300_000;
const LOOK_WHEN_LONG_MS = 2_000;
/** A start that finds this much of the history in the tables is no first start. */
const NEARLY_ALL = 0.99;

const none: ReadonlyMap<number, Landed> = new Map();

function landedFrom(rows: readonly SinkProgressRow[]): ReadonlyMap<string, ReadonlyMap<number, Landed>> {
  const bySink = new Map<string, Map<number, Landed>>();
  for (const { sink, partition, next, key, time_ms } of rows) {
    const landed = bySink.get(sink) ?? new Map<number, Landed>();
    landed.set(Number(partition), { next: Number(next), key, timeMs: Number(time_ms) });
    bySink.set(sink, landed);
  }
  return bySink;
}

/** Where the log ended when a source had told that its history is complete, and where it ended at a later look. */
interface Mark {
  readonly atMs: number;
  readonly ends: readonly number[];
}

/**
 * How far the tables are, from the progress of their sinks and the ends of the log. A group is loaded once its tables have reached the end that
 * the log had when the history of its source was announced as complete; emptied tables are loading again.
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
  const marks = new Map<string, Mark>();
  /** Where the tables were when the group was found loaded. */
  const loadedAt = new Map<TableGroup, readonly number[]>();
  let allLoadedMs: number | null = null;
  let sawLoading: boolean | undefined;
  let current: Loading | null = null;

  /** A source that is started anew reads its history again, which changes nothing about what was announced. */
  const targetOf = async (group: SourceGroup): Promise<readonly number[] | undefined> => {
    const { source, topic } = sourceGroups[group];
    const known = targets.get(source);
    const status = sources.get(source);
    if (known !== undefined || status === undefined) return known;
    if (status.phase !== 'live' && status.progress !== 1) return undefined;
    const ends = await endsOf(log, topic);
    targets.set(source, ends);
    return ends;
  };

  const isLoaded = (group: TableGroup, landed: ReadonlyMap<number, Landed>, reached: () => boolean): boolean => {
    const before = loadedAt.get(group);
    if (before !== undefined) {
      if (covers(landed, before)) return true;
      loadedAt.delete(group);
    }
    if (!reached()) return false;
    const partitions = Math.max(-1, ...landed.keys()) + 1;
    loadedAt.set(
      group,
      Array.from({ length: partitions }, (_, partition) => landed.get(partition)?.next ?? 0),
    );
    return true;
  };

  /** Seconds since the first look at which the log had something that is not in the tables now. */
  const lagOf = async (group: SourceGroup, landed: ReadonlyMap<number, Landed>, now: number): Promise<number> => {
    const mark = marks.get(group);
    if (mark !== undefined && !covers(landed, mark.ends)) return Math.max(0, Math.floor((now - mark.atMs) / 1000));
    marks.set(group, { atMs: now, ends: await endsOf(log, sourceGroups[group].topic) });
    return 0;
  };

  const sourceState = async (group: SourceGroup, landed: ReadonlyMap<number, Landed>, now: number) => {
    const { topic, source, inOrder } = sourceGroups[group];
    const target = await targetOf(group);
    const loaded = target !== undefined && isLoaded(group, landed, () => covers(landed, target));
    const position = nextOf(landed);
    const ends = target ?? (await heldBy(log, topic));
    const held = sum(ends);
    const announced = target === undefined ? (sources.get(source)?.progress ?? null) : 1;
    const share = announced === null ? null : announced * part(position, held);
    const byTime = [...landed.values()].map(({ timeMs }) => timeMs);
    const isThere = ends.every((end, partition) => end === 0 || landed.has(partition));
    const throughMs = inOrder && isThere && byTime.length > 0 ? Math.min(...byTime) : null;
    const block = source === 'chain' ? Number(landed.get(0)?.key ?? Number.NaN) : Number.NaN;
    const state: GroupState = {
      table: group,
      state: loaded ? 'loaded' : position === 0 ? 'empty' : 'loading',
      position,
      target: target === undefined ? null : held,
      percent: loaded ? 100 : share === null ? null : Math.min(99, Math.floor(share * 100)),
      // The last block may have more records than have landed.
      throughBlock: Number.isSafeInteger(block) && position > 0 ? block - 1 : null,
      throughMs,
      lagS: loaded ? await lagOf(group, landed, now) : 0,
    };
    return state;
  };

  const look = async (): Promise<Loading> => {
    const now = nowMs();
    const [rows, pictures] = await Promise.all([
      tables.rows<SinkProgressRow>(sinkProgressSql),
      tables.rows<PictureRow>(pictureSql),
    ]);
    const bySink = landedFrom(rows);
    const landedOf = (sink: string) => bySink.get(sink) ?? none;
    const sourceStates = await Promise.all(
      (Object.keys(sourceGroups) as SourceGroup[]).map((group) =>
        sourceState(group, landedOf(sourceGroups[group].sink), now),
      ),
    );

    const chainEnd = targets.get('chain')?.[0];
    const allDerived = (['positions', 'pnl'] as const).every((group) => loadedAt.has(group));
    const lastChain = (await log.lastRecord(sourceGroups.fills.topic.name, 0))?.offset ?? -1;
    await derived.advance(landedOf, now, allDerived && derived.roundStartedMs() === null ? lastChain + 1 : 0);
    const shares = allDerived ? undefined : await derived.share(landedOf, chainEnd ?? lastChain + 1);
    const chainShare = chainEnd === undefined ? (sources.get('chain')?.progress ?? null) : 1;
    const derivedState = (group: DerivedGroup): GroupState => {
      const landed = landedOf(derivedGroups[group].sink);
      const before = loadedAt.get(group);
      if (before !== undefined && !covers(landed, before)) derived.forget();
      const through = derived.through(group);
      const reached = () => chainEnd !== undefined && (chainEnd === 0 || (through?.offset ?? 0) >= chainEnd);
      const loaded = isLoaded(group, landed, reached);
      const share = shares === undefined || chainShare === null ? null : shares[group] * chainShare;
      const position = nextOf(landed);
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
    const derivedStates = [derivedState('positions'), derivedState('pnl')];

    const below = [...sourceStates, ...derivedStates];
    sawLoading ??=
      sourceStates.some(({ position, target }) => target === null || part(position, target) < NEARLY_ALL) ||
      Object.values(shares ?? {}).some((share) => share < NEARLY_ALL);
    if (below.every(({ state }) => state === 'loaded')) allLoadedMs ??= now;
    else allLoadedMs = null;
    const takenMs = Number(pictures[0]?.taken_ms ?? 0);
    const pictured = allLoadedMs !== null && takenMs > 0 && (!sawLoading || takenMs >= allLoadedMs);
    const leaderboards: GroupState = {
      table: 'leaderboards',
      state: pictured ? 'loaded' : Number(pictures[0]?.ranked ?? 0) === 0 ? 'empty' : 'loading',
      position: takenMs > 0 ? 1 : 0,
      target: 1,
      percent: pictured ? 100 : Math.min(99, ...below.map(({ percent }) => percent ?? 0)),
      throughBlock: null,
      throughMs: takenMs > 0 ? takenMs : null,
      lagS: 0,
    };

    const all = [...below, leaderboards];
    const groups = Object.fromEntries(all.map((group) => [group.table, group])) as Loading['groups'];
    current = { groups, ready: all.every(({ state }) => state === 'loaded') };
    return current;
  };

  return {
    current: () => current,
    look,
    async run(signal) {
      const startedMs = nowMs();
      while (!signal.aborted) {
        await look().catch((error: unknown) => deps.logger.debug({ err: error }, 'cannot tell how far the tables are'));
        const whileLoading = nowMs() - startedMs > LONG_MS ? LOOK_WHEN_LONG_MS : LOOK_MS;
        const waitMs = current?.ready === true ? LOOK_WHEN_READY_MS : whileLoading;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(end, waitMs);
          signal.addEventListener('abort', end, { once: true });
          function end() {
            clearTimeout(timer);
            signal.removeEventListener('abort', end);
            resolve();
          }
        });
      }
    },
  };
}
