import { pause } from '../../shared/pause.js';
import {
  createLiveMarkets,
  existsAt,
  gammaEvents,
  type LiveMarkets,
  type RecordedMarket,
  type Recording,
  shiftDaysFor,
} from '../../shared/recorded/index.js';
import { decodeEvent } from '../decode.js';
import type { CatalogRow, CatalogSource, CatalogUpdate } from '../source.js';
import { createSchedule } from './schedule.js';

const HOUR_MS = 3_600_000;
const EVENTS_PER_BATCH = 100;

/** How far around now the moved windows are kept true. The lead is a little more than the day windows exist before they start. */
const LOOKBACK_MS = 3 * HOUR_MS;
const LEAD_MS = 26 * HOUR_MS;
/** Downtime up to this is filled in: windows that came and went meanwhile are written too. */
const MAX_GAP_MS = 24 * HOUR_MS;

/**
 * Plays the recorded catalogue. Full load: every recorded market with its event, series and tags as they ended, then the short windows of
 * the recorded day moved by whole days around now. Live: windows appear about a day before they start, and close with their outcome when
 * they were resolved, at the same time of day as in the recording.
 */
export function createRecordedCatalogSource(options: {
  recording: Recording;
  /** One market per window start: the same windows, with the same ids, as the chain source plays. */
  liveMarkets?: LiveMarkets;
  /** Time of the newest catalogue record in the log: windows open then may have ended since. null for a fresh log. */
  lastWrittenMs: number | null;
  /** true: only what was recorded, nothing moved. */
  historyOnly?: boolean;
  onRejected: (reason: string, payload: string) => void;
  nowMs?: () => number;
  /** Longest wait before looking at the clock again: it may be set while we wait. */
  pollMs?: number;
}): CatalogSource {
  const { recording, lastWrittenMs, historyOnly = false, onRejected, nowMs = Date.now, pollMs = 1000 } = options;
  const liveMarkets = options.liveMarkets ?? createLiveMarkets(recording);
  const dayStartMs = recording.meta.day.from_ms;
  const shiftDays = () => shiftDaysFor(Math.floor(nowMs() / 1000), dayStartMs / 1000);
  const schedule = createSchedule();

  const between = (fromMs: number, toMs: number): RecordedMarket[] =>
    historyOnly || toMs <= fromMs ? [] : liveMarkets.between(Math.floor(fromMs / 1000), Math.floor(toMs / 1000));

  /** Windows to look at when starting: those around now, and those that were open when the log was last written. */
  const windowsAtStart = (now: number): RecordedMarket[] => {
    const aroundFromMs =
      lastWrittenMs === null
        ? now - LOOKBACK_MS
        : Math.max(now - MAX_GAP_MS, Math.min(now - LOOKBACK_MS, lastWrittenMs - HOUR_MS));
    const staleFromMs = lastWrittenMs === null ? aroundFromMs : lastWrittenMs - HOUR_MS;
    const staleToMs = lastWrittenMs === null ? aroundFromMs : Math.min(lastWrittenMs + LEAD_MS, aroundFromMs);
    return [...between(staleFromMs, staleToMs), ...between(aroundFromMs, now + LEAD_MS)];
  };
  const rowsOf = (markets: readonly RecordedMarket[], now: number): CatalogRow[] =>
    gammaEvents(recording, markets, now).flatMap((event) => {
      const { rows, invalid } = decodeEvent(event);
      for (const { reason, raw } of invalid) onRejected(reason, JSON.stringify(raw) ?? String(raw));
      return rows;
    });

  const startMs = nowMs();
  const windows = windowsAtStart(startMs);
  const existing = windows.filter((market) => existsAt(market, startMs));
  let horizonMs = startMs + LEAD_MS;

  return {
    mode: 'recorded',
    description: `recorded catalogue of ${new Date(dayStartMs).toISOString().slice(0, 10)}, its short windows played ${shiftDays()} days later`,
    get shiftDays() {
      return shiftDays();
    },
    recordedFromMs: dayStartMs,
    totalMarkets: recording.markets.length + existing.length,

    async *load(signal) {
      for (const market of windows) schedule.add(market, startMs);
      for (const markets of [recording.markets, existing]) {
        for (const group of groupsByEvent(markets)) {
          if (signal.aborted) return;
          yield { type: 'rows', rows: rowsOf(group, startMs) };
        }
      }
    },

    async *live(signal): AsyncGenerator<CatalogUpdate> {
      if (historyOnly) return;
      yield { type: 'connected', connected: true, detail: `${shiftDays()} days after the recording` };
      while (!signal.aborted) {
        const now = nowMs();
        if (now + LEAD_MS >= horizonMs + HOUR_MS) {
          const fresh = between(horizonMs, now + LEAD_MS);
          horizonMs = now + LEAD_MS;
          // Windows whose creation is already past are due at once.
          for (const market of fresh) schedule.add(market, Math.min(now, (market.createdS ?? 0) * 1000 - 1));
        }
        const due = schedule.due(now);
        if (due.length > 0) yield { type: 'rows', rows: rowsOf(due, now) };
        await pause(Math.min(pollMs, Math.max(1, (schedule.nextMs() ?? now + pollMs) - now)), signal);
      }
    },
  };
}

/** Cuts the markets into batches that never part the markets of one event. */
function* groupsByEvent(markets: readonly RecordedMarket[]): Generator<RecordedMarket[]> {
  const byEvent = new Map<string, RecordedMarket[]>();
  for (const market of markets) {
    const own = byEvent.get(market.eventSlug);
    if (own === undefined) byEvent.set(market.eventSlug, [market]);
    else own.push(market);
  }
  let group: RecordedMarket[] = [];
  let events = 0;
  for (const own of byEvent.values()) {
    group.push(...own);
    if (++events < EVENTS_PER_BATCH) continue;
    yield group;
    group = [];
    events = 0;
  }
  if (group.length > 0) yield group;
}
