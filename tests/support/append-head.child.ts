import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { headFill } from './head-fill.js';

/**
 * A separate process that appends fills to chain.head until its parent sends a message and the requested number is reached, and then reports the
 * number. On LMDB an append waits for the owner of the write lock, so a test that suspends that owner must not append itself.
 */
const [logUrl = '', minCount = '0'] = process.argv.slice(2);
const EVERY_MS = 40;

const codec = createCodec();
const log = await openLog(logUrl, { logger: silentLogger(), maintenance: false });
let stopRequested = false;
process.once('message', () => {
  stopRequested = true;
});
let count = 0;
while (!stopRequested || count < Number(minCount)) {
  const fill = headFill(count);
  const record = { key: String(fill.block_number), value: codec.encode('trade', fill), timestampMs: fill.timestamp_ms };
  await log.append(topics.chainHead.name, [record]);
  count++;
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
await log.close();
process.send?.(count, () => process.disconnect());
