import path from 'node:path';
import type { MemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createRecordedCatalogSource } from '../../ingest/catalog/recorded/recorded-source.js';
import { rowKey } from '../../ingest/catalog/source.js';
import { createBlockEncoder } from '../../ingest/chain/block-records.js';
import { blockEvent, decodeBlock, decodePending } from '../../ingest/chain/decode/index.js';
import { createHeadTracker } from '../../ingest/chain/head-tracker.js';
import { createRecordedChainSource } from '../../ingest/chain/recorded/recorded-source.js';
import { createLiveMarkets, createSteppingClock, openRecording } from '../../ingest/shared/recorded/index.js';
import { createStreamProcessor } from '../../processors/stream/processor.js';
import type { PriceTick, StreamEvent } from '../../schemas/types.gen.js';
import { chainParts, codec, freshLog } from './chain-harness.js';

const DAY_MS = 86_400_000;

export const recording = openRecording(path.join(import.meta.dirname, '../recorded/set'));

/** Whole days between the recorded day of ticks and a time. */
export const tickShiftMs = (atMs: number): number => Math.floor((atMs - recording.meta.day.from_ms) / DAY_MS) * DAY_MS;

async function writeCatalogue(log: MemoryLog, liveMarkets: ReturnType<typeof createLiveMarkets>, nowMs: number) {
  const onRejected = (reason: string) => {
    throw new Error(reason);
  };
  const source = createRecordedCatalogSource({
    recording,
    liveMarkets,
    lastWrittenMs: null,
    onRejected,
    nowMs: () => nowMs,
  });
  for await (const update of source.load(new AbortController().signal)) {
    if (update.type !== 'rows') continue;
    const records = update.rows.map((row) => ({
      key: rowKey(row),
      value: codec.encode(row.kind, row.value),
      timestampMs: nowMs,
    }));
    await log.append('catalog', records);
  }
}

async function writeHead(
  log: MemoryLog,
  liveMarkets: ReturnType<typeof createLiveMarkets>,
  fromMs: number,
  toMs: number,
) {
  const clock = createSteppingClock(fromMs);
  const signal = new AbortController().signal;
  const source = await createRecordedChainSource({
    recording,
    liveMarkets,
    clock,
    logger: silentLogger(),
    untilMs: toMs,
  });
  const decoder = { decodeBlock, blockEvent, decodePending };
  const tracker = createHeadTracker({
    ...chainParts(log),
    decoder,
    encodeBlock: createBlockEncoder({ codec, decoder }),
    source,
    signal,
    now: clock.nowMs,
    reread: { begin: async () => undefined, end: () => undefined },
  });
  await tracker.recover();
  for await (const event of source.live(signal)) {
    if (event.type === 'pending') tracker.onPending(event.transaction, event.seenAtMs);
    if (event.type !== 'head') continue;
    tracker.onHead(event.block, event.seenAtMs);
    await tracker.idle();
  }
  await tracker.idle();
}

async function writeTicks(log: MemoryLog, fromMs: number, toMs: number) {
  const shiftMs = tickShiftMs(fromMs);
  const ticks = [...recording.ticks()].filter(({ timestampMs }) => {
    const atMs = timestampMs + shiftMs;
    return atMs > fromMs && atMs <= toMs;
  });
  const records = ticks.map((tick) => {
    const value: PriceTick = {
      id: `BTC/USD-${tick.timestampMs + shiftMs}-0`,
      feed: 'BTC/USD',
      source: 'recorded',
      timestamp_ms: tick.timestampMs + shiftMs,
      price: tick.priceE18,
      bid: null,
      ask: null,
      is_twap: false,
      twap_window_s: null,
      received_at_ms: tick.receivedMs + shiftMs,
    };
    return { key: 'BTC/USD', value: codec.encode('price_tick', value), timestampMs: value.timestamp_ms };
  });
  await log.append('oracle.ticks', records);
}

/** Stream events of the recorded day, replayed between two times by the real ingest and the real stream processor. */
export async function recordedStream(fromMs: number, toMs: number): Promise<StreamEvent[]> {
  const log = await freshLog();
  const liveMarkets = createLiveMarkets(recording);
  await writeCatalogue(log, liveMarkets, fromMs);
  await writeHead(log, liveMarkets, fromMs, toMs);
  await writeTicks(log, toMs - 5 * 60_000, toMs);
  const stop = new AbortController();
  const processor = createStreamProcessor({
    log,
    codec,
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    now: () => toMs,
  });
  const running = processor.run(stop.signal);
  const idle = async () => {
    const state = await processor.state();
    return state.loaded && state.lag === 0;
  };
  while (!(await idle())) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await running;
  if (log.all('dead.letters').length > 0) throw new Error('dead letters');
  return log.all('stream.events').map(({ value }) => {
    const event = codec.decode(value as Buffer);
    if (event.kind !== 'stream_event') throw new Error(event.kind);
    return event.value;
  });
}
