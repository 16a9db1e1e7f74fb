/** Position of a row in a periodic snapshot. */
export interface SnapshotPosition {
  /** Time of the snapshot, Unix milliseconds. */
  readonly takenAtMs: number;
  readonly rank: number;
}

const CURSOR = /^(\d{1,15})-(\d{1,9})$/;

/** Cursor text: `<snapshot time in ms>-<rank>`. */
export const formatSnapshotCursor = ({ takenAtMs, rank }: SnapshotPosition): string => `${takenAtMs}-${rank}`;

/** Parses a cursor `<snapshot time in ms>-<rank>`; null if it is malformed. */
export function parseSnapshotCursor(text: string): SnapshotPosition | null {
  const match = CURSOR.exec(text);
  return match === null ? null : { takenAtMs: Number(match[1]), rank: Number(match[2]) };
}

/** Error text for a page of a snapshot that was deleted after the first page. */
export const SNAPSHOT_EXPIRED =
  'snapshot expired: the snapshot of the first page is no longer retained; restart from the first page';
