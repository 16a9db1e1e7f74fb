/** Re-export for tests; unit tests of the layers import infra/clickhouse/testing.ts. */
export { startTestClickHouse, type TestClickHouse } from '../../infra/clickhouse/testing.js';
