import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { RetryableError } from '../errors.js';

/** The right to be the only one of its kind on this data directory. Released by `release()` or by the holder's death. */
export interface ProcessLock {
  release(): Promise<void>;
}

interface LockOwner {
  readonly pid: number;
  /** Tells a live holder from a later process with the same pid; null where the system does not tell. */
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

function isAlive(holder: LockOwner): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const proc = processInfo(holder.pid);
  if (proc === null) return true;
  // A killed process stays as a zombie until its parent asks for it; it holds nothing any more.
  if (proc.state === 'Z' || proc.state === 'X') return false;
  return holder.startedAt === null || proc.start === holder.startedAt;
}

/** null: no such file, given back, or damaged (it appears complete, so damaged text is no living holder's). */
async function readOwner(path: string): Promise<LockOwner | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const holder = JSON.parse(text) as LockOwner | null;
    return typeof holder?.pid === 'number' && holder.pid > 0 ? holder : null;
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
 * Take the lease, or throw RetryableError that names the process that holds it. A holder that died (kill -9, power cut) is known by its pid
 * and start time. The newest of the files `<path>.<generation>` names the holder; a taker creates the next generation, which the file system
 * grants to exactly one, and never touches a living holder's file. The newest file stays when the lease is given back, so that a number is
 * never the newest twice.
 */
export async function acquireProcessLock(path: string, what: string): Promise<ProcessLock> {
  await mkdir(dirname(path), { recursive: true });
  const own: LockOwner = { pid: process.pid, startedAt: processInfo(process.pid)?.start ?? null };
  const draft = `${path}.draft-${randomUUID()}`;
  await writeFile(draft, JSON.stringify(own));
  try {
    while (true) {
      const newest = (await generationsOf(path)).at(-1) ?? 0;
      const holder = newest === 0 ? null : await readOwner(`${path}.${newest}`);
      if (holder !== null && isAlive(holder)) {
        throw new RetryableError(`${what} is already run by process ${holder.pid} (${path}.${newest})`);
      }
      const mine = newest + 1;
      try {
        await link(draft, `${path}.${mine}`);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
        throw error;
      }
      const generations = await generationsOf(path);
      if (generations.at(-1) !== mine) {
        // Others took and swept this number while we looked away.
        await rm(`${path}.${mine}`, { force: true });
        continue;
      }
      for (const old of generations) if (old < mine) await rm(`${path}.${old}`, { force: true });
      return {
        async release() {
          const released = `${path}.draft-${randomUUID()}`;
          await writeFile(released, 'null');
          await rename(released, `${path}.${mine}`);
        },
      };
    }
  } finally {
    await rm(draft, { force: true });
  }
}
