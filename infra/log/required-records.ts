import { FatalError } from '../errors.js';
import type { Log } from './port.js';

/**
 * Throws FatalError if the log has deleted records that `reader` has yet to process: those from offset `from` on. To be called for topics that are not compacted, before
 * the first read, since a read of deleted records begins at the earliest one without an error.
 */
export async function requireRecords(
  log: Pick<Log, 'bounds'>,
  { reader, topic, partition, from }: { reader: string; topic: string; partition: number; from: number },
): Promise<void> {
  const { earliest, next } = await log.bounds(topic, partition);
  // An empty partition has lost no records: on Kafka its bounds may start above 0 after aborted transactions.
  if (earliest <= from || next === earliest) return;
  throw new FatalError(
    `${reader} has to read ${topic}/${partition} from offset ${from} on, but the log begins at ${earliest}: older records were deleted (RAW_HISTORY_DAYS). Restore log and tables of the same time from a backup, or start with a new log and new tables`,
  );
}
