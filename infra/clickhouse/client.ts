import { Readable } from 'node:stream';
import { ClickHouseError, ClickHouseLogLevel, type ClickHouseSettings, createClient } from '@clickhouse/client';
import { FatalError, RetryableError } from '../errors.js';
import type { Logger } from '../telemetry/logger.js';
import { ddlFor } from './cluster-ddl.js';
import { parseRows } from './rows.js';

export type QueryParams = Readonly<Record<string, unknown>>;

export interface QueryOptions {
  readonly settings?: ClickHouseSettings;
  readonly signal?: AbortSignal;
  readonly queryId?: string;
}

export interface InsertOptions {
  /** An insert with a token that was used before has no effect on the table and on the targets of its materialized views. */
  readonly dedupToken?: string;
  readonly settings?: ClickHouseSettings;
  /** Columns of the rows; default: all columns of the table. */
  readonly columns?: readonly string[];
}

/**
 * A ClickHouse client. SQL takes values as `{name:Type}` from `params` only. Decimals and integers of 64 bits or more are returned as
 * strings. Every method throws RetryableError when the server is unreachable or overloaded, and
 * ClickHouseError (with `code` and `type`) when it rejects the statement.
 */
export interface ClickHouse {
  readonly database: string;
  /** The cluster of the connected node; undefined for a single server. */
  readonly cluster?: string;
  /** Creates the connection's database on every node if it does not exist. */
  ensureDatabase(): Promise<void>;
  query<T>(sql: string, params?: QueryParams, options?: QueryOptions): Promise<T[]>;
  /** Streams rows at bounded memory. */
  stream<T>(sql: string, params?: QueryParams, options?: QueryOptions): AsyncGenerator<T, void, undefined>;
  /** A statement without rows: DDL, INSERT ... SELECT. */
  command(sql: string, params?: QueryParams, options?: QueryOptions): Promise<void>;
  /** Inserts one block: all of `rows` or none, and with a token exactly once. Bigints are written as decimal strings; Dates are not allowed. */
  insertRows(table: string, rows: readonly object[], options?: InsertOptions): Promise<void>;
  /** As insertRows, with rows already encoded, e.g. RowBinary or JSONEachRow. */
  insertBytes(table: string, format: string, data: Uint8Array, options?: InsertOptions): Promise<void>;
  /** In a cluster: waits until this node has the rows of the replicated table that other nodes have acknowledged. */
  syncReplica(table: string): Promise<void>;
  /** Throws RetryableError when the server does not respond. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface ClickHouseConfig {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly cluster?: string;
  /** Longest time without data from the server before a statement fails; default: five minutes. */
  readonly requestTimeoutMs?: number;
}

/** One insert = one block, so that one token covers all of its rows and their rows in the views. */
const SINGLE_BLOCK_SETTINGS: ClickHouseSettings = {
  max_insert_block_size: '100000000',
  min_insert_block_size_rows: '100000000',
  min_insert_block_size_bytes: '10000000000',
  input_format_parallel_parsing: 0,
  max_insert_threads: '1',
  async_insert: 0,
  // The insert is acknowledged when every shard has its rows; a single server ignores this.
  distributed_foreground_insert: 1,
};
/** A statement drops or empties only tables that the product can fill again or has copied: the server's limit of 50 GB guards those of people. */
const COMMAND_SETTINGS: ClickHouseSettings = { max_table_size_to_drop: '0', max_partition_size_to_drop: '0' };
/**
 * Codes caused by load, a full disk or a restart, not by the query: too many queries, memory, timeouts, no connection, no Keeper, a server
 * that shuts down, read-only replica, no space, a file that could not be written.
 */
