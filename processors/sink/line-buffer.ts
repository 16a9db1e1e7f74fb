const FIRST_BYTES = 64 * 1024;
/** Largest number of UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Lines in one growing buffer. Encoding each line at once keeps its string short-lived: garbage collection of 20,000 retained strings costs
 * more than all other work on a chunk. Lines added since the last `keep` can be discarded.
 */
export class LineBuffer {
  private bytes: Buffer;
  private end = 0;
  private committed = 0;
  private uncommittedRows = 0;
  /** Number of retained lines. */
  rows = 0;

  constructor(expectedBytes = FIRST_BYTES) {
    this.bytes = Buffer.allocUnsafe(Math.max(expectedBytes, FIRST_BYTES));
  }

  add(line: string): void {
    const needed = this.end + line.length * MAX_BYTES_PER_UNIT;
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2));
      this.bytes.copy(larger, 0, 0, this.end);
      this.bytes = larger;
    }
    this.end += this.bytes.write(line, this.end, 'utf8');
    this.uncommittedRows += 1;
  }

  commit(): void {
    this.committed = this.end;
    this.rows += this.uncommittedRows;
    this.uncommittedRows = 0;
  }

  rollback(): void {
    this.end = this.committed;
    this.uncommittedRows = 0;
  }

  /** The retained lines. The buffer must not be written afterwards. */
  content(): Buffer {
    return this.bytes.subarray(0, this.committed);
  }
}
