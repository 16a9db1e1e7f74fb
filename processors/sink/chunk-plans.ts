import { FatalError } from '../../infra/errors.js';
import type { GroupOwnership, Log, LogRecord, NewRecord } from '../../infra/log/port.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { ChunkPlan } from '../../schemas/types.gen.js';
import type { OffsetRange } from './chunk-journal.js';
import type { SinkDefinition } from './sink-definition.js';

/** A decided range, and where the one before it ended (null: it is the first). */
export interface PlannedChunk extends OffsetRange {
  readonly previousLastOffset: number | null;
}

export interface ChunkPlans {
  /** The newest decision that the log holds; a running sink may add one at any time. */
  newest(): Promise<PlannedChunk | null>;
  /** The same, and nobody else can add one after this. Call it once, first. */
  acquireOwnership(): Promise<PlannedChunk | null>;
  /**
   * Decide: the plan, its dead letters and the sink's position land in one step. Rejects with FencedError when another process took the sink
   * over; nothing may be inserted then.
   */
  commit(plan: PlannedChunk, deadLetters: readonly NewRecord[]): Promise<void>;
  /** Resolves when no other process has taken the sink over, as the log said `maxAgeMs` ago at most; 0 asks it now. */
  confirmOwnership(plan: PlannedChunk, maxAgeMs?: number): Promise<void>;
}

/**
 * A table forgets a token after 1000 newer inserts, for a busy sink several minutes. A process that was suspended for longer must not insert
 * what it decided before, so it asks whether the sink is still its own.
 */
const OWNERSHIP_MAX_AGE_MS = 5_000;
/** Records that are looked through at once for a readable plan. */
const LOOKBACK_RECORDS = 1_000;

/** The plans of one sink: records of `family.plans`, written under a claim of the sink's group. */
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

  /** The last record, or the last readable one before it: what others wrote there is passed over. */
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
