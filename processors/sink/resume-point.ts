import { FatalError } from '../../infra/errors.js';
import type { OffsetRange } from './chunk-journal.js';
import type { PlannedChunk } from './chunk-plans.js';

/** Position from which a sink resumes. */
export interface ResumePoint {
  /** The newest planned chunk, whose rows may be partly in the tables: it is inserted again unless it is known to be complete. null: no chunk was ever planned. */
  readonly chunk: PlannedChunk | null;
  /** False when the tables were emptied, restored from a backup or filled by a version that kept its plans only in the tables. */
  readonly consistent: boolean;
}

/**
 * Resume point of a sink from its newest plan in the log and its newest row in `chunks`: the planned chunk, which `chunks` may not contain
 * yet; if the two are inconsistent, the newest range in `chunks`. Sinks and the rebuild use no other source. Throws FatalError when `chunks` is ahead of the
 * plans, which precede its rows: the log is older than the tables, and what it got since at the same offsets may be other records.
 */
export function resumePoint(planned: PlannedChunk | null, recorded: OffsetRange | null): ResumePoint {
  const fromTables = recorded === null ? null : { ...recorded, previousLastOffset: null };
  if (planned === null) return { chunk: fromTables, consistent: true };
  const knownLast = recorded?.lastOffset ?? null;
  if (knownLast !== null && knownLast > planned.lastOffset)
    throw new FatalError(
      `The tables contain offsets up to ${knownLast}, the newest chunk plan of the log ends at ${planned.lastOffset}: they do not belong together. Restore log and tables of the same time, or fill an empty database`,
    );
  const consistent = knownLast === planned.lastOffset || knownLast === planned.previousLastOffset;
  return { chunk: consistent ? planned : fromTables, consistent };
}
