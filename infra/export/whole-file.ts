import { open } from 'node:fs/promises';
import type { ExportFormat } from './arguments.js';

const PARQUET_MARK = 'PAR1';
/** Both marks and the length of the footer. */
const SMALLEST_PARQUET = 12;

/** Whether an exported file begins and ends as a whole one. A CSV file that is cut after a row cannot be distinguished from a whole one. */
export async function isWholeFile(path: string, format: ExportFormat): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const textAt = async (length: number, from: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, Math.max(0, from));
      return buffer.toString('latin1', 0, bytesRead);
    };
    if (format === 'csv') return (await textAt(1, size - 1)) === '\n';
    return (
      size >= SMALLEST_PARQUET &&
      (await textAt(PARQUET_MARK.length, 0)) === PARQUET_MARK &&
      (await textAt(PARQUET_MARK.length, size - PARQUET_MARK.length)) === PARQUET_MARK
    );
  } finally {
    await file.close();
  }
}
