import type { ClickHouse } from '../../infra/clickhouse/client.js';

/**
 * What sinks need of ClickHouse. Connection trouble is a RetryableError; anything else is the server's refusal. An insert under a token the
 * table knows already changes nothing, also in what materialized views feed.
 */
export type TableStore = Pick<ClickHouse, 'query' | 'insertBytes'> & Partial<Pick<ClickHouse, 'syncReplica'>>;

/** Sinks send this format: cheap to write and to parse, and typed by the columns it is sent for. */
export const SINK_FORMAT = 'TabSeparated';
