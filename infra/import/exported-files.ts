import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../command-line.js';

/** Datasets that an import reads; all others are derived from them. */
export const importedDatasets = ['trade_parties', 'redemptions', 'splits_merges', 'resolutions', 'ticks'] as const;
export type ImportedDataset = (typeof importedDatasets)[number];

/** A file of `npm run export`; see `filesOf` there for the form of its name. */
export interface ExportedFile {
  readonly path: string;
  readonly dataset: ImportedDataset;
  readonly format: 'parquet' | 'csv';
  /** UTC day, `2026-04-05`: a file has rows of one day. */
  readonly day: string;
}

const NAME = /^([a-z_]+)_(\d{4})(\d{2})(\d{2})T\d{6}Z_\d{8}T\d{6}Z\.(parquet|csv)$/;

/** Exported files of a directory. Throws UsageError when it has none that can be imported. */
export function exportedFiles(folder: string): readonly ExportedFile[] {
  let names: string[];
  try {
    names = readdirSync(folder).sort();
  } catch {
    throw new UsageError(`${folder} is not a readable directory`);
  }
  const found = names.flatMap((name): ExportedFile[] => {
    const [, dataset, year, month, day, format] = NAME.exec(name) ?? [];
    if (!(importedDatasets as readonly (string | undefined)[]).includes(dataset)) return [];
    return [
      {
        path: join(folder, name),
        dataset: dataset as ImportedDataset,
        format: format as ExportedFile['format'],
        day: `${year}-${month}-${day}`,
      },
    ];
  });
  if (found.some(({ dataset }) => dataset === 'trade_parties' || dataset === 'ticks')) return found;
  throw new UsageError(
    names.some((name) => name.startsWith('trades_'))
      ? `${folder} has trades, which lack the takers' orders: export trade_parties`
      : `${folder} has no exported files of trade_parties or ticks`,
  );
}

/** Datasets without a file on a day that has trades; what the import lacks for that. */
export function missingDatasets(files: readonly ExportedFile[]): readonly string[] {
  const daysOf = (dataset: ImportedDataset) =>
    new Set(files.filter((file) => file.dataset === dataset).map(({ day }) => day));
  const traded = daysOf('trade_parties');
  const effects = {
    redemptions: 'redeemed positions stay open',
    splits_merges: 'shares that were split or merged are missing or stay',
    resolutions: 'markets stay unsettled',
  } as const;
  return Object.entries(effects).flatMap(([dataset, effect]) => {
    const days = daysOf(dataset as ImportedDataset);
    const without = [...traded].filter((day) => !days.has(day));
    return without.length === 0 ? [] : [`No file of ${dataset} for ${without.join(', ')}: ${effect}.`];
  });
}
