/** A position in the stream of one log. */
export interface Cursor {
  readonly epoch: string;
  readonly seq: number;
}

const cursorPattern = /^([0-9a-f]{16}):(\d{1,15})$/;

export function parseCursor(text: string): Cursor | null {
  const [, epoch, seq] = cursorPattern.exec(text) ?? [];
  return epoch === undefined || seq === undefined ? null : { epoch, seq: Number(seq) };
}
