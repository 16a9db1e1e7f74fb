import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RetryableError } from '../errors.js';
import { acquireProcessLock } from './process-lock.js';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lock-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const ownerFile = (pid: number | undefined, startedAt: string | null = null) => JSON.stringify({ pid, startedAt });

describe('acquireProcessLock', () => {
  it('rejects a second owner, names the first, and succeeds again after its release', async () => {
    const path = join(dir, 'deep', 'ingest.lock');
    const lock = await acquireProcessLock(path, 'Ingest');
    await expect(acquireProcessLock(path, 'Ingest')).rejects.toThrow(RetryableError);
    await expect(acquireProcessLock(path, 'Ingest')).rejects.toThrow(`already run by process ${process.pid}`);
    await lock.release();
    const again = await acquireProcessLock(path, 'Ingest');
    await expect(acquireProcessLock(path, 'Ingest')).rejects.toThrow(RetryableError);
    expect(readdirSync(join(dir, 'deep'))).toEqual(['ingest.lock.2']);
    await again.release();
  });

  it('rejects while another owner runs, and takes over after that was killed', async () => {
    const path = join(dir, 'ingest.lock');
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    writeFileSync(`${path}.7`, ownerFile(child.pid));
    await expect(acquireProcessLock(path, 'Ingest')).rejects.toThrow(`process ${child.pid}`);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
    const lock = await acquireProcessLock(path, 'Ingest');
    expect(readdirSync(dir)).toEqual(['ingest.lock.8']);
    expect(JSON.parse(readFileSync(`${path}.8`, 'utf8'))).toMatchObject({ pid: process.pid });
    await lock.release();
  });

  it.runIf(process.platform === 'linux')(
    'does not mistake a later process with the same pid for the owner',
    async () => {
      const path = join(dir, 'ingest.lock');
      writeFileSync(`${path}.1`, ownerFile(process.pid, '1'));
      await (await acquireProcessLock(path, 'Ingest')).release();
    },
  );

  it.runIf(process.platform === 'linux')(
    'compares the start when the pid belongs to a process of another user, which cannot be signalled',
    async () => {
      const denied = Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
      const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
        throw denied;
      });
      try {
        const path = join(dir, 'ingest.lock');
        writeFileSync(`${path}.1`, ownerFile(process.pid, '1'));
        const lock = await acquireProcessLock(path, 'Ingest');
        await expect(acquireProcessLock(path, 'Ingest')).rejects.toThrow(`process ${process.pid}`);
        await lock.release();
      } finally {
        kill.mockRestore();
      }
    },
  );

  it.each(['{"pid":', 'null', '[]', '{"pid":-1}'])('takes over a file without an owner: %s', async (text) => {
    const path = join(dir, 'ingest.lock');
    writeFileSync(`${path}.3`, text);
    await (await acquireProcessLock(path, 'Ingest')).release();
  });

  it('succeeds for exactly one of many callers that find a dead owner', async () => {
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

  it('never has two owners while many callers acquire and release', async () => {
    const path = join(dir, 'ingest.lock');
    let owners = 0;
    let acquired = 0;
    const acquireRepeatedly = async () => {
      for (let i = 0; i < 30; i += 1) {
        const lock = await acquireProcessLock(path, 'Ingest').catch((error: unknown) => {
          if (!(error instanceof RetryableError)) throw error;
          return null;
        });
        if (lock === null) continue;
        owners += 1;
        acquired += 1;
        expect(owners).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        owners -= 1;
        await lock.release();
      }
    };
    await Promise.all(Array.from({ length: 10 }, acquireRepeatedly));
    expect(acquired).toBeGreaterThan(0);
  });
});
