import type { Log, LogRecord } from '../../infra/log/port.js';

/** Hand every record a partition holds now to `apply`, oldest first. Resolves with the offset to go on from. */
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

/** Go on with the records that come, until the signal. */
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
