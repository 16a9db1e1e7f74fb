import { join } from 'node:path';
import { ABORT, open } from 'lmdb';

/** One lock for all processes that use a log directory. */
export interface WriteLock {
  /** Run `action`, which must be synchronous, while no other process runs one. The death of a process releases its lock. */
  run<T>(action: () => T): T;
  close(): Promise<void>;
}

/**
 * Every open of the log's environment and every write to it must run under this lock.
 *
 * liblmdb, as lmdb 3.5.6 has it, reads the number of the last transaction at the start of an open and writes it into the memory that all
 * processes share at the end (`mdb_env_open2`), without a lock. A commit of another process between the two is lost: the next writer
 * starts from an older state and overwrites acknowledged records, or fails with MDB_BAD_TXN.
 *
 * The lock is the write lock of a separate environment in which nothing is ever committed, so that opening it changes nothing. Like the log's
 * own write lock, it is robust against the death of its owner.
 */
export function openWriteLock(dir: string): WriteLock {
  const lock = open({
    path: join(dir, 'gate'),
    noSubdir: false,
    overlappingSync: false,
    mapSize: 2 ** 20,
    maxReaders: 512,
  });
  return {
    run<T>(action: () => T): T {
      let result: { readonly value: T } | undefined;
      lock.transactionSync(() => {
        result = { value: action() };
        return ABORT;
      });
      return (result as { readonly value: T }).value;
    },
    close: () => lock.close(),
  };
}
