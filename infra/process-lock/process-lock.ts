import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { RetryableError } from '../errors.js';

/** Exclusive right of one process, e.g. to run the supervisor on a data directory. Ends with `release()` or with the owner's process. */
export interface ProcessLock {
  release(): Promise<void>;
}

interface LockOwner {
  readonly pid: number;
  /** Distinguishes the owner from a later process with the same pid; null on systems without /proc. */
  readonly startedAt: string | null;
}

/**
 * State letter and start (clock ticks since boot) of a process: fields 3 and 22 of Linux' /proc/pid/stat. null elsewhere, or when there is
 * no such process.
 */
function processInfo(pid: number): { readonly state: string; readonly start: string } | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', start: fields[19] ?? '' };
}

function isAlive(owner: LockOwner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: there is such a process, of another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const proc = processInfo(owner.pid);
  if (proc === null) return true;
  // A killed process remains a zombie until its parent waits for it; it owns nothing.
  if (proc.state === 'Z' || proc.state === 'X') return false;
  return owner.startedAt === null || proc.start === owner.startedAt;
}

/** null: no such file, released, or damaged (files appear complete, so a damaged one is not of a live owner). */
async function readOwner(path: string): Promise<LockOwner | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const owner = JSON.parse(text) as LockOwner | null;
    return typeof owner?.pid === 'number' && owner.pid > 0 ? owner : null;
  } catch {
    return null;
  }
}

/** Generations present, ascending. */
async function generationsOf(path: string): Promise<number[]> {
  const prefix = `${basename(path)}.`;
  const numbers = (await readdir(dirname(path)))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
  return numbers.sort((a, b) => a - b);
}

/**
 * Acquires the lock, or throws RetryableError that names its owner. A dead owner (kill -9, power cut) is detected by pid
 * and start time. The newest of the files `<path>.<generation>` names the owner. A process acquires the lock by creating the next generation,
 * which the file system allows exactly one process, and never changes a live owner's file. The newest file remains after the release, so that no
 * generation is the newest twice.
 */
export async function acquireProcessLock(path: string, what: string): Promise<ProcessLock> {
  await mkdir(dirname(path), { recursive: true });
  const self: LockOwner = { pid: process.pid, startedAt: processInfo(process.pid)?.start ?? null };
  const draft = `${path}.draft-${randomUUID()}`;
  await writeFile(draft, JSON.stringify(self));
  try {
    while (true) {
      const newest = (await generationsOf(path)).at(-1) ?? 0;
      const owner = newest === 0 ? null : await readOwner(`${path}.${newest}`);
      if (owner !== null && isAlive(owner)) {
        throw new RetryableError(`${what} is already run by process ${owner.pid} (${path}.${newest})`);
      }
      const acquired = newest + 1;
      try {
        await link(draft, `${path}.${acquired}`);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
        throw error;
      }
      const generations = await generationsOf(path);
      if (generations.at(-1) !== acquired) {
        // Meanwhile other processes acquired, released and deleted this generation.
        await rm(`${path}.${acquired}`, { force: true });
        continue;
      }
      for (const old of generations) if (old < acquired) await rm(`${path}.${old}`, { force: true });
      return {
        async release() {
          const released = `${path}.draft-${randomUUID()}`;
          await writeFile(released, 'null');
          await rename(released, `${path}.${acquired}`);
        },
      };
    }
  } finally {
    await rm(draft, { force: true });
  }
}
