import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RetryableError } from '../../errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { isProcessAlive } from '../process-alive.js';
import { dropUnusedTokens } from './deduplication-logs.js';
import { loadNative, type NativeConnection, type NativeEngine, type NativeResult } from './native.js';
import { setClause } from './sql-text.js';

/** One private connection with its own settings, parameters, current database and temporary tables. One query at a time. */
export interface EngineSession {
  /** Part of the `log_comment` of every query on this session; `kill` finds them by it. */
  readonly label: string;
  run(sql: string, format?: string): Promise<NativeResult>;
  /** Must not be called while a query runs on the session; throws then. */
  close(): void;
}

export interface Engine {
  readonly version: string;
  /** Content-Type of every output format, by name. */
  readonly contentTypes: ReadonlyMap<string, string>;
  /** A fresh session with the base settings. */
  session(): Promise<EngineSession>;
  /** Requests the engine to stop the query that runs on the session; the query then fails with code 394. */
  kill(session: EngineSession): Promise<void>;
  queryText(sql: string, format?: string): Promise<string>;
  close(): Promise<void>;
}

export interface EngineOptions {
  readonly directory: string;
  /** Tracked memory of the engine, all queries together. Resident memory is about 250 MB more. */
  readonly memoryBytes: number;
  /** Added to the total for analysts' queries, so that these do not use the product's memory. */
  readonly analystBytes?: number;
  readonly logger: Logger;
}

/** Sessions opened in advance, so that a request does not wait for its SET. */
const PREOPENED_SESSIONS = 4;

/**
 * Settings that the engine accepts from a file only.
 * - It keeps parts that a merge has replaced until a table has 150 of them, at the latest five minutes: with our 46 tables thousands, of some 16 kB
 *   of memory each.
 * - It deletes and loads parts with up to 128 threads, which it keeps.
 * - It writes backups nowhere: here BACKUP ... TO File('name') of an owner writes to the folder `backups` of its directory.
 */
const CONFIG = `<clickhouse>
  <max_parts_cleaning_thread_pool_size>2</max_parts_cleaning_thread_pool_size>
  <max_active_parts_loading_thread_pool_size>4</max_active_parts_loading_thread_pool_size>
  <max_outdated_parts_loading_thread_pool_size>2</max_outdated_parts_loading_thread_pool_size>
  <merge_tree>
    <max_cleanup_delay_period>30</max_cleanup_delay_period>
  </merge_tree>
  <backups>
    <allowed_path>backups</allowed_path>
  </backups>
</clickhouse>
`;

function writeConfig(directory: string): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'oddstream.xml');
  writeFileSync(path, CONFIG, { mode: 0o600 });
  return path;
}

