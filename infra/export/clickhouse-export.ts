import type { ClickHouseClient } from '@clickhouse/client';
import type { ExportDatabase } from './exporter.js';

/** The analysts' database `name` on a ClickHouse server. */
export const clickHouseExport = (client: ClickHouseClient, name: string): ExportDatabase => ({
  name,
  async query<T>(sql: string, params: Readonly<Record<string, unknown>>): Promise<T[]> {
    const result = await client.query({ query: sql, query_params: { ...params }, format: 'JSONEachRow' });
    return result.json<T>();
  },
  async stream(sql, params, format) {
    const result = await client.exec({ query: `${sql} FORMAT ${format}`, query_params: { ...params } });
    return result.stream;
  },
});
