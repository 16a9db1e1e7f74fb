import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RetryableError } from '../errors.js';
import { acquireProcessLock } from './process-lock.js';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lease-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const holder = (pid: number | undefined, startedAt: string | null = null) => JSON.stringify({ pid, startedAt });

describe('lease', () => {
  it('is held once, names its holder, and can be taken again after release', async () => {
    const path = join(dir, 'deep', 'ingest.lock');
    const lease = await acquireProcessLock(path, 'Ingest');
    await expect(acquireProcessLock(path, 'Ingest')).rejects.toThrow(RetryableError);
    await expect(acquireProcessLock(path, 'Ingest')).rejects.toThrow(`already run by process ${process.pid}`);
    await lease.release();
    const again = await acquireProcessLock(path, 'Ingest');
    await expect(acquireProcessLock(path, 'Ingest')).rejects.toThrow(RetryableError);
    expect(readdirSync(join(dir, 'deep'))).toEqual(['ingest.lock.2']);
    await again.release();
  });

  it('is refused while another process lives, and taken over when it was killed', async () => {
    const path = join(dir, 'ingest.lock');
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    writeFileSync(`${path}.7`, holder(child.pid));
    await expect(acquireProcessLock(path, 'Ingest')).rejects.toThrow(`process ${child.pid}`);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
    const lease = await acquireProcessLock(path, 'Ingest');
    expect(readdirSync(dir)).toEqual(['ingest.lock.8']);
    expect(JSON.parse(readFileSync(`${path}.8`, 'utf8'))).toMatchObject({ pid: process.pid });
    await lease.release();
  });

  it.runIf(process.platform === 'linux')('does not take a later process with the same pid for the holder', async () => {
    const path = join(dir, 'ingest.lock');
    writeFileSync(`${path}.1`, holder(process.pid, '1'));
    await (await acquireProcessLock(path, 'Ingest')).release();
  });

  it.each(['{"pid":', 'null', '[]', '{"pid":-1}'])('takes a file that names nobody over: %s', async (text) => {
    const path = join(dir, 'ingest.lock');
    writeFileSync(`${path}.3`, text);
    await (await acquireProcessLock(path, 'Ingest')).release();
  });

  it('goes to exactly one of many that find a dead holder', async () => {
    for (let round = 0; round < 20; round += 1) {
      const path = join(dir, `ingest-${round}.lock`);
      writeFileSync(`${path}.1`, 'null');
      const results = await Promise.allSettled(Array.from({ length: 20 }, () => acquireProcessLock(path, 'Ingest')));
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(readdirSync(dir).filter((name) => name.startsWith(`ingest-${round}.`))).toEqual([
        `ingest-${round}.lock.2`,
      ]);
    }
  });

  it('is never held twice while many take and give back', async () => {
    const path = join(dir, 'ingest.lock');
    let held = 0;
    let taken = 0;
    const taker = async () => {
      for (let i = 0; i < 30; i += 1) {
        const lease = await acquireProcessLock(path, 'Ingest').catch((error: unknown) => {
          if (!(error instanceof RetryableError)) throw error;
          return null;
        });
        if (lease === null) continue;
        held += 1;
        taken += 1;
        expect(held).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        held -= 1;
        await lease.release();
      }
    };
    await Promise.all(Array.from({ length: 10 }, taker));
    expect(taken).toBeGreaterThan(0);
  });
});