/**
 * Opens chDB on a directory; only one process may have it open. Every session gets the settings that make the embedded engine behave like a
 * server (`implicit_select` and introspection functions off, UTC) and bound its memory. Throws RetryableError as `openNativeConnection` does.
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { directory, memoryBytes, logger } = options;
  const native = loadNative();
  const megabyte = 1024 * 1024;
  const perQuery = Math.floor(memoryBytes * 0.75);
  const baseSettings: Readonly<Record<string, string>> = {
    implicit_select: '0',
    allow_introspection_functions: '0',
    session_timezone: 'UTC',
    max_threads: '2',
    max_insert_threads: '1',
    max_memory_usage: String(perQuery),
    max_bytes_before_external_group_by: String(Math.floor(perQuery / 2)),
    max_bytes_before_external_sort: String(Math.floor(perQuery / 2)),
    input_format_parallel_parsing: '0',
    output_format_parallel_formatting: '0',
    // Compiling the expressions of one statement takes up to 0.6 s of a core and saves a tenth to a third of its time: for statements that run often.
    min_count_to_compile_expression: '50',
    min_count_to_compile_aggregate_expression: '50',
    min_count_to_compile_sort_description: '50',
    // Files are in the page cache most of the time: a pool of reader threads only adds overhead.
    local_filesystem_read_method: 'pread',
  };
  const connectionArgs = [
    `--config-file=${writeConfig(directory)}`,
    `--max_server_memory_usage=${memoryBytes + (options.analystBytes ?? 0)}`,
    `--mark_cache_size=${Math.floor(memoryBytes / 12.5)}`,
    `--primary_index_cache_size=${Math.floor(memoryBytes / 12.5)}`,
    `--index_mark_cache_size=${Math.floor(memoryBytes / 50)}`,
    `--query_condition_cache_size=${8 * megabyte}`,
    `--compiled_expression_cache_size=${8 * megabyte}`,
    '--background_pool_size=2',
  ];
  const connect = () => openNativeConnection(native, directory, connectionArgs);
  const namesOther = isOpenElsewhere(statusPid(directory));
  if (!namesOther) repairTokens(directory, logger);
  // Open until close(): the engine shuts down when its last connection closes.
  let anchor = connect();
  if (namesOther) {
    // It could be opened, so its last process has ended and another one has its pid, as is usual in containers, whose pids start from 1.
    native.CloseConnection(anchor);
    repairTokens(directory, logger);
    anchor = connect();
  }
  let counter = 0;
  let closed = false;

  async function open(): Promise<EngineSession> {
    counter += 1;
    const session = createEngineSession(native, native.CreateConnection(directory), `#${process.pid}-${counter}`);
    try {
      await session.run(setClause({ ...baseSettings, log_comment: session.label }));
    } catch (error) {
      session.close();
      throw error;
    }
    return session;
  }

  const preopened: Promise<EngineSession>[] = [];
  const refill = () => {
    while (!closed && preopened.length < PREOPENED_SESSIONS) {
      const next = open();
      next.catch((error) => logger.error({ err: error }, 'cannot open an engine session'));
      preopened.push(next);
    }
  };
  async function takeSession(): Promise<EngineSession> {
    // A connection would open the engine again.
    if (closed) throw new RetryableError('The engine is closed.');
    const ready = preopened.shift();
    setImmediate(refill);
    return ready === undefined ? open() : ready.catch(() => open());
  }
  const texts = new Set<Promise<string>>();
  function queryText(sql: string, format = 'TabSeparated'): Promise<string> {
    const text = (async () => {
      const session = await takeSession();
      try {
        return Buffer.from((await session.run(sql, format)).bytes).toString('utf8');
      } finally {
        session.close();
      }
    })().finally(() => texts.delete(text));
    texts.add(text);
    return text;
  }

  const version = (await queryText('SELECT version()')).trim();
  const types = (
    await queryText("SELECT name, content_type FROM system.formats WHERE is_output AND content_type != ''")
  ).trimEnd();
  const contentTypes = new Map(types.split('\n').map((line) => line.split('\t') as [string, string]));

  return {
    version,
    contentTypes,
    session: takeSession,
    queryText,
    kill: async (session) => {
      await queryText(`KILL QUERY WHERE endsWith(Settings['log_comment'], '${session.label}') ASYNC`);
    },
    close: async () => {
      closed = true;
      // The engine shuts down when its last connection closes, not before.
      await Promise.allSettled(texts);
      for (const session of await Promise.allSettled(preopened))
        if (session.status === 'fulfilled') session.value.close();
      native.CloseConnection(anchor);
    },
  };
}

/** The process that the engine's status file names; 0 if there is none. The engine removes the file when it closes. */
function statusPid(directory: string): number {
  const status = join(directory, 'status');
  return existsSync(status) ? Number(/^PID: (\d+)/m.exec(readFileSync(status, 'utf8'))?.[1]) : 0;
}

const isOpenElsewhere = (pid: number): boolean => pid > 0 && pid !== process.pid && isProcessAlive(pid);

/** Makes inserts repeatable that the last process did not finish: it was killed, or the insert failed after its token was written. */
function repairTokens(directory: string, logger: Logger): void {
  for (const { table, part } of dropUnusedTokens(directory))
    logger.warn({ table, part }, 'dropped the deduplication token of an unfinished insert');
}

/**
 * Throws RetryableError while another process has the directory open (it may be the predecessor that still ends), and when the engine cannot
 * open it: a full disk or lack of memory may be temporary.
 */
function openNativeConnection(native: NativeEngine, directory: string, args: readonly string[]): NativeConnection {
  try {
    return native.CreateConnection(directory, args);
  } catch (error) {
    const pid = statusPid(directory);
    if (isOpenElsewhere(pid)) {
      throw new RetryableError(`${directory} is in use by process ${pid}.`, { cause: error });
    }
    throw new RetryableError(`The engine cannot open ${directory}; it says why on standard error.`, { cause: error });
  }
}

function createEngineSession(native: NativeEngine, connection: NativeConnection, label: string): EngineSession {
  let busy = 0;
  let open = true;
  return {
    label,
    run: async (sql, format = 'TabSeparated') => {
      busy += 1;
      try {
        return await native.QueryAsyncConnection(connection, sql, format);
      } finally {
        busy -= 1;
      }
    },
    close: () => {
      if (!open) return;
      if (busy > 0) throw new Error('an engine session was closed while a query ran on it');
      open = false;
      native.CloseConnection(connection);
    },
  };
}
