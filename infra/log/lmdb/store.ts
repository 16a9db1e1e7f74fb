import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs';
import { type Database, open } from 'lmdb';
import { FatalError, RetryableError } from '../../errors.js';
import { LogCorruptError, LogRequestError, LogUnavailableError } from '../errors.js';
import { VERSION_KEY } from './keys.js';
import { openWriteLock, type WriteLock } from './write-lock.js';

export type BufferDatabase = Database<Buffer, Buffer>;

/** The LMDB environment of one log directory. */
export interface Store {
  readonly meta: BufferDatabase;
  readonly chunks: BufferDatabase;
  readonly times: BufferDatabase;
  /** Run `action` in the one write transaction of the machine; the result is on disk when this returns. An exception rolls all of it back. */
  write<T>(action: () => T): T;
  /** Run `action` on a snapshot of everything committed before the call, by any process. `action` must not keep iterators. */
  read<T>(action: () => T): T;
  /** Report the bytes of chunks that a `read` has read (see UNMAP_AFTER_BYTES). */
  recordBytesRead(bytes: number): void;
  /** Free the reader slots of processes that died inside a read; until then their snapshots prevent the reuse of old pages. */
  clearStaleReaders(): void;
  close(): Promise<void>;
}

const FORMAT_VERSION = 1;
/** Address space, not disk: the file grows as needed, and LMDB enlarges the map when the file outgrows this. */
const MAP_BYTES = 64 * 1024 ** 3;
/**
 * Pages read through the map count as resident memory of the process until the kernel reclaims them, so a process that replays
 * a large log seems to use memory for all of it. After this many bytes the environment is reopened, which unmaps them (about 1 ms).
 */
const UNMAP_AFTER_BYTES = 128 * 1024 ** 2;

/**
 * Opens (creates) the environment. Every process must open it with the same options.
 *
 * `overlappingSync: false`: a commit writes its pages, syncs, writes the meta page through an O_DSYNC descriptor and only then
 * becomes visible, so no reader in any process can see a record that a power cut could still take back.
 *
 * Opens and writes run under the directory's write lock: LMDB alone would let an open undo a concurrent commit.
 *
 * Write transactions run synchronously: the machine-wide write lock then covers the write and the sync only. The
 * asynchronous kind of the library calls back into the event loop inside the lock, so that the busiest process delays all others.
 */
export function openStore(dir: string): Store {
  try {
    mkdirSync(dir, { recursive: true });
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const text = `Cannot use the log directory ${dir}: ${(error as Error).message}`;
    throw code === 'ENOSPC' || code === 'EMFILE' || code === 'EIO'
      ? new LogUnavailableError(text, { cause: error })
      : new FatalError(text, { cause: error });
  }
  const writeLock = withErrorTranslation(dir, () => openWriteLock(dir));
  try {
    const store = createStore(dir, writeLock, openEnvironment(dir, writeLock));
    checkVersion(dir, store);
    return store;
  } catch (error) {
    void writeLock.close();
    throw error;
  }
}

interface Environment {
  readonly root: BufferDatabase;
  readonly meta: BufferDatabase;
  readonly chunks: BufferDatabase;
  readonly times: BufferDatabase;
}

function openEnvironment(dir: string, writeLock: WriteLock): Environment {
  return withErrorTranslation(dir, () => writeLock.run(() => openUnlocked(dir)));
}

function openUnlocked(dir: string): Environment {
  const root = open<Buffer, Buffer>({
    path: dir,
    noSubdir: false,
    overlappingSync: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    mapSize: MAP_BYTES,
    maxDbs: 8,
    maxReaders: 512,
  });
  const dbi = (name: string): BufferDatabase => root.openDB(name, { encoding: 'binary', keyEncoding: 'binary' });
  return { root, meta: dbi('meta'), chunks: dbi('chunks'), times: dbi('times') };
}

