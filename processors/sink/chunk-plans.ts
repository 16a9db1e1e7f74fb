import { FatalError } from '../../infra/errors.js';
import type { GroupOwnership, Log, LogRecord, NewRecord } from '../../infra/log/port.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { ChunkPlan } from '../../schemas/types.gen.js';
import type { OffsetRange } from './chunk-journal.js';
import type { SinkDefinition } from './sink-definition.js';

/** A planned range, and the last offset of the previous one (null: this is the first). */
export interface PlannedChunk extends OffsetRange {
  readonly previousLastOffset: number | null;
}

export interface ChunkPlans {
  /** The newest plan in the log; a running sink may append another at any time. */
  newest(): Promise<PlannedChunk | null>;
  /** Fences other processes, then returns the newest plan. Must be called once, before the other methods. */
  acquireOwnership(): Promise<PlannedChunk | null>;
  /**
   * Commits the plan, its dead letters and the sink's position in one transaction. Rejects with FencedError when another process owns the
   * sink; the caller must not insert the range then.
   */
  commit(plan: PlannedChunk, deadLetters: readonly NewRecord[]): Promise<void>;
  /** Resolves when no other process has taken over the sink, according to a check at most `maxAgeMs` old; 0 checks now. */
  confirmOwnership(plan: PlannedChunk, maxAgeMs?: number): Promise<void>;
}

/**
 * A table forgets a deduplication token after 1000 newer inserts, which is several minutes for a busy sink. A process that was suspended for
 * longer must not insert its earlier plan, so it confirms its ownership before each insert.
 */
const OWNERSHIP_MAX_AGE_MS = 5_000;
/** Records per read while searching backwards for a readable plan. */
const LOOKBACK_RECORDS = 1_000;

/** The plans of one sink: records of `definition.plans`, written by the owner of the sink's consumer group. */
export function createChunkPlans(options: {
  definition: SinkDefinition;
  partition: number;
  log: Pick<Log, 'acquireOwnership' | 'lastRecord' | 'bounds' | 'read'>;
  codec: Codec;
  onUnreadable: OnUnreadable;
}): ChunkPlans {
  const { definition, partition, log, codec, onUnreadable } = options;
  const topic = definition.topic.name;
  const key = `${definition.name}-${topic}-${partition}`;
  const group = `sink-${key}`;
  let ownership: GroupOwnership | undefined;
  let confirmedAtMs = 0;

  const step = async (
    plan: PlannedChunk,
    outputs: { topic: string; records: readonly NewRecord[] }[],
  ): Promise<void> => {
    if (ownership === undefined) throw new FatalError(`${group} plans before it has taken the sink`);
    const startedAtMs = performance.now();
    await ownership.appendAndCommit({ outputs, offsets: [{ topic, partition, nextOffset: plan.lastOffset + 1 }] });
    confirmedAtMs = startedAtMs;
  };

  const planOf = (record: LogRecord): ChunkPlan | undefined => {
    const unreadable = (reason: string) =>
      onUnreadable({ topic: definition.plans.name, offset: record.offset }, reason);
    const event = record.value === null ? undefined : tryDecode(codec, record.value, unreadable);
    if (event?.kind === 'chunk_plan' && event.value.sink === definition.name && event.value.topic === topic)
      return event.value;
    if (event !== undefined) unreadable(`not a plan of ${key}`);
    return undefined;
  };

  /** The newest readable record of the partition; unreadable records are skipped. */
  const newestPlan = async (): Promise<ChunkPlan | undefined> => {
    const last = await log.lastRecord(definition.plans.name, partition);
    if (last === null) return undefined;
    const plan = planOf(last);
    if (plan !== undefined) return plan;
    const { earliest } = await log.bounds(definition.plans.name, partition);
    for (let to = last.offset; to > earliest; to -= LOOKBACK_RECORDS) {
      const offset = Math.max(earliest, to - LOOKBACK_RECORDS);
      const found: ChunkPlan[] = [];
      for await (const { records } of log.read({
        topic: definition.plans.name,
        partition,
        from: { offset },
        follow: false,
      }))
        for (const record of records) {
          const one = record.offset < to ? planOf(record) : undefined;
          if (one !== undefined) found.push(one);
        }
      if (found.length > 0) return found.at(-1);
    }
    return undefined;
  };

  const newest = async (): Promise<PlannedChunk | null> => {
    const plan = await newestPlan();
    if (plan === undefined) return null;
    return {
      firstOffset: plan.first_offset,
      lastOffset: plan.last_offset,
      previousLastOffset: plan.previous_last_offset,
    };
  };

  return {
    newest,
    async acquireOwnership() {
      const startedAtMs = performance.now();
      ownership = await log.acquireOwnership(group);
      confirmedAtMs = startedAtMs;
      return newest();
    },
    async commit(plan, deadLetters) {
      const now = Date.now();
      const value = codec.encode('chunk_plan', {
        sink: definition.name,
        topic,
        partition,
        first_offset: plan.firstOffset,
        last_offset: plan.lastOffset,
        previous_last_offset: plan.previousLastOffset,
        planned_at_ms: now,
      });
      await step(plan, [
        { topic: definition.plans.name, records: [{ key, value, timestampMs: now, partition }] },
        ...(deadLetters.length > 0 ? [{ topic: topics.deadLetters.name, records: deadLetters }] : []),
      ]);
    },
    async confirmOwnership(plan, maxAgeMs = OWNERSHIP_MAX_AGE_MS) {
      if (performance.now() - confirmedAtMs >= maxAgeMs) await step(plan, []);
    },
  };
}
