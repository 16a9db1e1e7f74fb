import { z } from 'zod';
import { setting } from './setting-doc.js';
import { flag, identifier, integer, port, serverUrl, urlWithCredentials } from './setting-types.js';

/** Environment variables of the log, the schema registry and ClickHouse. */
export const storageSettings = {
  LOG_URL: setting(
    z
      .string()
      .regex(/^(lmdb:.+|kafka:.+)$/, 'expected lmdb:<directory> or kafka://host:port[,host:port]')
      .optional(),
    'Log and schema registry',
    'Log engine: `lmdb:<dir>` on one machine, or `kafka://host:port[,host:port]`.',
    '`lmdb:<data>/log`',
  ),
  KAFKA_TLS: setting(
    flag,
    'Log and schema registry',
    'Whether connections to Kafka brokers are encrypted. Their certificates must be valid for the names in `LOG_URL` and in `advertised.listeners`; `NODE_EXTRA_CA_CERTS` names a file with further authorities.',
  ),
  KAFKA_USER: setting(
    z.string().optional(),
    'Log and schema registry',
    'User name at the Kafka brokers (SASL).',
    'none: connections without a user',
  ),
  KAFKA_PASSWORD: setting(z.string().optional(), 'Log and schema registry', 'Password of that user.', 'none'),
  KAFKA_PASSWORD_FILE: setting(
    z.string().optional(),
    'Log and schema registry',
    'File that contains `KAFKA_PASSWORD`.',
    'none',
  ),
  KAFKA_SASL_MECHANISM: setting(
    z.enum(['scram-sha-512', 'scram-sha-256', 'plain']).optional(),
    'Log and schema registry',
    'How the password is checked. `plain` sends it to the broker as it is, so it needs `KAFKA_TLS=1`.',
    '`scram-sha-512`',
  ),
  RAW_HISTORY_DAYS: setting(
    z.coerce.number().int().min(1).max(36_500).optional(),
    'Log and schema registry',
    'Complete UTC days for which the log keeps the chain, oracle prices, wallet activity and PnL events (`chain.final`, `oracle.ticks`, `wallet.activity`, `pnl.events`), and the table `ticks` its rows. Older records are deleted once every table has them; the other tables, positions and PnL keep all history, but can then no longer be rebuilt from the log.',
    'all history is kept',
  ),
  SCHEMA_REGISTRY_URL: setting(
    urlWithCredentials(/^https?$/, 'http(s)://host[:port][/path]').optional(),
    'Log and schema registry',
    'Base URL of a Confluent-compatible schema registry (Apicurio: ends in `/apis/ccompat/v7`). A log must always be used with the ids it was created with.',
    'ids of `schemas/registry.lock.json`',
  ),
  SCHEMA_REGISTRY_USER: setting(
    z.string().optional(),
    'Log and schema registry',
    'User name at the registry. Rejected without `SCHEMA_REGISTRY_URL`, as the password.',
    'none',
  ),
  SCHEMA_REGISTRY_PASSWORD: setting(
    z.string().optional(),
    'Log and schema registry',
    'Password at the registry.',
    'none',
  ),
  COPY_LOG_REGISTRY_USER: setting(
    z.string().optional(),
    'Log and schema registry',
    'User name at the registry that `npm run copy-log -- --to-registry` names.',
    'none',
  ),
  COPY_LOG_REGISTRY_PASSWORD: setting(
    z.string().optional(),
    'Log and schema registry',
    'Password of that user.',
    'none',
  ),
  CLICKHOUSE_URL: setting(
    serverUrl('CLICKHOUSE_DATABASE names the database').optional(),
    'ClickHouse',
    'HTTP URL of an external ClickHouse server, without a path or query. Set: the embedded one is not started.',
    'the embedded one',
  ),
  CLICKHOUSE_USER: setting(
    z.string().optional(),
    'ClickHouse',
    'User that owns the tables.',
    '`oddstream` on the embedded one, else `default`',
  ),
  CLICKHOUSE_PASSWORD: setting(
    z.string().optional(),
    'ClickHouse',
    'Password of that user.',
    'embedded: random, kept in `<data>/clickhouse-password`; else empty',
  ),
  CLICKHOUSE_DATABASE: setting(z.string().default('oddstream'), 'ClickHouse', 'Database of the internal tables.'),
  CLICKHOUSE_CLUSTER: setting(
    identifier.optional(),
    'ClickHouse',
    "Name of a cluster in the server's `remote_servers`: tables are then replicated and spread over its shards. Needs `CLICKHOUSE_URL`.",
    'a single server',
  ),
  CLICKHOUSE_EMBEDDED_HOST: setting(
    z.string().default('127.0.0.1'),
    'ClickHouse',
    'Address that the embedded ClickHouse binds to.',
  ),
  CLICKHOUSE_EMBEDDED_PORT: setting(port(8123), 'ClickHouse', 'Port of the embedded ClickHouse.'),
  CLICKHOUSE_EMBEDDED_MEMORY_MB: setting(
    integer(200, 1_000_000, 400),
    'ClickHouse',
    'Memory of its queries, merges and caches together. Analysts come on top (`ANALYST_QUERIES` x `ANALYST_MEMORY_MB`); resident memory is about 250 MB more.',
  ),
  COMPACTION_EVERY_S: setting(
    integer(0, 86_400, 600),
    'ClickHouse',
    'Interval at which tables with many parts are merged into one part (`OPTIMIZE FINAL`). 0: never, as always in a cluster.',
  ),
};
