import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';

/**
 * Tails a topic and says, per record, when it was seen: the clock of process.hrtime is one for all processes of a machine.
 * argv: log URL, topic, records to wait for. Sends 'ready', then the list of nanosecond times as strings.
 */
const [url, topic, wanted] = process.argv.slice(2) as [string, string, string];
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
  if (seen.length >= Number(wanted)) break;
}
const cpu = process.cpuUsage();
await send({ seen, cpuMs: (cpu.user + cpu.system) / 1000, rssMb: process.memoryUsage.rss() / 2 ** 20 });
await log.close();
process.disconnect();
