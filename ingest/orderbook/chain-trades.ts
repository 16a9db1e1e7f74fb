import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { Trade } from '../../schemas/types.gen.js';
import type { SourceLog } from '../shared/owned-log.js';

/** Trades of chain.head that are written from now on, until the signal. Unreadable records are left to the readers whose business they are. */
export async function* chainTrades(
  log: Pick<SourceLog, 'read' | 'bounds'>,
  codec: Codec,
  signal: AbortSignal,
): AsyncIterable<Trade> {
  const topic = topics.chainHead.name;
  const { next } = await log.bounds(topic, 0);
  for await (const { records } of log.read({ topic, partition: 0, from: { offset: next }, follow: true, signal }))
    for (const { value } of records) {
      const event = value === null ? undefined : tryDecode(codec, value, () => undefined);
      if (event?.kind === 'trade') yield event.value;
    }
}
