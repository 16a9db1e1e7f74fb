import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { hexText } from '../../infra/clickhouse/hex.js';

/** Content of a table, independent of row order and of insert batches: the newest version of each row, aggregate states as their final values. */
export interface Fingerprint {
  readonly rows: number;
  readonly hash: string;
}

/** SQL of the text of a row of the table: all of its columns, aggregate states as their final values, bytes as hex digits. */
export async function rowText(client: ClickHouse, table: string): Promise<string> {
  const columns = await client.query<{ name: string; type: string }>(
    'SELECT name, type FROM system.columns WHERE database = {database:String} AND table = {table:String} ORDER BY position',
    { database: client.database, table },
  );
  // Safe to interpolate: the names come from the server's list of columns.
  const values = columns.map(({ name, type }) => {
    if (type.startsWith('AggregateFunction(')) return `finalizeAggregation(\`${name}\`)`;
    return type.startsWith('FixedString(') ? hexText(`\`${name}\``) : `\`${name}\``;
  });
  return `toString(tuple(${values.join(', ')}))`;
}

/** Rows and hash of a table, read with FINAL. Two tables with the same rows have the same fingerprint. */
export async function fingerprint(client: ClickHouse, table: string): Promise<Fingerprint> {
  const text = await rowText(client, table);
  const [row] = await client.query<{ rows: string; hash: string }>(
    `SELECT toString(count()) AS rows, toString(sum(cityHash64(${text}))) AS hash FROM {table:Identifier} FINAL`,
    { table },
  );
  return { rows: Number(row?.rows ?? 0), hash: row?.hash ?? '0' };
}
