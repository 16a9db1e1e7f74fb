import { createRequire } from 'node:module';
import { FatalError } from '../../errors.js';

/** The result of one query. Rows and bytes are those of the result, for an INSERT those written; `elapsed` is in seconds. */
export interface NativeResult {
  readonly bytes: Uint8Array;
  readonly elapsed: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

declare const connectionBrand: unique symbol;
export type NativeConnection = { readonly [connectionBrand]: true };

/** The functions of chDB's addon that this server uses. */
export interface NativeEngine {
  CreateConnection(path: string, args?: readonly string[]): NativeConnection;
  /** Must not be called while a query runs on the connection: the engine aborts for the whole process. */
  CloseConnection(connection: NativeConnection): void;
  /** Runs on a libuv thread. */
  QueryAsyncConnection(connection: NativeConnection, sql: string, format: string): Promise<NativeResult>;
}

/**
 * Loads chDB's native addon from the exactly pinned package. The package's `Session` is not used: its `close()` waits for
 * every query of the process, so that sessions accumulate during one long query, and its queries with parameters run one at a time.
 * Throws FatalError when the addon does not load on this platform.
 */
export function loadNative(): NativeEngine {
  const require = createRequire(import.meta.url);
  try {
    const inPackage = createRequire(require.resolve('chdb/package.json'));
    const loader = inPackage('./dist/loader.js') as { loadNative(): NativeEngine };
    return loader.loadNative();
  } catch (error) {
    throw new FatalError(`The embedded ClickHouse engine does not load on ${process.platform}-${process.arch}.`, {
      cause: error,
    });
  }
}
