import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { clickHouseConnection } from '../clickhouse/connection.js';
import { runCommandLine } from '../command-line.js';
import { loadConfig, reachableHost } from '../config/config.js';
import { RetryableError } from '../errors.js';
import { openEventLog } from '../registry/open-event-log.js';
import { createLogger } from '../telemetry/logger.js';
import { probe } from '../up/probe.js';
import { parseExportArguments, usageText } from './arguments.js';
import { clickHouseExport } from './clickhouse-export.js';
import { exportDataset } from './exporter.js';
import { REACH_MS, sinkPositions, tablesHaveLog } from './tables-have-log.js';

/** Processors measure the lag of every task before they respond. */
const PROBE_MS = 4_000;
const POLL_MS = 500;
/** Tables get the rows of a block within about a second of each other while processors keep up with the chain. */
const SETTLE_MS = 5_000;

/** `npm run export -- <dataset> ...`: rows of a public view as files, while the product runs. */
async function main(args: readonly string[]): Promise<void> {
  const options = parseExportArguments(args);
  const config = loadConfig();
  const { url, user, password } = await clickHouseConnection(config);
  const client = createClient({
    url,
    username: user,
    password,
    request_timeout: 3_600_000,
    // The client warns about the long timeout, which is meant.
    log: { level: ClickHouseLogLevel.ERROR },
  });
  const print = (line: string) => process.stdout.write(`${line}\n`);
  try {
    const database = clickHouseExport(client, config.clickhouse.analystDatabase);
    const readyz = `http://${reachableHost(config.host)}:${config.ports.admin.processors}/readyz`;
    const processorsReady = async () => {
      const response = await probe(readyz, {}, PROBE_MS);
      return response === null ? null : response.status === 200;
    };
    const tablesComplete = async () => {
      const logger = createLogger({ process: 'export', level: 'warn' });
      const { log } = await openEventLog(config, { logger, maintenance: false });
      try {
        const positions = () => sinkPositions(database, config.clickhouse.database);
        return await tablesHaveLog({ log, positions, withinMs: REACH_MS, pollMs: POLL_MS });
      } finally {
        await log.close();
      }
    };
    const settle = () => sleep(SETTLE_MS);
    const report = await exportDataset({ database, print, processorsReady, tablesComplete, settle }, options);
    const { files, skipped, rows, unreached } = report;
    print(
      `${files} file${files === 1 ? '' : 's'} in ${options.out}, ${skipped} of them from earlier; ${rows.toLocaleString('en')} rows written.`,
    );
    if (unreached !== null) throw new RetryableError(unreached);
  } finally {
    await client.close();
  }
}

runCommandLine({ usageText, main });
