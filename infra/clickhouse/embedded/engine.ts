import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RetryableError } from '../../errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { isProcessAlive } from '../process-alive.js';
import { loadNative, type NativeConnection, type NativeEngine, type NativeResult } from './native.js';
import { setClause } from './sql-text.js';

/** One private connection: settings, parameters, current database and temporary tables live and die with it. One query at a time. */
export interface EngineSession {
  /** In the `log_comment` of every query on it; by it they can be killed. */
  readonly label: string;
  run(sql: string, format?: string): Promise<NativeResult>;
  /** Never while a query runs on it. */
  close(): void;
}

export interface Engine {
  readonly version: string;
  /** Content-Type of every output format, by name. */
  readonly contentTypes: ReadonlyMap<string, string>;
  /** A fresh session with the base settings. */
  session(): Promise<EngineSession>;
  /** Asks the engine to stop whatever runs on the session; the query then fails with code 394. */
  kill(session: EngineSession): Promise<void>;
  queryText(sql: string, format?: string): Promise<string>;
  close(): Promise<void>;
}

export interface EngineOptions {
  readonly directory: string;
  /** Tracked memory of the engine, all queries together. Resident memory is about 250 MB more. */
  readonly memoryBytes: number;
  /** Added to the total for analysts' queries, so that these do not take the product's memory. */
  readonly analystBytes?: number;
  readonly logger: Logger;
}

/** Sessions kept ready, so that a request does not wait for its SET. */
const PREOPENED_SESSIONS = 4;

/**
 * Opens chDB on a directory; one process at a time may. Settings that make the embedded engine answer like a server
 * (`implicit_select`, introspection functions off, UTC) and keep it small apply to every session.
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
    // Files are in the page cache most of the time: a pool of reading threads only hands them over.
    local_filesystem_read_method: 'pread',
  };
  const connectionArgs = [
    `--max_server_memory_usage=${memoryBytes + (options.analystBytes ?? 0)}`,
    `--mark_cache_size=${Math.floor(memoryBytes / 12.5)}`,
    `--primary_index_cache_size=${Math.floor(memoryBytes / 12.5)}`,
    `--index_mark_cache_size=${Math.floor(memoryBytes / 50)}`,
    `--query_condition_cache_size=${8 * megabyte}`,
    `--compiled_expression_cache_size=${8 * megabyte}`,
    '--background_pool_size=2',
  ];
  // Held until close: the engine shuts down when the last connection does.
  const anchor = openNativeConnection(native, directory, connectionArgs);
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

  const warm: Promise<EngineSession>[] = [];
  const refill = () => {
    while (!closed && warm.length < PREOPENED_SESSIONS) {
      const next = open();
      next.catch((error) => logger.error({ err: error }, 'cannot open an engine session'));
      warm.push(next);
    }
  };
  async function take(): Promise<EngineSession> {
    const ready = warm.shift();
    setImmediate(refill);
    return ready === undefined ? open() : ready.catch(() => open());
  }
  async function queryText(sql: string, format = 'TabSeparated'): Promise<string> {
    const session = await take();
    try {
      return Buffer.from((await session.run(sql, format)).bytes).toString('utf8');
    } finally {
      session.close();
    }
  }

  const version = (await queryText('SELECT version()')).trim();
  const types = (
    await queryText("SELECT name, content_type FROM system.formats WHERE is_output AND content_type != ''")
  ).trimEnd();
  const contentTypes = new Map(types.split('\n').map((line) => line.split('\t') as [string, string]));

  return {
    version,
    contentTypes,
    session: take,
    queryText,
    kill: async (session) => {
      await queryText(`KILL QUERY WHERE endsWith(Settings['log_comment'], '${session.label}') ASYNC`);
    },
    close: async () => {
      closed = true;
      for (const session of await Promise.allSettled(warm)) if (session.status === 'fulfilled') session.value.close();
      native.CloseConnection(anchor);
    },
  };
}

/** RetryableError while another process has the directory, which may be the one this one replaces; and when it cannot be opened: a full disk or too little memory may pass. */
function openNativeConnection(native: NativeEngine, directory: string, args: readonly string[]): NativeConnection {
  try {
    return native.CreateConnection(directory, args);
  } catch (error) {
    const status = join(directory, 'status');
    const pid = existsSync(status) ? Number(/^PID: (\d+)/m.exec(readFileSync(status, 'utf8'))?.[1]) : 0;
    if (pid > 0 && pid !== process.pid && isProcessAlive(pid)) {
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
