import type { ClickHouse } from '../../infra/clickhouse/client.js';

/**
 * The subset of the ClickHouse client that sinks use. Connection failures reject with RetryableError; any other error is a rejection by the
 * server. An insert with a token that the table already knows has no effect, in tables fed by materialized views too.
 */
export type TableStore = Pick<ClickHouse, 'query' | 'insertBytes'> & Partial<Pick<ClickHouse, 'syncReplica'>>;

/**
 * Insert format of sinks: no text is formatted here and parsed there. Names and types of the columns precede the rows, so that the server rejects the rows of
 * a process of another version, whose types differ, and does not store misread bytes.
 */
export const SINK_FORMAT = 'RowBinaryWithNamesAndTypes';
