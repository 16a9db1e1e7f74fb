import { FatalError } from '../../infra/errors.js';
import type { GroupClaim, Log, LogRecord, NewRecord } from '../../infra/log/port.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { ChunkPlan } from '../../schemas/types.gen.js';
import type { OffsetRange } from './chunk-journal.js';
import type { Family } from './family.js';

/** A decided range, and where the one before it ended (null: it is the first). */
export interface Plan extends OffsetRange {
  readonly previousLastOffset: number | null;
}

export interface ChunkPlans {
  /** The newest decision that the log holds; a running sink may add one at any time. */
  newest(): Promise<Plan | null>;
  /** The same, and nobody else can add one after this. Call it once, first. */
  take(): Promise<Plan | null>;
  /**
   * Decide: the plan, its dead letters and the sink's position land in one step. Rejects with FencedError when another process took the sink
   * over; nothing may be inserted then.
   */
  decide(plan: Plan, deadLetters: readonly NewRecord[]): Promise<void>;
  /** Resolves when no other process has taken the sink over, as the log said `maxAgeMs` ago at most; 0 asks it now. */
  confirm(plan: Plan, maxAgeMs?: number): Promise<void>;
}

/**
 * A table forgets a token after 1000 newer inserts, for a busy sink several minutes. A process that was suspended for longer must not insert
 * what it decided before, so it asks whether the sink is still its own.
 */
const CONFIRM_AFTER_MS = 5_000;
/** Records that are looked through at once for a readable plan. */
const LOOK_BACK = 1_000;

/** The plans of one sink: records of `family.plans`, written under a claim of the sink's group. */
export function createChunkPlans(options: {
  family: Family;
  partition: number;
  log: Pick<Log, 'claim' | 'lastRecord' | 'bounds' | 'read'>;
  codec: Codec;
  onUnreadable: OnUnreadable;
}): ChunkPlans {
  const { family, partition, log, codec, onUnreadable } = options;
  const topic = family.topic.name;
  const key = `${family.name}-${topic}-${partition}`;
  const group = `sink-${key}`;
  let claim: GroupClaim | undefined;
  let provenAtMs = 0;

  const step = async (plan: Plan, outputs: { topic: string; records: readonly NewRecord[] }[]): Promise<void> => {
    if (claim === undefined) throw new FatalError(`${group} plans before it has taken the sink`);
    const startedAtMs = performance.now();
    await claim.appendAndCommit({ outputs, positions: [{ topic, partition, nextOffset: plan.lastOffset + 1 }] });
    provenAtMs = startedAtMs;
  };

  const planOf = (record: LogRecord): ChunkPlan | undefined => {
    const unreadable = (reason: string) => onUnreadable({ topic: family.plans.name, offset: record.offset }, reason);
    const event = record.value === null ? undefined : tryDecode(codec, record.value, unreadable);
    if (event?.kind === 'chunk_plan' && event.value.sink === family.name && event.value.topic === topic)
      return event.value;
    if (event !== undefined) unreadable(`not a plan of ${key}`);
    return undefined;
  };

  /** The last record, or the last readable one before it: what others wrote there is passed over. */
  const newestPlan = async (): Promise<ChunkPlan | undefined> => {
    const last = await log.lastRecord(family.plans.name, partition);
    if (last === null) return undefined;
    const plan = planOf(last);
    if (plan !== undefined) return plan;
    const { earliest } = await log.bounds(family.plans.name, partition);
    for (let to = last.offset; to > earliest; to -= LOOK_BACK) {
      const offset = Math.max(earliest, to - LOOK_BACK);
      const found: ChunkPlan[] = [];
      for await (const { records } of log.read({
        topic: family.plans.name,
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

  const newest = async (): Promise<Plan | null> => {
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
    async take() {
      const startedAtMs = performance.now();
      claim = await log.claim(group);
      provenAtMs = startedAtMs;
      return newest();
    },
    async decide(plan, deadLetters) {
      const now = Date.now();
      const value = codec.encode('chunk_plan', {
        sink: family.name,
        topic,
        partition,
        first_offset: plan.firstOffset,
        last_offset: plan.lastOffset,
        previous_last_offset: plan.previousLastOffset,
        planned_at_ms: now,
      });
      await step(plan, [
        { topic: family.plans.name, records: [{ key, value, timestampMs: now, partition }] },
        ...(deadLetters.length > 0 ? [{ topic: topics.deadLetters.name, records: deadLetters }] : []),
      ]);
    },
    async confirm(plan, maxAgeMs = CONFIRM_AFTER_MS) {
      if (performance.now() - provenAtMs >= maxAgeMs) await step(plan, []);
    },
  };
}
