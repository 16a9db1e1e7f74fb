import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLmdbLog } from '../../infra/log/lmdb/lmdb-log.js';
import type { Log, LogRecord } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { readAll, T0, tail } from './log-harness.js';

const program = fileURLToPath(new URL('../../dist/tests/conformance/log-writer.child.js', import.meta.url));
const writeLockHolder = fileURLToPath(new URL('../../dist/tests/conformance/log-write-lock.child.js', import.meta.url));
const TOPIC = 'topic';

describe('the LMDB log among processes', () => {
  let dir: string;
  let log: Log;
  let children: ChildProcess[];
  beforeEach(async () => {
    expect(existsSync(program), 'build first: npm run build').toBe(true);
    dir = mkdtempSync(join(tmpdir(), 'oddstream-log-'));
    children = [];
    log = createLmdbLog({ dir, logger: silentLogger(), maintenanceIntervalMs: null });
    await log.ensureTopics([{ name: TOPIC, partitions: 1, retentionMs: null, compacted: false }]);
  });
  afterEach(async () => {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
    await log.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const writer = (id: string, first: number, size: number, batches: number) => {
    const child = fork(program, [dir, TOPIC, id, first, size, batches].map(String));
    children.push(child);
    const state = { acked: first };
    const failed = new Promise<never>((_, reject) => {
      child.on('message', (message: { acked: number; failed?: string; message?: string }) => {
        state.acked = message.acked;
        if (message.failed !== undefined) reject(new Error(`Writer ${id} failed: ${message.message}`));
      });
    });
    failed.catch(() => undefined);
    return { child, state, failed, ended: once(child, 'exit') };
  };

  it('a following reader gets every record of several writer processes once and in order', async () => {
    const WRITERS = ['a', 'b', 'c'];
    const reader = tail(log, { topic: TOPIC, partition: 0, from: 'earliest' });
    const writers = WRITERS.map((id, i) => writer(id, 0, 1 + i * 20, 60));
    const total = WRITERS.reduce((sum, _, i) => sum + (1 + i * 20) * 60, 0);
    await Promise.race([reader.until((records) => records.length >= total), ...writers.map(({ failed }) => failed)]);
    await reader.stop();
    for (const { ended } of writers) expect(await ended).toEqual([0, null]);
    expect(reader.records.map(({ offset }) => offset)).toEqual(Array.from({ length: total }, (_, i) => i));
    for (const [i, id] of WRITERS.entries()) expectNumbers(reader.records, id, (1 + i * 20) * 60);
    expect(await readAll(log, TOPIC)).toEqual(reader.records);
  });

  it('a killed writer loses no acknowledged record, leaves no partial batch and blocks no other process', async () => {
    const SIZE = 50;
    const reader = tail(log, { topic: TOPIC, partition: 0, from: 'earliest' });
    const steady = writer('steady', 0, 7, 0);
    let victimNext = 0;
    for (let round = 0; round < 6; round++) {
      const victim = writer('victim', victimNext, SIZE, 0);
      const seenBefore = reader.records.length;
      const ackLimit = 1 + round * 3;
      await new Promise<void>((resolve) => {
        let acks = 0;
        victim.child.on('message', () => {
          if (++acks === ackLimit) resolve();
        });
      });
      victim.child.kill('SIGKILL');
      expect(await victim.ended).toEqual([null, 'SIGKILL']);
      const numbers = numbersOf(await readAll(log, TOPIC), 'victim');
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => i));
      expect(numbers.length % SIZE).toBe(0);
      expect(numbers.length).toBeGreaterThanOrEqual(victim.state.acked);
      victimNext = numbers.length;
      const [range] = await log.append(TOPIC, [
        { key: 'local', value: Buffer.from(`local:${round}:`), timestampMs: T0 },
      ]);
      await reader.until((records) => (records.at(-1)?.offset ?? -1) >= range!.lastOffset);
      expect(reader.records.length).toBeGreaterThan(seenBefore);
      const steadyBefore = steady.state.acked;
      await reader.until((records) => numbersOf(records.slice(-200), 'steady').some((n) => n >= steadyBefore));
    }
    steady.child.kill('SIGKILL');
    await steady.ended;
    const all = await readAll(log, TOPIC);
    await reader.until((records) => records.length >= all.length);
    await reader.stop();
    expect(reader.records).toEqual(all);
    expectNumbers(all, 'local', 6);
    const steadyNumbers = numbersOf(all, 'steady');
    expect(steadyNumbers).toEqual(Array.from({ length: steadyNumbers.length }, (_, i) => i));
    expect(steadyNumbers.length).toBeGreaterThanOrEqual(steady.state.acked);
  });

  /** A process that owns the write lock of opens and writes. */
  const lockedProcess = async (stayMs: number) => {
    const child = fork(writeLockHolder, [dir, String(stayMs)]);
    children.push(child);
    const ended = once(child, 'exit');
    while (!existsSync(join(dir, 'inside'))) await sleep(5);
    rmSync(join(dir, 'inside'));
    return { child, ended, left: () => existsSync(join(dir, 'left')) };
  };

  /** Longer than any stall of this process between its look at the lock and its own write or open. */
  const STAY_MS = 5_000;

  it('no process writes while another opens the log, and none opens it while another writes', async () => {
    const first = await lockedProcess(STAY_MS);
    expect(first.left()).toBe(false);
    await log.append(TOPIC, [{ key: 'local', value: Buffer.from('local:0:'), timestampMs: T0 }]);
    expect(first.left()).toBe(true);
    expect(await first.ended).toEqual([0, null]);
    rmSync(join(dir, 'left'));

    const second = await lockedProcess(STAY_MS);
    expect(second.left()).toBe(false);
    const opener = createLmdbLog({ dir, logger: silentLogger(), maintenanceIntervalMs: null });
    expect(second.left()).toBe(true);
    await opener.close();

    const victim = await lockedProcess(60_000);
    victim.child.kill('SIGKILL');
    await victim.ended;
    await log.append(TOPIC, [{ key: 'local', value: Buffer.from('local:1:'), timestampMs: T0 }]);
    expectNumbers(await readAll(log, TOPIC), 'local', 2);
  });

  it('a full disk is a retryable error, and no record of the failed batch is stored', async () => {
    // A file size limit of about 1 MB simulates the full disk; `ulimit -f` counts blocks of 512 or 1024 bytes.
    const command = [
      '-c',
      'ulimit -f 1500; exec "$@"',
      'sh',
      process.execPath,
      program,
      dir,
      TOPIC,
      'a',
      '0',
      '100',
      '0',
    ];
    const child = spawn('sh', command, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    children.push(child);
    let last: { acked: number; failed?: string; retryable?: boolean } = { acked: 0 };
    child.on('message', (message: typeof last) => {
      last = message;
    });
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(last).toMatchObject({ failed: 'LogUnavailableError', retryable: true });
    expect(last.acked).toBeGreaterThan(0);
    expectNumbers(await readAll(log, TOPIC), 'a', last.acked);
    await log.append(TOPIC, [{ key: 'local', value: Buffer.from('local:0:'), timestampMs: T0 }]);
    expectNumbers(await readAll(log, TOPIC), 'local', 1);
  });

  it('a log whose only process was killed opens with every acknowledged record', async () => {
    await log.close();
    for (let round = 0; round < 3; round++) {
      const victim = writer('victim', round * 10_000, 20, 0);
      await once(victim.child, 'message');
      await once(victim.child, 'message');
      victim.child.kill('SIGKILL');
      await victim.ended;
      log = createLmdbLog({ dir, logger: silentLogger(), maintenanceIntervalMs: null });
      const numbers = numbersOf(await readAll(log, TOPIC), 'victim').filter((n) => n >= round * 10_000);
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => round * 10_000 + i));
      expect(numbers.length).toBeGreaterThanOrEqual(victim.state.acked - round * 10_000);
      await log.close();
    }
    log = createLmdbLog({ dir, logger: silentLogger(), maintenanceIntervalMs: null });
  });
});

function numbersOf(records: readonly LogRecord[], id: string): number[] {
  return records.filter(({ key }) => key === id).map(({ value }) => Number(value!.toString().split(':')[1]));
}

function expectNumbers(records: readonly LogRecord[], id: string, count: number): void {
  expect(numbersOf(records, id)).toEqual(Array.from({ length: count }, (_, i) => i));
}
