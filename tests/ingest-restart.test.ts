import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfig } from '../infra/config/config.js';
import { FencedError } from '../infra/log/errors.js';
import { openLog } from '../infra/log/open-log.js';
import type { Log } from '../infra/log/port.js';
import { silentLogger } from '../infra/telemetry/logger.js';
import { createMetrics } from '../infra/telemetry/metrics.js';
import { runIngest } from '../ingest/run-ingest.js';
import { assertSingleSourceMode } from '../ingest/shared/single-source-mode.js';
import { createSourceStatus } from '../ingest/shared/source-status.js';
import { createCodec } from '../schemas/codec.js';
import { topics, topicsOnOneMachine } from '../schemas/topics.js';
import { freePort } from './support/ports.js';
import { eventually } from './support/product.js';
import { shortHistory } from './support/short-recording.js';

const logger = silentLogger();
const codec = createCodec();
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ingest-restart-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Runs the function on the log of the data directory, while no process uses it. */
async function onLog<T>(run: (log: Log) => Promise<T>): Promise<T> {
  const log = await openLog(`lmdb:${join(dir, 'log')}`, { logger });
  try {
    return await run(log);
  } finally {
    await log.close();
  }
}

it('ingest keeps the last gap, the ranges that were and are read again and the position of a source over a restart', async () => {
  const ranges = {
    gap: { from_block: 11, to_block: 12, at_ms: 1 },
    reread: { from_block: 3, to_block: 9, at_ms: 2 },
    read_until_ms: 3,
  };
  const rereading = { from_block: 13, to_block: 14, at_ms: 4 };
  await onLog(async (log) => {
    await log.ensureTopics(topicsOnOneMachine);
    const status = createSourceStatus({ log, codec, logger, source: 'chain', mode: 'recorded', initial: ranges });
    await status.close();
    const oracle = createSourceStatus({
      log,
      codec,
      logger,
      source: 'oracle',
      mode: 'recorded',
      initial: { rereading },
    });
    await oracle.close();
  });

  const port = await freePort();
  const config = loadConfig({ ...shortHistory(), ODDSTREAM_DATA: dir, ADMIN_PORT_INGEST: String(port) });
  const metrics = createMetrics({ process: 'test', defaults: false });
  const stop = new AbortController();
  const running = runIngest({ config, logger, metrics, signal: stop.signal });
  running.catch(() => undefined);
  await eventually('ingest to be active', async () =>
    (await metrics.registry.getSingleMetricAsString('oddstream_ingest_active')).includes('} 1'),
  );
  stop.abort();
  await running;

  const statuses = await onLog((log) =>
    assertSingleSourceMode({ log, codec, mode: 'recorded', onUnreadable: () => undefined }),
  );
  expect(statuses.get('chain')).toMatchObject(ranges);
  expect(statuses.get('oracle')).toMatchObject({ gap: null, reread: null, rereading });
});

it('ingest that has lost its topics to another process does not report its sources as stopped', async () => {
  const config = loadConfig({
    ...shortHistory(),
    ODDSTREAM_DATA: dir,
    ADMIN_PORT_INGEST: String(await freePort()),
  });
  const metrics = createMetrics({ process: 'test', defaults: false });
  const running = runIngest({ config, logger, metrics, signal: new AbortController().signal });
  running.catch(() => undefined);
  await eventually('ingest to be active', async () =>
    (await metrics.registry.getSingleMetricAsString('oddstream_ingest_active')).includes('} 1'),
  );
  await onLog((log) => log.acquireOwnership(`ingest-${topics.oracleTicks.name}`));
  await expect(running).rejects.toBeInstanceOf(FencedError);
  const statuses = await onLog((log) =>
    assertSingleSourceMode({ log, codec, mode: 'recorded', onUnreadable: () => undefined }),
  );
  expect([...statuses.keys()].sort()).toEqual(['catalog', 'chain', 'oracle']);
  expect([...statuses.values()].map(({ phase }) => phase)).not.toContain('stopped');
});
