import { mkdirSync } from 'node:fs';
import { type Database, open } from 'lmdb';
import { RetryableError } from '../../infra/errors.js';

export type StateChanges = Iterable<readonly [key: string, value: Buffer]>;

/** Local copy of a stateful processor's state on disk: values by key, and the input offset that the state corresponds to. */
export interface StateStore {
  get(key: string): Buffer | undefined;
  /** Next input offset of the state; undefined for a store without state, and with the state of another log. */
  position(): number | undefined;
  /**
   * Writes the changes and the new position atomically. Returns false and writes nothing when the stored position is not `from` (undefined:
   * none), because another process of this machine has written to the store.
   */
  commit(changes: StateChanges, from: number | undefined, nextOffset: number): boolean;
  /** Writes a part of a state that is being loaded; the state has no position until `commit`. */
  load(changes: StateChanges): void;
  clear(): void;
}

export interface StateStores {
  open(name: string): StateStore;
  close(): Promise<void>;
}

const MAX_STORES = 64;
/** They cannot collide with a state key: state keys are text without control characters. */
const POSITION_KEY = Buffer.from([0]);
const LOG_KEY = Buffer.from([1]);
/** LMDB rejects longer keys. */
const MAX_KEY_BYTES = 1978;

/**
 * Opens the LMDB stores of one directory. They are caches: the caller compares a store's position with the position committed in the log. A
 * store whose process died during a commit contains the state before that commit. `log`: the URL of the log, since a position is one of its offsets.
 * Writes throw RetryableError when the disk fails or is full.
 */
export function openStateStores(dir: string, log: string): StateStores {
  mkdirSync(dir, { recursive: true });
  const root = open({ path: dir, noSubdir: false, encoding: 'binary', keyEncoding: 'binary', maxDbs: MAX_STORES });
  const opened = new Map<string, StateStore>();
  return {
    open(name) {
      const store =
        opened.get(name) ??
        createStateStore(root.openDB(name, { encoding: 'binary', keyEncoding: 'binary' }), Buffer.from(log), dir);
      opened.set(name, store);
      return store;
    },
    close: () => root.close(),
  };
}

function createStateStore(db: Database<Buffer, Buffer>, log: Buffer, dir: string): StateStore {
  const keyOf = (key: string): Buffer => {
    const bytes = Buffer.from(key, 'utf8');
    if (bytes.length === 0 || bytes.length > MAX_KEY_BYTES) throw new RangeError(`Key of ${bytes.length} bytes`);
    return bytes;
  };
  const stored = (): number | undefined =>
    db.get(LOG_KEY)?.equals(log) === true ? db.get(POSITION_KEY)?.readDoubleLE(0) : undefined;
  const write = <T>(action: () => T): T => {
    try {
      return db.transactionSync(action);
    } catch (error) {
      if (error instanceof RangeError || error instanceof TypeError) throw error;
      throw new RetryableError(`Cannot write the state in ${dir}: ${String((error as Error).message)}`, {
        cause: error,
      });
    }
  };
  const put = (changes: StateChanges) => {
    for (const [key, value] of changes) db.putSync(keyOf(key), value);
  };
  return {
    get: (key) => db.get(keyOf(key)),
    position: stored,
    commit(changes, from, nextOffset) {
      const position = Buffer.allocUnsafe(8);
      position.writeDoubleLE(nextOffset, 0);
      return write(() => {
        if (stored() !== from) return false;
        put(changes);
        db.putSync(POSITION_KEY, position);
        db.putSync(LOG_KEY, log);
        return true;
      });
    },
    load: (changes) => write(() => put(changes)),
    clear: () => write(() => db.clearSync()),
  };
}
