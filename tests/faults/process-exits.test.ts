import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { digest, untilTablesComplete } from '../support/digest.js';
import { killDuringLoad } from '../support/kill-during-load.js';
import { eventually, type ProcessName, type Product, processNames, startProduct, untilUp } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, referenceTables } from '../support/reference-run.js';
import { shortHistory } from '../support/short-recording.js';

/** Loaded into every process of the product: SIGUSR2 makes it exit with 0, SIGWINCH throws an unexpected error. */
const HOOK = `
  import { isMainThread } from 'node:worker_threads';
  if (isMainThread) {
    process.on('SIGUSR2', () => process.exit(0));
    process.on('SIGWINCH', () => { throw new TypeError('unexpected'); });
  }
`;
const exits = {
  'exit 0': 'SIGUSR2',
  SIGTERM: 'SIGTERM',
  SIGABRT: 'SIGABRT',
  'an unknown error': 'SIGWINCH',
} as const;
/** Every ending but SIGKILL, which ends each process during the load, and each process once or twice: the supervisor handles all in the same code. */
const cases: readonly (readonly [ProcessName, keyof typeof exits])[] = [
  ['clickhouse', 'SIGTERM'],
  ['clickhouse', 'SIGABRT'],
  ['ingest', 'exit 0'],
  ['processors', 'an unknown error'],
  ['stream', 'SIGTERM'],
  ['api', 'SIGABRT'],
  ['stream-gateway', 'an unknown error'],
];

/** Every process, and often those that write. */
const killedDuringLoad: readonly ProcessName[] = [
  'ingest',
  'processors',
  'clickhouse',
  'processors',
  'ingest',
  'api',
  'stream-gateway',
  'stream',
  'clickhouse',
  'processors',
  'ingest',
];

let dir: string;
let product: Product;
let truth: Record<string, string>;
beforeAll(async () => {
  truth = await referenceTables('short');
  dir = mkdtempSync(join(tmpdir(), 'oddstream-endings-'));
  const hook = join(dir, 'hook.mjs');
  writeFileSync(hook, HOOK);
  product = await startProduct({
    env: { ...shortHistory(), LOG_LEVEL: 'info', NODE_OPTIONS: `--import=${hook}` },
  });
}, REFERENCE_RUN_TIMEOUT_MS);
afterAll(async () => {
  await product?.dispose();
  rmSync(dir, { recursive: true, force: true });
});

const socketOpens = () =>
  new Promise<boolean>((resolve) => {
    const socket = new WebSocket(`${product.socket}?key=${product.key()}`);
    socket.once('open', () => {
      socket.terminate();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** Checks that the process does its work, in addition to its readiness. */
const serves: Record<ProcessName, () => Promise<boolean>> = {
  clickhouse: async () => (await product.sql('SELECT 1 AS one')).length === 1,
  ingest: async () => (await product.metric('ingest', 'oddstream_ingest_active')) === 1,
  processors: async () => {
    // A readiness request measures the lag.
    await product.readyz('processors');
    return (await product.metric('processors', 'oddstream_sink_lag_records')) === 0;
  },
  stream: async () => (await product.readyz('stream')).checks.stream?.ok === true,
  api: async () => (await product.get('/v3/trades?limit=1')).status === 200,
  'stream-gateway': socketOpens,
};

describe('a process that exits unexpectedly', () => {
  it('is restarted during the load, which is then completed', async () => {
    await killDuringLoad({
      product,
      total: Number.parseInt(truth.fills ?? '', 10),
      victims: killedDuringLoad,
      required: ['processors', 'clickhouse'],
      async kill(name) {
        process.kill(await eventually(`${name} to run`, async () => product.pid(name)), 'SIGKILL');
      },
    });
    await untilUp(product);
    for (const name of processNames) await eventually(`${name} to serve again`, serves[name]);
  }, 400_000);

  it.each(cases)(
    '%s is restarted after %s and serves again',
    async (name, ending) => {
      const before = await eventually(`${name} to run`, async () => product.pid(name));
      await eventually(`${name} to be ready`, async () => (await product.readyz(name)).ready);
      process.kill(before, exits[ending]);
      await eventually(`another ${name}`, async () => {
        const now = product.pid(name);
        return now !== null && now !== before;
      });
      await eventually(`${name} to be ready again`, async () => (await product.readyz(name)).ready);
      await eventually(`${name} to serve again`, serves[name]);
      expect(product.exited()).toBeNull();
    },
    200_000,
  );

  it('leaves the tables of an undisturbed run', async () => {
    await untilTablesComplete(product);
    expect(await digest(product)).toEqual(truth);
    expect(product.output()).not.toContain('DOWN');
  }, 200_000);
});

describe('a process that needs an operator', () => {
  it('stays down, and the start-up text names process, reason and remedy', async () => {
    const recordedDir = join(dir, 'damaged');
    mkdirSync(recordedDir);
    writeFileSync(join(recordedDir, 'manifest.json'), '{"format":');
    const wrong = await startProduct({ env: { ...shortHistory(), RECORDED_DIR: recordedDir } });
    try {
      await eventually('the start-up text', async () => wrong.output().includes('Oddstream is not up.'));
      const text = wrong.output();
      expect(text).toMatch(/Fix the following[^\n]*\n {2}- ingest: Recorded set: no readable manifest\.json in /);
      expect(text).toMatch(/DOWN \(exit code 78\): Recorded set/);
      expect(text).not.toContain('Oddstream is up.');
      expect(wrong.pid('ingest')).toBeNull();
      expect(wrong.exited()).toBeNull();
      await eventually(
        'the api, which another process that stays down does not stop',
        async () => (await fetch(`${wrong.api}/healthz`).catch(() => undefined))?.status === 200,
      );
    } finally {
      await wrong.dispose();
    }
  });
});
