/** Place of a log in the chain's own order. */
export interface ChainPosition {
  readonly blockNumber: number;
  readonly logIndex: number;
}

const CURSOR = /^(\d{1,15})-(\d{1,9})$/;

/** `<block>-<log index>`. */
export const formatCursor = (position: ChainPosition): string => `${position.blockNumber}-${position.logIndex}`;

/** The position of a cursor's text, or null. */
export function parseCursor(text: string): ChainPosition | null {
  const match = CURSOR.exec(text);
  return match === null ? null : { blockNumber: Number(match[1]), logIndex: Number(match[2]) };
}

/** Anything read from a table in chain order. */
export interface Placed {
  readonly block_number: number | string;
  readonly log_index: number | string;
}

export const positionOf = (row: Placed): ChainPosition => ({
  blockNumber: Number(row.block_number),
  logIndex: Number(row.log_index),
});