const RETRYABLE_CODES = new Set([
  '75',
  '159',
  '202',
  '209',
  '210',
  '225',
  '236',
  '241',
  '242',
  '243',
  '252',
  '279',
  '285',
  '319',
  '394',
  '439',
  '999',
]);
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Creates a client; the first call connects. */
export function createClickHouse(config: ClickHouseConfig, deps: { logger: Logger }): ClickHouse {
  const { logger } = deps;
  const common = {
    url: config.url,
    username: config.user,
    password: config.password,
    // Every failure is thrown to the caller, which logs it once.
    log: { level: ClickHouseLogLevel.OFF },
  };
  const client = createClient({
    ...common,
    database: config.database,
    request_timeout: config.requestTimeoutMs ?? 300_000,
    max_open_connections: 16,
    // Below the server's keep-alive, so that the server never closes a socket while a request is written to it.
    keep_alive: { enabled: true, idle_socket_ttl: 2500 },
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
      date_time_input_format: 'best_effort',
    },
  });

  const call = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw translateError(error, what);
    }
  };
  const options = (extra: QueryOptions) => ({
    clickhouse_settings: extra.settings,
    abort_signal: extra.signal,
    query_id: extra.queryId,
  });
  const target = (table: string): string => {
    const parts = table.split('.');
    if (parts.length > 2 || !parts.every((part) => IDENTIFIER.test(part)))
      throw new FatalError(`Bad table name: ${table}`);
    return parts.map((part) => `\`${part}\``).join('.');
  };
  async function* stream<T>(
    sql: string,
    params: QueryParams = {},
    extra: QueryOptions = {},
  ): AsyncGenerator<T, void, undefined> {
    const result = await call('query', () =>
      client.query({ query: sql, query_params: { ...params }, format: 'JSONEachRow', ...options(extra) }),
    );
    try {
      for await (const rows of result.stream<T>()) {
        for (const row of rows) yield row.json<T>();
      }
    } catch (error) {
      throw translateError(error, 'query');
    } finally {
      result.close();
    }
  }
  async function insertBytes(
    table: string,
    format: string,
    data: Uint8Array,
    extra: InsertOptions = {},
  ): Promise<void> {
    if (!IDENTIFIER.test(format)) throw new FatalError(`Bad format name: ${format}`);
    const columns = extra.columns?.map((column) => {
      if (!IDENTIFIER.test(column)) throw new FatalError(`Bad column name: ${column}`);
      return `\`${column}\``;
    });
    const dedup: ClickHouseSettings =
      extra.dedupToken === undefined
        ? {}
        : { insert_deduplication_token: extra.dedupToken, deduplicate_blocks_in_dependent_materialized_views: 1 };
    const query = `INSERT INTO ${target(table)}${columns === undefined ? '' : ` (${columns.join(', ')})`} FORMAT ${format}`;
    await call(`insert into ${table}`, () =>
      post(query, data, { ...SINGLE_BLOCK_SETTINGS, ...dedup, ...extra.settings }),
    );
  }
  /** Sends rows as bytes: the client library's insert() would convert them to a string or a stream of rows. */
  async function post(query: string, data: Uint8Array, settings: ClickHouseSettings): Promise<void> {
    const result = await client.exec({
      query,
      values: Readable.from([data], { objectMode: false }),
      clickhouse_settings: settings,
    });
    for await (const rest of result.stream) logger.warn({ bytes: (rest as Buffer).length }, 'an insert returned rows');
  }

  const onCluster = ddlFor(config).onCluster;
  return {
    database: config.database,
    cluster: config.cluster,
    ensureDatabase: () =>
      call('create the database', async () => {
        const outside = createClient({ ...common, database: 'default' });
        try {
          const query = `CREATE DATABASE IF NOT EXISTS {name:Identifier}${onCluster}`;
          await outside.command({ query, query_params: { name: config.database } });
        } finally {
          await outside.close();
        }
      }),
    stream,
    insertBytes,
    query: <T>(sql: string, params: QueryParams = {}, extra: QueryOptions = {}) =>
      call('query', async () => {
        const result = await client.query({
          query: sql,
          query_params: { ...params },
          format: 'JSONEachRow',
          ...options(extra),
        });
        // Not result.json(): it passes each row through a pipeline of streams, which costs more than the parsing.
        return parseRows<T>(await result.text(), exceptionTagOf(result.response_headers));
      }),
    command: (sql, params = {}, extra = {}) =>
      call('command', async () => {
        const settings = { ...COMMAND_SETTINGS, ...extra.settings };
        await client.command({ query: sql, query_params: { ...params }, ...options({ ...extra, settings }) });
      }),
    insertRows: async (table, rows, extra = {}) => {
      if (rows.length === 0) return;
      const text = rows.map((row) => JSON.stringify(row, bigintAsText)).join('\n');
      await insertBytes(table, 'JSONEachRow', Buffer.from(`${text}\n`), extra);
    },
    syncReplica: (table) =>
      call(`sync the replica of ${table}`, async () => {
        if (config.cluster === undefined) return;
        await client.command({ query: `SYSTEM SYNC REPLICA ${target(table)} LIGHTWEIGHT` });
      }),
    ping: () =>
      call('ping', async () => {
        const result = await client.ping({ select: true });
        if (!result.success) throw result.error;
      }),
    close: () => client.close(),
  };
}

function exceptionTagOf(headers: Readonly<Record<string, unknown>>): string | undefined {
  const tag = headers['x-clickhouse-exception-tag'];
  return typeof tag === 'string' ? tag : undefined;
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/** RetryableError for a server that is unreachable, not ready or overloaded; the unchanged ClickHouseError for a rejected query. */
function translateError(error: unknown, what: string): unknown {
  if (error instanceof RetryableError || error instanceof FatalError) return error;
  if (error instanceof ClickHouseError) {
    if (!RETRYABLE_CODES.has(error.code)) return error;
    return new RetryableError(`ClickHouse cannot ${what} now: ${error.message}`, { cause: error });
  }
  if (error instanceof Error && error.name === 'AbortError') return error;
  const code = (error as { code?: unknown } | null)?.code;
  const message = error instanceof Error ? error.message : String(error);
  if (typeof code === 'string' || /socket|timeout|hang up|aborted|ECONN/i.test(message)) {
    return new RetryableError(`ClickHouse cannot be reached to ${what}: ${message}`, { cause: error });
  }
  // For a response that ClickHouse has not written, such as the error page of a proxy, the client throws a plain Error.
  if (error instanceof Error && error.constructor === Error)
    return new RetryableError(`A server other than ClickHouse responds to ${what}: ${message.slice(0, 200)}`, {
      cause: error,
    });
  return error;
}
