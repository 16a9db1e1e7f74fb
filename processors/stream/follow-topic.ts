import type { Log, LogRecord } from '../../infra/log/port.js';

/** Passes every current record of a partition to `apply`, oldest first. Resolves with the next offset. */
export async function loadTopic(
  log: Pick<Log, 'read' | 'bounds'>,
  topic: string,
  apply: (record: LogRecord) => void,
  signal: AbortSignal,
): Promise<number> {
  let { earliest: next } = await log.bounds(topic, 0);
  for await (const batch of log.read({ topic, partition: 0, from: { offset: next }, follow: false, signal })) {
    for (const record of batch.records) apply(record);
    next = batch.nextOffset;
  }
  return next;
}

/** Passes new records to `apply` until the signal. */
export async function followTopic(
  log: Pick<Log, 'read'>,
  topic: string,
  fromOffset: number,
  apply: (record: LogRecord) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of log.read({ topic, partition: 0, from: { offset: fromOffset }, follow: true, signal }))
    for (const record of batch.records) apply(record);
}
