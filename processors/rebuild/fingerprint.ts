import type { ClickHouse } from '../../infra/clickhouse/client.js';

/** What a table holds, independent of the order and of how rows came: the newest version of each row, states as the values they give. */
export interface Fingerprint {
  readonly rows: number;
  readonly hash: string;
}

/** Rows and hash of a table, read with FINAL. Two tables with the same rows have the same fingerprint. */
export async function fingerprint(client: ClickHouse, table: string): Promise<Fingerprint> {
  const columns = await client.query<{ name: string; type: string }>(
    'SELECT name, type FROM system.columns WHERE database = {database:String} AND table = {table:String} ORDER BY position',
    { database: client.database, table },
  );
  // Names come from the server's own list of columns.
  const values = columns.map(({ name, type }) =>
    type.startsWith('AggregateFunction(') ? `finalizeAggregation(\`${name}\`)` : `\`${name}\``,
  );
  const [row] = await client.query<{ rows: string; hash: string }>(
    `SELECT toString(count()) AS rows, toString(sum(cityHash64(toString(tuple(${values.join(', ')}))))) AS hash FROM {table:Identifier} FINAL`,
    { table },
  );
  return { rows: Number(row?.rows ?? 0), hash: row?.hash ?? '0' };
}
