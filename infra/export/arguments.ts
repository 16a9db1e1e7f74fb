import { parseArgs } from 'node:util';
import { UsageError } from '../command-line.js';
import { type DatasetName, datasetNames } from './datasets.js';

export const formats = { parquet: 'Parquet', csv: 'CSVWithNames' } as const;
export type ExportFormat = keyof typeof formats;

export interface ExportArguments {
  readonly dataset: DatasetName;
  /** Unix seconds; inclusive. */
  readonly fromS: number;
  /** Unix seconds; exclusive. null: the last UTC midnight up to which the chain is indexed, so that repeated exports have the same files. */
  readonly toS: number | null;
  readonly format: ExportFormat;
  /** Directory of the files. */
  readonly out: string;
  /** Export although no processors respond. */
  readonly force: boolean;
}

export const usageText = `Usage: npm run export -- <dataset> --from <time> [--to <time>] [--format parquet|csv] [--out <directory>] [--force]

  dataset   ${datasetNames.join(', ')}: the rows of the view of that name (docs/SQL.md)
  --from    first day or time, UTC: 2026-03-22 or 2026-03-22T06:00:00Z
  --to      end, exclusive; default: the last complete UTC day
  --format  default parquet
  --out     directory, created if needed; default ./export
  --force   export although no processors respond on this machine, so that tables which still load go unnoticed

Writes one file per UTC day. Files that are already there are not written again: repeat an interrupted command to resume it.
Exit codes: 0 the span is written, 64 wrong usage, 75 the tables are not complete, or not indexed up to --to (what there is, is written), 78 configuration.`;

const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/;

function parseTime(option: string, text: string): number {
  const ms = TIME.test(text) ? Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text) : Number.NaN;
  // Date.parse accepts days such as 2026-02-30, which would be another day.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text.slice(0, 10))
    throw new UsageError(`${option} ${text}: use a UTC day (2026-03-22) or time (2026-03-22T06:00:00Z)`);
  return ms / 1000;
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        from: { type: 'string' },
        to: { type: 'string' },
        format: { type: 'string', default: 'parquet' },
        out: { type: 'string', default: 'export' },
        force: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Throws UsageError. */
export function parseExportArguments(args: readonly string[]): ExportArguments {
  const { positionals, values } = parsed(args);
  const [dataset, ...more] = positionals;
  if (dataset === undefined || !(datasetNames as string[]).includes(dataset) || more.length > 0)
    throw new UsageError(`Name one dataset: ${datasetNames.join(', ')}`);
  const { from, to, format, out, force } = values;
  if (from === undefined) throw new UsageError('--from is missing: the first day, for example --from 2026-03-22');
  if (!Object.hasOwn(formats, format))
    throw new UsageError(`--format ${format}: use ${Object.keys(formats).join(' or ')}`);
  const fromS = parseTime('--from', from);
  const toS = to === undefined ? null : parseTime('--to', to);
  if (toS !== null && toS <= fromS) throw new UsageError('--to must be after --from');
  return { dataset: dataset as DatasetName, fromS, toS, format: format as ExportFormat, out, force };
}
