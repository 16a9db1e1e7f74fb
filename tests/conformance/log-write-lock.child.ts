import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWriteLock } from '../../infra/log/lmdb/write-lock.js';

/** Owns the write lock of a log directory for a time. argv: directory, ms. Writes the file `inside` when it owns the lock, and `left` before it releases it. */
const [dir, stayMs] = process.argv.slice(2) as [string, string];
const writeLock = openWriteLock(dir);
writeLock.run(() => {
  writeFileSync(join(dir, 'inside'), '');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(stayMs));
  writeFileSync(join(dir, 'left'), '');
});
await writeLock.close();
process.disconnect();
