import type { ChunkJournal, OffsetRange } from './chunk-journal.js';
import type { ChunkPlans, PlannedChunk } from './chunk-plans.js';

/** How far a sink is. */
export interface ResumePoint {
  /** The newest chunk, whose rows may be in the tables in part: to be inserted again. null: nothing was ever decided. */
  readonly chunk: PlannedChunk | null;
  /** False when the tables were emptied, restored from a backup or filled by a version that decided in the tables alone. */
  readonly consistent: boolean;
}

/**
 * How far a sink is, from its newest decision in the log and its newest row in `chunks`: the decided chunk, which the tables may not know of
 * yet, unless the tables are elsewhere; then what they know. Sinks and the rebuild go on from this alone.
 */
export function resumePoint(decided: PlannedChunk | null, known: OffsetRange | null): ResumePoint {
  const fromTables = known === null ? null : { ...known, previousLastOffset: null };
  if (decided === null) return { chunk: fromTables, consistent: true };
  const knownLast = known?.lastOffset ?? null;
  const consistent = knownLast === decided.lastOffset || knownLast === decided.previousLastOffset;
  return { chunk: consistent ? decided : fromTables, consistent };
}

/** How far a sink is, without taking it over: for a reader that knows that no sink runs. */
export async function readResumePoint(
  plans: Pick<ChunkPlans, 'newest'>,
  journal: Pick<ChunkJournal, 'newest'>,
): Promise<ResumePoint> {
  return resumePoint(await plans.newest(), await journal.newest());
}
