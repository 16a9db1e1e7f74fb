/** Position of a log in the chain's order: by block, then by index within the block. */
export interface LogPosition {
  readonly blockNumber: number;
  readonly logIndex: number;
}

const CURSOR = /^(\d{1,15})-(\d{1,9})$/;

/** Cursor text: `<block>-<log index>`. */
export const formatCursor = (position: LogPosition): string => `${position.blockNumber}-${position.logIndex}`;

/** Parses a cursor `<block>-<log index>`; null if it is malformed. */
export function parseCursor(text: string): LogPosition | null {
  const match = CURSOR.exec(text);
  return match === null ? null : { blockNumber: Number(match[1]), logIndex: Number(match[2]) };
}

/** Columns of a row that has a log position. */
export interface LogPositionRow {
  readonly block_number: number | string;
  readonly log_index: number | string;
}

export const logPositionOf = (row: LogPositionRow): LogPosition => ({
  blockNumber: Number(row.block_number),
  logIndex: Number(row.log_index),
});
