import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWriteLock } from '../../infra/log/lmdb/write-lock.js';

/** Goes through the gate of a log directory and stays inside. argv: directory, ms. Leaves a file `inside` when in and `left` just before it is out. */
const [dir, stayMs] = process.argv.slice(2) as [string, string];
const writeLock = openWriteLock(dir);
writeLock.run(() => {
  writeFileSync(join(dir, 'inside'), '');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(stayMs));
  writeFileSync(join(dir, 'left'), '');
});
await writeLock.close();
process.disconnect();
