import type { NewRecord } from '../../infra/log/port.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { type Codec, CodecError } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { PriceTick } from '../../schemas/types.gen.js';
import type { SourceLog } from '../shared/owned-log.js';
import { type OraclePrice, type ResumePoints, seriesKey } from './source.js';

const TOPIC = topics.oracleTicks.name;

export interface TickWriter {
  /**
   * Reads the last minutes of every partition of the log, or all of it, to detect repeated prices. Returns the time of the newest tick of
   * each series in that range, from which a source resumes. Call once, before the first write.
   */
  restore(range?: 'last minutes' | 'all'): Promise<ResumePoints>;
  /**
   * Appends new prices in the given order as one batch; resolves with the number of appended ticks when they are durable. Per series (feed
   * and TWAP window) and second the first price wins; late prices keep their own time.
   */
  write(prices: readonly OraclePrice[]): Promise<number>;
}

/**
 * Writes prices as ticks. Seconds of a series are remembered for `memoryMs` before its newest tick: an older repeated price is written again
 * with the same id, which every sink counts once.
 */
export function createTickWriter(deps: {
  log: SourceLog;
  codec: Codec;
  metrics: Metrics;
  restoreMs?: number;
  memoryMs?: number;
}): TickWriter {
  const { log, codec, restoreMs = 5 * 60_000, memoryMs = 15 * 60_000 } = deps;
  const written = deps.metrics.counter('oracle_ticks_written_total', 'Ticks appended to the log', ['series']);
  const repeated = deps.metrics.counter('oracle_ticks_repeated_total', 'Prices of a second that already has a tick', [
    'series',
  ]);
  const late = deps.metrics.counter('oracle_ticks_late_total', 'Ticks older than the newest one of their series', [
    'series',
  ]);
  const unreadable = deps.metrics.counter(
    'oracle_ticks_unreadable_total',
    'Records of the tick topic that are not ticks',
  );
  const seen = new Map<string, RecentSeconds>();

  const decodeTick = (bytes: Buffer | null): PriceTick | null => {
    if (bytes === null) return null;
    try {
      const event = codec.decode(bytes);
      if (event.kind === 'price_tick') return event.value;
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
    }
    unreadable.inc();
    return null;
  };
  const secondsOf = (series: string): RecentSeconds => {
    let seconds = seen.get(series);
    if (seconds === undefined) {
      seconds = createRecentSeconds(memoryMs);
      seen.set(series, seconds);
    }
    return seconds;
  };

  return {
    async restore(range = 'last minutes') {
      const partitions = await log.partitions(TOPIC);
      const newest = new Map<string, number>();
      for (let partition = 0; partition < partitions; partition++) {
        const last = await log.lastRecord(TOPIC, partition);
        if (last === null) continue;
        const from = range === 'all' ? 'earliest' : { timestampMs: last.timestampMs - restoreMs };
        for await (const batch of log.read({ topic: TOPIC, partition, from, follow: false })) {
          for (const record of batch.records) {
            const tick = decodeTick(record.value);
            if (tick === null) continue;
            const series = seriesKey({ feed: tick.feed, windowS: tick.twap_window_s });
            secondsOf(series).add(tick.timestamp_ms);
            newest.set(series, Math.max(newest.get(series) ?? 0, tick.timestamp_ms));
          }
        }
      }
      return newest;
    },

    async write(prices) {
      const records: NewRecord[] = [];
      const counts = new Map<string, number>();
      for (const price of prices) {
        const series = seriesKey(price);
        const seconds = secondsOf(series);
        if (seconds.has(price.timestampMs)) {
          repeated.inc({ series });
          continue;
        }
        if (price.timestampMs < seconds.newestMs()) late.inc({ series });
        seconds.add(price.timestampMs);
        counts.set(series, (counts.get(series) ?? 0) + 1);
        records.push({
          key: price.feed,
          value: codec.encode('price_tick', tickOf(price)),
          timestampMs: price.timestampMs,
        });
      }
      if (records.length === 0) return 0;
      await log.append(TOPIC, records);
      for (const [series, count] of counts) written.inc({ series }, count);
      return records.length;
    },
  };
}

/** Tick record. The id is `<series>-<timestampMs>-0`: one per second, so n is always 0. */
function tickOf(price: OraclePrice): PriceTick {
  return {
    id: `${seriesKey(price)}-${price.timestampMs}-0`,
    feed: price.feed,
    source: price.source,
    timestamp_ms: price.timestampMs,
    price: price.priceE18,
    bid: price.bidE18,
    ask: price.askE18,
    is_twap: price.isTwap,
    twap_window_s: price.windowS,
    received_at_ms: price.receivedMs,
  };
}

interface RecentSeconds {
  has(timestampMs: number): boolean;
  add(timestampMs: number): void;
  newestMs(): number;
}

/** Seconds that have a tick, back to `memoryMs` before the newest; older entries are removed in batches so that adding stays cheap. */
function createRecentSeconds(memoryMs: number): RecentSeconds {
  const seconds = new Set<number>();
  const maxSeconds = Math.ceil(memoryMs / 1000) * 2;
  let newest = 0;
  return {
    has: (timestampMs) => seconds.has(Math.floor(timestampMs / 1000)),
    add(timestampMs) {
      seconds.add(Math.floor(timestampMs / 1000));
      newest = Math.max(newest, timestampMs);
      if (seconds.size <= maxSeconds) return;
      const oldest = Math.floor((newest - memoryMs) / 1000);
      for (const second of seconds) if (second < oldest) seconds.delete(second);
    },
    newestMs: () => newest,
  };
}
