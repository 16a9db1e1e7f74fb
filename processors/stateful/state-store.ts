import { mkdirSync } from 'node:fs';
import { type Database, open } from 'lmdb';

export type StateChanges = Iterable<readonly [key: string, value: Buffer]>;

/** What a fold remembers, on local disk: values by key, and the input offset they are the state of. */
export interface StateStore {
  get(key: string): Buffer | undefined;
  /** Next input offset of the state; undefined for a store that holds none. */
  position(): number | undefined;
  /**
   * Changes and the new position, together or not at all. False, and nothing changes, when the position is not `from` (undefined: none): another
   * process of this machine has the store now.
   */
  commit(changes: StateChanges, from: number | undefined, nextOffset: number): boolean;
  /** Changes of a state that is still being loaded: it has no position until `commit`. */
  load(changes: StateChanges): void;
  clear(): void;
}

export interface StateStores {
  open(name: string): StateStore;
  close(): Promise<void>;
}

const MAX_STORES = 64;
/** Sorts before every key of ours, which are text. */
const POSITION_KEY = Buffer.from([0]);
/** LMDB refuses longer keys. */
const MAX_KEY_BYTES = 1978;

/**
 * Stores of one directory, in LMDB. They are caches: whoever opens one compares its position with what the log has committed. A store whose
 * process died in the middle of a commit holds the state before it.
 */
export function openStateStores(dir: string): StateStores {
  mkdirSync(dir, { recursive: true });
  const root = open({ path: dir, noSubdir: false, encoding: 'binary', keyEncoding: 'binary', maxDbs: MAX_STORES });
  const opened = new Map<string, StateStore>();
  return {
    open(name) {
      const store =
        opened.get(name) ?? createStateStore(root.openDB(name, { encoding: 'binary', keyEncoding: 'binary' }));
      opened.set(name, store);
      return store;
    },
    close: () => root.close(),
  };
}

function createStateStore(db: Database<Buffer, Buffer>): StateStore {
  const keyOf = (key: string): Buffer => {
    const bytes = Buffer.from(key, 'utf8');
    if (bytes.length === 0 || bytes.length > MAX_KEY_BYTES) throw new RangeError(`Key of ${bytes.length} bytes`);
    return bytes;
  };
  const stored = (): number | undefined => db.get(POSITION_KEY)?.readDoubleLE(0);
  const put = (changes: StateChanges) => {
    for (const [key, value] of changes) db.putSync(keyOf(key), value);
  };
  return {
    get: (key) => db.get(keyOf(key)),
    position: stored,
    commit(changes, from, nextOffset) {
      const position = Buffer.allocUnsafe(8);
      position.writeDoubleLE(nextOffset, 0);
      return db.transactionSync(() => {
        if (stored() !== from) return false;
        put(changes);
        db.putSync(POSITION_KEY, position);
        return true;
      });
    },
    load: (changes) => db.transactionSync(() => put(changes)),
    clear: () => db.clearSync(),
  };
}
