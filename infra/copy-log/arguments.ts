import { parseArgs } from 'node:util';
import { allTopics, type Topic, topics } from '../../schemas/topics.js';
import { UsageError } from '../command-line.js';

/** Topics that cannot be derived from others: what ingest, people and customers have written. */
const sourceTopics: readonly Topic[] = [
  // First, so that ingest rejects the other kind of input even in a copy that ended early.
  topics.sources,
  topics.chainFinal,
  topics.oracleTicks,
  topics.catalog,
  topics.accountsState,
  topics.usage,
  topics.socialPosts,
];

export interface CopyArguments {
  /** LOG_URL of the target. */
  readonly to: string;
  /** SCHEMA_REGISTRY_URL of the target. */
  readonly toRegistry: string | undefined;
  readonly topics: readonly Topic[];
}

export const usageText = `Usage: npm run copy-log -- --to <log> [--to-registry <url>] [topic ...]

Copies records of the log LOG_URL to another log: to move between LMDB and Kafka, or to give a new log the accounts of an old one.

  --to           lmdb:<directory> or kafka://host:port[,host:port]; its topics are created
  --to-registry  schema registry of that log, as SCHEMA_REGISTRY_URL of its processes; default: none. The registry of LOG_URL is SCHEMA_REGISTRY_URL.
                 Its user and password are COPY_LOG_REGISTRY_USER and COPY_LOG_REGISTRY_PASSWORD
  topic          default: ${sourceTopics.map(({ name }) => name).join(', ')};
                 everything else follows from these

The key that npm start prints is left out of accounts.state.
Stop all processes of both logs first, the API and stream-gateway too. A copied topic that is not compacted must have no records in the target.
Exit codes: 0 copied, 64 wrong usage, 75 a log or registry does not respond, a process of a log runs, or records were appended during the copy, 78 a topic of the target has records, or the log has lost its oldest records.`;

/** Throws UsageError for anything that is not described in the usage text. */
export function parseCopyArguments(args: readonly string[]): CopyArguments {
  const { values, positionals } = parsed(args);
  if (values.to === undefined) throw new UsageError('--to is missing: the log that receives the records');
  const toRegistry = values['to-registry'];
  if (toRegistry !== undefined && hasCredentials(toRegistry))
    throw new UsageError(
      '--to-registry contains a user or password, which every user of this machine can read in the list of processes: set COPY_LOG_REGISTRY_USER and COPY_LOG_REGISTRY_PASSWORD',
    );
  const chosen = positionals.map((name) => {
    const topic = allTopics.find((known) => known.name === name);
    if (topic === undefined)
      throw new UsageError(`There is no topic ${name}: ${allTopics.map((t) => t.name).join(', ')}`);
    return topic;
  });
  return {
    to: values.to,
    toRegistry,
    topics: chosen.length === 0 ? sourceTopics : [...new Set(chosen)],
  };
}

function hasCredentials(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { to: { type: 'string' }, 'to-registry': { type: 'string' } },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