function createStore(dir: string, writeLock: WriteLock, first: Environment): Store {
  let env = first;
  let state: 'open' | 'closed' = 'open';
  let usable = true;
  let mappedBytes = 0;
  const guard = () => {
    if (state === 'closed') throw new LogUnavailableError('The log is closed');
    if (usable && mappedBytes < UNMAP_AFTER_BYTES) return;
    // No asynchronous writes are in progress, so the environment is closed when this returns.
    if (usable) void env.root.close();
    usable = false;
    env = openEnvironment(dir, writeLock);
    usable = true;
    mappedBytes = 0;
  };
  return {
    get meta() {
      return env.meta;
    },
    get chunks() {
      return env.chunks;
    },
    get times() {
      return env.times;
    },
    recordBytesRead(bytes) {
      mappedBytes += bytes;
    },
    clearStaleReaders() {
      guard();
      env.root.readerCheck();
    },
    write(action) {
      guard();
      let reached = false;
      try {
        return writeLock.run(() =>
          env.root.transactionSync(() => {
            const result = action();
            reached = true;
            return result;
          }),
        );
      } catch (error) {
        // A commit that failed may leave the environment unusable for this process, and the library does not survive a write
        // after that: reopen the environment.
        if (reached) mappedBytes = Number.POSITIVE_INFINITY;
        throw translateError(dir, error);
      }
    },
    read(action) {
      guard();
      try {
        env.root.resetReadTxn();
        return action();
      } catch (error) {
        throw translateError(dir, error);
      }
    },
    async close() {
      if (state === 'closed') return;
      state = 'closed';
      if (usable) await env.root.close();
      await writeLock.close();
    },
  };
}

function checkVersion(dir: string, store: Store): void {
  if (store.read(() => store.meta.get(VERSION_KEY)) === undefined) {
    store.write(() => {
      if (store.meta.get(VERSION_KEY) === undefined) store.meta.put(VERSION_KEY, encodeVersion(0));
    });
  }
  const found = store.read(() => store.meta.get(VERSION_KEY))?.readUInt32LE(0);
  if (found !== FORMAT_VERSION) {
    throw new LogCorruptError(`The log in ${dir} has format ${found}; this build reads format ${FORMAT_VERSION}`);
  }
}

/** Value of VERSION_KEY: format version, topic-table version. The latter increases with every change of the topic table. */
export function encodeVersion(topicTable: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeUInt32LE(FORMAT_VERSION, 0);
  bytes.writeUInt32LE(topicTable, 4);
  return bytes;
}

/** MDB_PAGE_NOTFOUND, MDB_CORRUPTED, MDB_VERSION_MISMATCH, MDB_INVALID. */
const MDB_CORRUPT = [-30797, -30796, -30794, -30793];

const EIO = 5;

function freeBytes(dir: string): number {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** ENOSPC, EFBIG (the process's file size limit), EDQUOT, MDB_MAP_FULL; LMDB reports a write cut short as EIO, which a full disk also causes. */
function isDiskFull(dir: string, error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === EIO) return freeBytes(dir) < 2 ** 20;
  return (
    code === 28 ||
    code === 27 ||
    code === 122 ||
    code === 'ENOSPC' ||
    code === -30792 ||
    /no space left|file too large|quota|MDB_MAP_FULL/i.test(String(message))
  );
}

function withErrorTranslation<T>(dir: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw translateError(dir, error);
  }
}

function translateError(dir: string, error: unknown): Error {
  if (error instanceof FatalError || error instanceof RetryableError) return error;
  if (error instanceof LogRequestError) return error;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'number' && MDB_CORRUPT.includes(code)) {
    return new LogCorruptError(`The log in ${dir} is damaged: ${String(message)}`, { cause: error });
  }
  if (isDiskFull(dir, error)) return new LogUnavailableError(`No space left for the log in ${dir}`, { cause: error });
  if (error instanceof TypeError || error instanceof ReferenceError) return error;
  return new LogUnavailableError(`The log in ${dir} failed: ${String(message)}`, { cause: error });
}
