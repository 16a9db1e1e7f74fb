import { setTimeout as sleep } from 'node:timers/promises';
import { RetryableError } from '../../infra/errors.js';
import { createLmdbLog } from '../../infra/log/lmdb/lmdb-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';

/**
 * Appends batches of numbered records "<id>:<n>" until it has written enough, fails or is killed, and reports the first number not
 * yet acknowledged.
 * argv: directory, topic, id, first number, records per batch, batches (0: without end)
 */
const [dir, topic, id, first, size, batches] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const log = createLmdbLog({ dir, logger: silentLogger(), maintenanceIntervalMs: null, unavailableAfterMs: 0 });
const report = (message: unknown) =>
  new Promise<void>((resolve) => {
    process.send?.(message, () => resolve());
  });

/** Between two batches of an endless writer: on a file system in memory thousands a second would be written, and the tests read all of them repeatedly. */
const PAUSE_MS = 2;

let next = Number(first);
for (let batch = 0; Number(batches) === 0 || batch < Number(batches); batch++) {
  const records = Array.from({ length: Number(size) }, (_, i) => ({
    key: id,
    value: Buffer.from(`${id}:${next + i}:`.padEnd(300, 'x')),
    timestampMs: 1_700_000_000_000 + next + i,
  }));
  try {
    await log.append(topic, records);
  } catch (error) {
    const { name, message } = error as Error;
    await report({ acked: next, failed: name, message, retryable: error instanceof RetryableError });
    break;
  }
  next += records.length;
  await report({ acked: next });
  if (Number(batches) === 0) await sleep(PAUSE_MS);
}
await log.close();
process.disconnect();
