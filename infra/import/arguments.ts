import { parseArgs } from 'node:util';
import { UsageError } from '../command-line.js';

export interface ImportArguments {
  /** Directory with exported files. */
  readonly folder: string;
  /** Directory of the recorded source. */
  readonly out: string;
}

export const usageText = `Usage: npm run import -- <directory> [--out <directory>]

  directory  files that npm run export has written, Parquet or CSV: trade_parties, redemptions, splits_merges, resolutions, ticks
  --out      directory of the recorded source, created if needed; default ./imported

Then: RECORDED_DIR=imported ODDSTREAM_DATA=imported-data npm start`;

/** Throws UsageError. */
export function parseImportArguments(args: readonly string[]): ImportArguments {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { out: { type: 'string', default: 'imported' } },
    });
    const [folder, ...more] = positionals;
    if (folder === undefined || more.length > 0) throw new UsageError('Name one directory with exported files');
    return { folder, out: values.out };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(error instanceof Error ? error.message : String(error));
  }
}
