/** Place of a log in the chain's own order. */
export interface LogPosition {
  readonly blockNumber: number;
  readonly logIndex: number;
}

const CURSOR = /^(\d{1,15})-(\d{1,9})$/;

/** `<block>-<log index>`. */
export const formatCursor = (position: LogPosition): string => `${position.blockNumber}-${position.logIndex}`;

/** The position of a cursor's text, or null. */
export function parseCursor(text: string): LogPosition | null {
  const match = CURSOR.exec(text);
  return match === null ? null : { blockNumber: Number(match[1]), logIndex: Number(match[2]) };
}

/** Anything read from a table in chain order. */
export interface LogPositionRow {
  readonly block_number: number | string;
  readonly log_index: number | string;
}

export const logPositionOf = (row: LogPositionRow): LogPosition => ({
  blockNumber: Number(row.block_number),
  logIndex: Number(row.log_index),
});
