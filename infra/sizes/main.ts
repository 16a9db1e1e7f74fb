import { allTopics, type Topic } from '../../schemas/topics.js';
import { createClickHouse } from '../clickhouse/client.js';
import { clickHouseConnection } from '../clickhouse/connection.js';
import { runCommandLine, UsageError } from '../command-line.js';
import { loadConfig } from '../config/config.js';
import { partitionsOf } from '../log/partitions.js';
import type { Log } from '../log/port.js';
import { openEventLog } from '../registry/open-event-log.js';
import { createLogger } from '../telemetry/logger.js';
import { createMetrics } from '../telemetry/metrics.js';
import { retentionOf, retentionOfTable, type StoredSize, sizeTable } from './report.js';

const usageText = `Usage: npm run sizes

Prints records and bytes of every topic of the log and every ClickHouse table, and both per million fills. It reads the whole log: a few seconds per GB.`;

interface TableRow {
  readonly name: string;
  readonly engine: string;
  readonly rows: string;
  readonly bytes: string;
}

/** On a cluster: of the connected node. */
const tablesSql = `SELECT t.name AS name, any(t.engine_full) AS engine, toString(sum(p.rows)) AS rows, toString(sum(p.bytes_on_disk)) AS bytes
  FROM system.tables AS t INNER JOIN system.parts AS p ON p.database = t.database AND p.table = t.name
  WHERE t.database = currentDatabase() AND p.active GROUP BY name`;

async function sizeOfTopic(
  log: Pick<Log, 'partitions' | 'read'>,
  topic: Topic,
  retention: string,
): Promise<StoredSize> {
  let [records, bytes] = [0, 0];
  for (const partition of await partitionsOf(log, topic)) {
    const read = { topic: topic.name, partition, from: 'earliest', follow: false, maxRecords: 5_000 } as const;
    for await (const batch of log.read(read)) {
      records += batch.records.length;
      for (const { key, value } of batch.records) bytes += Buffer.byteLength(key) + (value?.length ?? 0);
    }
  }
  return { name: topic.name, retention, records, bytes };
}

/** `npm run sizes`: what log and tables store, while the product runs. */
async function main(args: readonly string[]): Promise<void> {
  if (args.length > 0) throw new UsageError(`Unknown argument ${args[0]}`);
  const config = loadConfig();
  const logger = createLogger({ process: 'sizes', level: 'warn' });
  const metrics = createMetrics({ process: 'sizes', defaults: false });
  const { signal } = new AbortController();
  const { log } = await openEventLog(config, { logger, metrics, signal, maintenance: false });
  const clickhouse = createClickHouse(await clickHouseConnection(config), { logger });
  try {
    const tables = (await clickhouse.query<TableRow>(tablesSql)).map(({ name, engine, rows, bytes }) => ({
      name,
      retention: retentionOfTable(name, engine, config.rawHistoryDays),
      records: Number(rows),
      bytes: Number(bytes),
    }));
    const fills = tables.find(({ name }) => name === 'fills' || name === 'fills_local')?.records ?? 0;
    const logSizes: StoredSize[] = [];
    for (const topic of allTopics)
      logSizes.push(await sizeOfTopic(log, topic, retentionOf(topic, config.rawHistoryDays)));
    process.stdout.write(`${sizeTable('Topic', logSizes, fills)}\n\n${sizeTable('Table', tables, fills)}\n`);
  } finally {
    await clickhouse.close();
    await log.close();
  }
}

runCommandLine({ usageText, main });
