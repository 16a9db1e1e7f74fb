import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';

/**
 * Tails a topic and reports when each record was read. All processes of a machine share the clock of process.hrtime.
 * argv: log URL, topic, number of records. Sends 'ready', then the times in nanoseconds as strings.
 */
const [url, topic, expectedRecords] = process.argv.slice(2) as [string, string, string];
const log = await openLog(url, { logger: silentLogger(), maintenance: false });
const seen: string[] = [];
const send = (message: unknown) =>
  new Promise<void>((resolve) => {
    process.send?.(message, () => resolve());
  });
await send('ready');
for await (const batch of log.read({ topic, partition: 0, from: 'earliest', follow: true })) {
  const now = process.hrtime.bigint().toString();
  for (let i = 0; i < batch.records.length; i++) seen.push(now);
  if (seen.length >= Number(expectedRecords)) break;
}
const cpu = process.cpuUsage();
await send({ seen, cpuMs: (cpu.user + cpu.system) / 1000, rssMb: process.memoryUsage.rss() / 2 ** 20 });
await log.close();
process.disconnect();
