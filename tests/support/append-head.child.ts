import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { headFill } from './head-fill.js';

/**
 * A process of its own that appends fills to the head of the chain until its parent says anything and there are as many as wanted, and then says how many. On
 * LMDB an append waits for whoever holds the write lock, and whoever suspends that process must not be the one who waits.
 */
const [logUrl = '', wanted = '0'] = process.argv.slice(2);
const EVERY_MS = 40;

const codec = createCodec();
const log = await openLog(logUrl, { logger: silentLogger(), maintenance: false });
let stopRequested = false;
process.once('message', () => {
  stopRequested = true;
});
let count = 0;
while (!stopRequested || count < Number(wanted)) {
  const fill = headFill(count);
  const record = { key: String(fill.block_number), value: codec.encode('trade', fill), timestampMs: fill.timestamp_ms };
  await log.append(topics.chainHead.name, [record]);
  count++;
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
await log.close();
process.send?.(count, () => process.disconnect());
