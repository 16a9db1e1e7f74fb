import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from '../measure.js';

const RUNS = 5;
const PAGE = Buffer.alloc(4_096, 1);
const SYNCS = 200;
const COPIED = 128 * 2 ** 20;
const SENT = 256 * 2 ** 20;

/** Writes of 4 KiB with fdatasync per second in the folder of temporary files, where the benchmarks have their logs. */
export function syncsPerSecond(): number {
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-probe-'));
  const file = openSync(join(dir, 'file'), 'w');
  try {
    const rates = Array.from({ length: RUNS + 1 }, () => {
      const startedMs = performance.now();
      for (let n = 0; n < SYNCS; n++) {
        writeSync(file, PAGE, 0, PAGE.length, n * PAGE.length);
        fdatasyncSync(file);
      }
      return SYNCS / ((performance.now() - startedMs) / 1000);
    });
    return median(rates.slice(1));
  } finally {
    closeSync(file);
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Bytes per second that one thread copies from memory to memory. */
export function copiedBytesPerSecond(): number {
  const [from, to] = [Buffer.alloc(COPIED, 1), Buffer.alloc(COPIED, 2)];
  const rates = Array.from({ length: RUNS + 1 }, () => {
    const startedMs = performance.now();
    from.copy(to);
    return COPIED / ((performance.now() - startedMs) / 1000);
  });
  return median(rates.slice(1));
}

export interface Loopback {
  readonly bytesPerSecond: number;
  /** Processor time of the sender. */
  readonly senderCpuSPerGb: number;
}

/** One TCP connection to another process of this machine that discards what it reads, in writes of 64 KiB. */
export async function loopback(): Promise<Loopback> {
  const child = fork(fileURLToPath(new URL('./discard.child.js', import.meta.url)));
  try {
    const [port] = (await once(child, 'message')) as [number];
    const socket = connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    const chunk = Buffer.alloc(65_536, 1);
    const rates: number[] = [];
    const costs: number[] = [];
    for (let run = 0; run <= RUNS; run++) {
      const startedMs = performance.now();
      const cpu = process.cpuUsage();
      for (let sent = 0; sent < SENT; sent += chunk.length) if (!socket.write(chunk)) await once(socket, 'drain');
      const { user, system } = process.cpuUsage(cpu);
      if (run === 0) continue;
      rates.push(SENT / ((performance.now() - startedMs) / 1000));
      costs.push((user + system) / 1e6 / (SENT / 1e9));
    }
    socket.destroy();
    return { bytesPerSecond: median(rates), senderCpuSPerGb: median(costs) };
  } finally {
    child.kill('SIGKILL');
  }
}
