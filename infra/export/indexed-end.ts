import { type DatasetName, datasets } from './datasets.js';
import type { ExportDatabase } from './exporter.js';

/**
 * Unix seconds before which the chain is indexed: the second after that of the last indexed block, 0 without one. It is not the newest row of the dataset,
 * because days can pass between two of its rows. Ticks have no block: their newest one counts where it is later.
 */
export async function indexedEndS(database: ExportDatabase, dataset: DatasetName): Promise<number> {
  const { time, coverage } = datasets[dataset];
  const endOf = (column: string, from: string) =>
    `SELECT if(count() = 0, 0, toUInt64(assumeNotNull(toUnixTimestamp(max(${column})))) + 1) AS end_s FROM ${from}`;
  const ends = [
    endOf('last_at', `${database.name}.coverage WHERE source = 'blocks' AND records > 0`),
    ...(coverage === null ? [endOf(time, `${database.name}.${dataset}`)] : []),
  ];
  const [row] = await database.query<{ s: string }>(
    `SELECT toString(max(end_s)) AS s FROM (${ends.join(' UNION ALL ')})`,
    {},
  );
  return Number(row?.s ?? 0);
}
