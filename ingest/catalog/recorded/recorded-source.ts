import { pause } from '../../shared/pause.js';
import {
  createLiveMarkets,
  existsAt,
  gammaEvents,
  type LiveMarkets,
  type RecordedCatalog,
  type RecordedMarket,
  shiftDaysFor,
} from '../../shared/recorded/index.js';
import { decodeEvent } from '../decode.js';
import type { CatalogRow, CatalogSource, CatalogUpdate } from '../source.js';
import { createSchedule } from './schedule.js';

const HOUR_MS = 3_600_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const EVENTS_PER_BATCH = 100;

/** Time range around now of the shifted windows. The lead exceeds the day for which windows exist before they start. */
const LOOKBACK_MS = 3 * HOUR_MS;
const LEAD_MS = 26 * HOUR_MS;
/** After a downtime up to this long, windows that started and ended meanwhile are written too. */
const MAX_GAP_MS = 24 * HOUR_MS;

/**
 * Plays the recorded catalog. Full load: final state of every recorded market with its event, series and tags, then the short windows of
 * the recorded day around now, shifted by whole days. Live: windows appear about a day before their start and close with their outcome at
 * the recorded time of day of their resolution.
 */
export function createRecordedCatalogSource(options: {
  recording: RecordedCatalog;
  /** Shifted windows, one market per window start; the chain source plays the same windows with the same ids. */
  liveMarkets?: LiveMarkets;
  /** Time until which the log has all changes, Unix ms: windows open then may have ended since. null for an empty log. */
  lastWrittenMs: number | null;
  /** true: recorded times only, without shifted windows. */
  historyOnly?: boolean;
  onRejected: (reason: string, payload: string) => void;
  nowMs?: () => number;
  /** Longest wait before the clock is read again, because the clock may be set during a wait. */
  pollMs?: number;
}): CatalogSource {
  const { recording, lastWrittenMs, historyOnly = false, onRejected, nowMs = Date.now, pollMs = 1000 } = options;
  const liveMarkets = options.liveMarkets ?? createLiveMarkets(recording);
  const dayStartMs = recording.meta.day.from_ms;
  const shiftDays = () => shiftDaysFor(Math.floor(nowMs() / 1000), dayStartMs / 1000);
  const schedule = createSchedule();

  const between = (fromMs: number, toMs: number): RecordedMarket[] =>
    historyOnly || toMs <= fromMs ? [] : liveMarkets.between(Math.floor(fromMs / 1000), Math.floor(toMs / 1000));

  /** Windows to check at start: those around now, and those that were open at the newest record of the log. */
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
    description: historyOnly
      ? `recorded catalogue of ${dayOf(dayStartMs)}`
      : `recorded catalogue of ${dayOf(dayStartMs)}, its short windows played ${shiftDays()} days later`,
    get shiftDays() {
      return historyOnly ? null : shiftDays();
    },
    recordedFromMs: historyOnly ? null : dayStartMs,
    totalMarkets: recording.markets.length + existing.length,

    async *load(signal) {
      yield { type: 'read_until', ms: lastWrittenMs ?? startMs };
      for (const market of windows) schedule.add(market, startMs);
      for (const markets of [recording.markets, existing]) {
        for (const group of groupsByEvent(markets)) {
          if (signal.aborted) return;
          yield { type: 'rows', rows: rowsOf(group, startMs) };
        }
      }
      yield { type: 'read_until', ms: startMs };
    },

    async *live(signal): AsyncGenerator<CatalogUpdate> {
      yield {
        type: 'connected',
        connected: true,
        detail: historyOnly ? 'at its end' : `${shiftDays()} days after the recording`,
      };
      if (historyOnly) return;
      while (!signal.aborted) {
        const now = nowMs();
        if (now + LEAD_MS >= horizonMs + HOUR_MS) {
          const fresh = between(horizonMs, now + LEAD_MS);
          horizonMs = now + LEAD_MS;
          // Windows whose creation time has passed are due immediately.
          for (const market of fresh) schedule.add(market, Math.min(now, (market.createdS ?? 0) * 1000 - 1));
        }
        const due = schedule.due(now);
        if (due.length > 0) {
          yield { type: 'rows', rows: rowsOf(due, now) };
          yield { type: 'read_until', ms: now };
        }
        await pause(Math.min(pollMs, Math.max(1, (schedule.nextMs() ?? now + pollMs) - now)), signal);
      }
    },
  };
}

/** Splits the markets into batches; the markets of one event stay in one batch. */
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
