/** The rooms' own tests import it from infra/clickhouse/testing.ts; see there. */
export { startTestClickHouse, type TestClickHouse } from '../../infra/clickhouse/testing.js';
