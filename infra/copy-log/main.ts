import { topics as allTopics } from '../../schemas/topics.js';
import { runCommandLine, UsageError } from '../command-line.js';
import { loadConfig } from '../config/config.js';
import { RetryableError } from '../errors.js';
import { readLiveMembers } from '../membership/membership.js';
import { type EventLog, openEventLog } from '../registry/open-event-log.js';
import { createLogger, type Logger } from '../telemetry/logger.js';
import { createMetrics } from '../telemetry/metrics.js';
import { parseCopyArguments, usageText } from './arguments.js';
import { copyTopic, endsOf, requireCopyable, requireUnchanged } from './copy-topic.js';
import { ownRecordsOf } from './own-records.js';

const PROGRESS_MS = 2_000;
/** Unreadable records that are printed, per topic. */
const MAX_PRINTED = 10;

/** Roles of the processes with a heartbeat in the log that write what is copied. */
const WRITERS = ['ingest', 'processors', 'stream'];

/** Throws RetryableError while a process writes to the log: what it writes meanwhile would be in one of the two logs only. */
async function requireStopped(name: string, { log, codec }: EventLog, logger: Logger): Promise<void> {
  for (const role of WRITERS) {
    const members = await readLiveMembers({ log, codec, logger, role });
    if (members.length > 0)
      throw new RetryableError(
        `Stop all processes first, then wait ten seconds; ${role} of ${name}: ${members.join(', ')}`,
      );
  }
}

/** `npm run copy-log`: records of one log to another. */
async function main(args: readonly string[]): Promise<void> {
  const { to, toRegistry, topics } = parseCopyArguments(args);
  const config = loadConfig();
  if (to === config.logUrl) throw new UsageError(`--to ${to} is LOG_URL itself`);
  const { user: SCHEMA_REGISTRY_USER, password: SCHEMA_REGISTRY_PASSWORD } = config.copyLogRegistry;
  const registry = { SCHEMA_REGISTRY_URL: toRegistry, SCHEMA_REGISTRY_USER, SCHEMA_REGISTRY_PASSWORD };
  const settings = toRegistry === undefined ? { LOG_URL: to } : { LOG_URL: to, ...registry };
  const targetConfig = { ...loadConfig(settings), kafka: config.kafka };
  const logger = createLogger({ process: 'copy-log', level: 'warn' });
  const open = (of: typeof config) =>
    openEventLog(of, { logger, metrics: createMetrics({ process: 'copy-log', defaults: false }), maintenance: false });
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const source = await open(config);
  try {
    const target = await open(targetConfig);
    try {
      await requireStopped(config.logUrl, source, logger);
      await requireStopped(to, target, logger);
      for (const topic of topics) await requireCopyable(topic, source, target);
      // A command that the API accepts now would be in no copied state.
      const watched = [...new Set([...topics, allTopics.accountsCommands])];
      const ends = await endsOf(watched, source);
      for (const topic of topics) {
        let [reportedMs, printed] = [performance.now(), 0];
        const own = await ownRecordsOf(topic, source, config.dataDir);
        const { copied, unreadable } = await copyTopic(topic, source, target, {
          copied: own.copied,
          progress(records) {
            if (performance.now() - reportedMs < PROGRESS_MS) return;
            reportedMs = performance.now();
            print(`${topic.name}: ${records.toLocaleString('en')} records so far`);
          },
          unreadable(partition, { offset }, reason) {
            printed += 1;
            if (printed <= MAX_PRINTED) print(`${topic.name}/${partition}, offset ${offset}, is left out: ${reason}`);
          },
        });
        const left = `${own.leftOut}${unreadable === 0 ? '' : `, ${unreadable.toLocaleString('en')} unreadable ones left out`}`;
        print(`${topic.name}: ${copied.toLocaleString('en')} record${copied === 1 ? '' : 's'} copied${left}`);
      }
      await requireUnchanged(ends, watched, source);
    } finally {
      await target.log.close();
    }
  } finally {
    await source.log.close();
  }
}

runCommandLine({ usageText, main });
