import { openLog } from '../../infra/log/open-log.js';
import type { NewRecord } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createBlockEncoder } from '../../ingest/chain/block-records.js';
import { blockEvent, decodeBlock, decodePending } from '../../ingest/chain/decode/index.js';
import { createOwnedLog } from '../../ingest/shared/owned-log.js';
import { createCodec } from '../../schemas/codec.js';
import { fillBlock } from './fill-blocks.js';

/**
 * Decodes blocks and appends them to chain.final like the history writer: the next batch is decoded while one append is running.
 * argv: log URL, number of blocks. The blocks are made before it is ready: they are the input, as the node's responses are for the product, and not part of
 * any figure but the resident memory. Starts at the first message.
 */
const BATCH_RECORDS = 4_096;
const [url, count] = process.argv.slice(2) as [string, string];
const log = await openLog(url, { logger: silentLogger(), maintenance: false });
const owned = await createOwnedLog(log, ['chain.final']);
const encode = createBlockEncoder({ codec: createCodec(), decoder: { decodeBlock, blockEvent, decodePending } });
const blocks = Array.from({ length: Number(count) }, (_, i) => fillBlock(i + 1));
const started = new Promise((resolve) => process.once('message', resolve));
process.send?.({ type: 'ready' });
await started;

let encodingMs = 0;
let waitingMs = 0;
let peakRss = 0;
const cpuMicros = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const startedAt = performance.now();
const cpuBefore = cpuMicros();
let batch: NewRecord[] = [];
let appending: Promise<unknown> = Promise.resolve();
for (const block of blocks) {
  const since = performance.now();
  const records = encode(block);
  batch.push(...records.eventRecords, records.block);
  encodingMs += performance.now() - since;
  if (batch.length < BATCH_RECORDS) continue;
  const waitingSince = performance.now();
  await appending;
  waitingMs += performance.now() - waitingSince;
  peakRss = Math.max(peakRss, process.memoryUsage.rss());
  appending = owned.append('chain.final', batch);
  batch = [];
}
await appending;
if (batch.length > 0) await owned.append('chain.final', batch);
process.send?.({
  type: 'done',
  seconds: (performance.now() - startedAt) / 1000,
  encodingSeconds: encodingMs / 1000,
  waitingSeconds: waitingMs / 1000,
  cpuSeconds: (cpuMicros() - cpuBefore) / 1e6,
  rssMb: Math.round(Math.max(peakRss, process.memoryUsage.rss()) / 2 ** 20),
});
await log.close();
process.disconnect();
