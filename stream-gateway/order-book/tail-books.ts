import type { Log, LogRecord } from '../../infra/log/port.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { isDecimal } from '../../schemas/order-book/decimal.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { OrderBookUpdate } from '../../schemas/types.gen.js';

/** Ingest repeats each book within four minutes. */
const LOOKBACK_MS = 6 * 60_000;
const TOKEN_ID = /^\d{1,78}$/;
const CONDITION_ID = /^0x[0-9a-f]{1,64}$/;

/** Why a record cannot be used: its texts go into frames as they are. Null if it can. */
function problemOf(update: OrderBookUpdate): string | null {
  if (!TOKEN_ID.test(update.token_id)) return 'token_id is not a number';
  if (update.condition_id !== null && !CONDITION_ID.test(update.condition_id)) return 'condition_id is not hexadecimal';
  for (const text of [update.price, update.size])
    if (text !== null && !isDecimal(text)) return 'price or size is not a decimal';
  return null;
}

/**
 * Reads orderbook.updates: the records of the last minutes, which contain each book at least once, then new ones as they come. `onCaughtUp` is called once, when
 * what was written before the start is read. Rejects when the log cannot be read; ends after the signal.
 */
export async function tailBooks(deps: {
  log: Pick<Log, 'read' | 'bounds' | 'offsetForTimestamp' | 'partitions'>;
  codec: Codec;
  signal: AbortSignal;
  nowMs: () => number;
  onUpdates: (updates: readonly OrderBookUpdate[]) => void;
  onCaughtUp: () => void;
  onUnreadable: OnUnreadable;
}): Promise<void> {
  const { log, codec } = deps;
  const topic = topics.orderbookUpdates.name;
  const decode = (record: LogRecord): OrderBookUpdate | null => {
    const at = { topic, offset: record.offset };
    if (record.value === null) return null;
    const event = tryDecode(codec, record.value, (reason) => deps.onUnreadable(at, reason));
    if (event?.kind !== 'order_book_update') return null;
    const problem = problemOf(event.value);
    if (problem === null) return event.value;
    deps.onUnreadable(at, problem);
    return null;
  };
  const partitions = await log.partitions(topic);
  const stop = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  let loading = partitions;
  const caughtUp = () => {
    if (--loading === 0) deps.onCaughtUp();
  };
  const tail = async (partition: number) => {
    const { next } = await log.bounds(topic, partition);
    const offset = await log.offsetForTimestamp(topic, partition, deps.nowMs() - LOOKBACK_MS);
    let behind = offset < next;
    if (!behind) caughtUp();
    for await (const batch of log.read({ topic, partition, from: { offset }, follow: true, signal })) {
      deps.onUpdates(batch.records.flatMap((record) => decode(record) ?? []));
      if (behind && batch.nextOffset >= next) {
        behind = false;
        caughtUp();
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: partitions }, (_, partition) => tail(partition)));
  } finally {
    stop.abort();
  }
}
