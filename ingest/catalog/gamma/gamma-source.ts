import { RetryableError } from '../../../infra/errors.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import { joinReasons, payloadOf } from '../../shared/dead-letters.js';
import { pause } from '../../shared/pause.js';
import { decodeEvent } from '../decode.js';
import { isObject, type JsonObject, optionalTime } from '../fields.js';
import { createHydrationCounts, type HydrationCounts } from '../hydration-counts.js';
import type { CatalogRow, CatalogSource, CatalogUpdate } from '../source.js';
import { upDownSlugsAround } from '../up-down.js';
import { createIdCheck } from './check-ids.js';
import { type GammaClient, GammaRejectedError, type Query } from './client.js';
import { createMarketFinder } from './find-markets.js';
import { createListReader, type List } from './lists.js';
import { GammaShapeError, keysetPages, offsetPages } from './pages.js';

export interface GammaOptions {
  readonly client: GammaClient;
  /** Human-readable name of the service. */
  readonly host: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Incremented for rows that cannot be decoded and responses of an undocumented shape. */
  readonly counts?: HydrationCounts;
  /** Called for every row that could not be decoded. */
  readonly onRejected: (reason: string, payload: string) => void;
  readonly times?: Partial<GammaTimes>;
  /** Rate limit of market lookups per second; set by tests. */
  readonly findPerSecond?: number;
  /** Time of the newest catalogue record of the log, Unix ms; null for an empty log. */
  readonly lastWrittenMs?: number | null;
  /** `read_until` as last reported, Unix ms; null: never. */
  readonly readUntilMs?: number | null;
  readonly nowMs?: () => number;
}

export interface GammaTimes {
  /** Interval between two requests of the current short-form windows. */
  readonly upDownPollMs: number;
  /** Interval between two requests of updated events. */
  readonly updatedPollMs: number;
  /** Interval between two full loads, which find changes that the increments missed. */
  readonly reloadMs: number;
  /** Age limit of closed events in the full load. */
  readonly closedLookbackMs: number;
  /** Delay after a failed step. */
  readonly retryDelayMs: number;
}

const defaults: GammaTimes = {
  upDownPollMs: 5_000,
  updatedPollMs: 60_000,
  reloadMs: 6 * 3_600_000,
  closedLookbackMs: 48 * 3_600_000,
  retryDelayMs: 5000,
};

const EVENTS_PER_PAGE = 100;
/** Invalid parts of an event that are rejected one by one; an event with more is rejected once, with their number. */
const MAX_REJECTED_PARTS = 20;
const SLUGS_PER_REQUEST = 20;
/** Bound of one reading of updated events: as many as are updated within days. */
const MAX_UPDATED_PAGES = 500;
/** An update may become visible shortly after its `updatedAt` time. */
const OVERLAP_MS = 60_000;
/** Time before the newest record of the log, or before the first load, since which updated events are read if nothing else is known: their requests may have failed while others succeeded. */
const RESUME_OVERLAP_MS = 3_600_000;

/**
 * Catalog source of the venue's Gamma service. Full load: series, tags, open events, recently closed events. Increments: events of the
 * current short-form windows by their computed slugs, and events updated since the last request.
 */
export function createGammaSource(options: GammaOptions): CatalogSource {
  const { client, logger, metrics, onRejected, lastWrittenMs = null, readUntilMs = null, nowMs = Date.now } = options;
  const { counts = createHydrationCounts() } = options;
  const times = { ...defaults, ...options.times };
  const skipped = metrics.counter(
    'catalog_markets_without_condition_total',
    'Markets without a condition id, which are skipped',
  );
  const rejectedRows = metrics.counter('catalog_rows_rejected_total', 'Catalog rows that could not be decoded');
  const checkIds = createIdCheck(metrics);
  /** Lists whose last reading failed. */
  const unreadLists = new Set<List>();
  /** All updates until then are known, but for those after `unreadSinceMs`; Unix ms, 0: none. */
  let updatedUntilMs = lastWrittenMs === null ? 0 : Math.min(readUntilMs ?? lastWrittenMs - RESUME_OVERLAP_MS, nowMs());
  /** Updates after this time may be unread because the list was longer than can be read; Unix ms. */
  let unreadSinceMs: number | null = null;
  let connected: boolean | null = null;

  const reject = (reason: string, raw: unknown) => {
    rejectedRows.inc();
    counts.gamma_hydration_unusable++;
    onRejected(reason, payloadOf(raw));
  };
  const { lists, ...listReader } = createListReader({ client, reject });
  const decodeEvents = (raws: readonly unknown[]): CatalogRow[] =>
    raws.flatMap((raw) => {
      const decoded = decodeEvent(raw);
      if (decoded.invalid.length > MAX_REJECTED_PARTS) {
        reject(joinReasons(decoded.invalid.map(({ reason }) => reason)), raw);
      } else for (const { reason, raw: part } of decoded.invalid) reject(reason, part);
      if (decoded.withoutCondition > 0) skipped.inc(decoded.withoutCondition);
      return decoded.rows.filter((row) => {
        if (row.kind === 'catalog_market') checkIds(row.value);
        return !listReader.has(row);
      });
    });
  const find = createMarketFinder({ client, decodeEvents, reject, perSecond: options.findPerSecond });
  const rowsOf = (raws: readonly unknown[]): CatalogUpdate => ({ type: 'rows', rows: decodeEvents(raws) });
  /** One reading of lists of events: what is updated meanwhile may be on pages that have been read before. */
  const startReading = () => {
    const startedMs = nowMs();
    let newestMs = 0;
    return {
      page(raws: readonly unknown[]): CatalogUpdate {
        for (const raw of raws) newestMs = Math.max(newestMs, updatedMs(raw) ?? 0);
        return rowsOf(raws);
      },
      end() {
        updatedUntilMs = Math.max(updatedUntilMs, Math.min(newestMs, startedMs));
      },
    };
  };

  const eventPages = (query: Query, signal: AbortSignal) =>
    keysetPages(client, { path: '/events/keyset', member: 'events', query, limit: EVENTS_PER_PAGE, signal });

  /** A failed list does not keep the events from being read, which have copies of its rows. */
  async function* readLists(chosen: readonly List[], signal: AbortSignal): AsyncGenerator<CatalogUpdate> {
    for (const list of chosen) {
      if (yield* guarded(list.path, listReader.rows(list, signal), signal, 'optional')) unreadLists.delete(list);
      else unreadLists.add(list);
    }
  }

  /** Open events and recently closed ones. */
  async function* events(signal: AbortSignal): AsyncGenerator<CatalogUpdate> {
    const reading = startReading();
    const since = new Date(nowMs() - times.closedLookbackMs).toISOString();
    const queries: readonly Query[] = [
      [['closed', 'false']],
      [
        ['closed', 'true'],
        ['end_date_min', since],
      ],
    ];
    for (const query of queries) for await (const page of eventPages(query, signal)) yield reading.page(page);
    // Events that were closed longer ago are found by their updates only.
    if (updatedUntilMs !== 0) return;
    reading.end();
    yield readUntil();
  }

  const readUntil = (): CatalogUpdate => ({ type: 'read_until', ms: unreadSinceMs ?? updatedUntilMs });
  const changedSinceMs = () => Math.max(0, updatedUntilMs - OVERLAP_MS);

  async function* shortForms(signal: AbortSignal): AsyncGenerator<CatalogUpdate> {
    const slugs = upDownSlugsAround(nowMs());
    for (let from = 0; from < slugs.length; from += SLUGS_PER_REQUEST) {
      const requested = slugs.slice(from, from + SLUGS_PER_REQUEST);
      const query: Query = [...requested.map((slug) => ['slug', slug] as const), ['limit', String(SLUGS_PER_REQUEST)]];
      const rows = await client.get('/events', query, signal);
      if (!Array.isArray(rows)) throw new GammaShapeError('/events: the response is not a list');
      if (rows.length > 0) yield rowsOf(rows);
    }
  }

  /** Events that were updated after `sinceMs`, newest first. */
  async function* changed(sinceMs: number, signal: AbortSignal): AsyncGenerator<CatalogUpdate> {
    const reading = startReading();
    let isCut = false;
    for (const closed of ['false', 'true']) {
      const query: Query = [
        ['closed', closed],
        ['order', 'updatedAt'],
        ['ascending', 'false'],
      ];
      const paging = { path: '/events', query, limit: EVENTS_PER_PAGE, maxPages: MAX_UPDATED_PAGES, signal };
      let pages = 0;
      let isRead = false;
      try {
        for await (const page of offsetPages(client, paging)) {
          pages++;
          yield reading.page(page);
          isRead = page.every((raw) => (updatedMs(raw) ?? 0) <= sinceMs);
          if (isRead) break;
        }
        isRead ||= pages < MAX_UPDATED_PAGES;
      } catch (error) {
        // The service may limit the offset.
        if (!(error instanceof GammaRejectedError) || pages === 0) throw error;
      }
      if (!isRead) isCut = true;
    }
    reading.end();
    if (isCut) {
      logger.warn({ sinceMs }, 'the list of updated events is too long: its rest is read after the next full load');
      unreadSinceMs = Math.min(sinceMs, unreadSinceMs ?? sinceMs);
    } else if (unreadSinceMs !== null && sinceMs <= unreadSinceMs) unreadSinceMs = null;
    yield readUntil();
  }

  /**
   * Runs one step; a fault becomes a `connected: false` update, that of an optional step only while no other one has succeeded. Returns whether the
   * step succeeded.
   */
  async function* guarded(
    what: string,
    step: AsyncIterable<CatalogUpdate>,
    signal: AbortSignal,
    need: 'required' | 'optional' = 'required',
  ): AsyncGenerator<CatalogUpdate, boolean> {
    try {
      for await (const update of step) {
        yield* announce(true, options.host);
        yield update;
      }
      yield* announce(true, options.host);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      const known =
        error instanceof RetryableError || error instanceof GammaRejectedError || error instanceof GammaShapeError;
      if (!known) throw error;
      if (error instanceof GammaShapeError) counts.gamma_hydration_parse_errors++;
      logger.warn({ err: error, step: what }, 'catalog step failed');
      if (need === 'required' || connected !== true) yield* announce(false, error.message);
      return false;
    }
  }
  function* announce(now: boolean, detail: string): Generator<CatalogUpdate> {
    if (connected === now) return;
    connected = now;
    yield { type: 'connected', connected: now, detail };
  }

  return {
    mode: 'live',
    description: `Gamma ${options.host}`,
    shiftDays: null,
    recordedFromMs: null,
    totalMarkets: null,
    find,
    async *load(signal) {
      // Before the first row: a restart cannot tell by the newest record of the log what was read.
      yield updatedUntilMs > 0 ? readUntil() : { type: 'read_until', ms: nowMs() - RESUME_OVERLAP_MS };
      while (!signal.aborted) {
        yield* readLists(lists, signal);
        // Before the full load, whose records would be the newest ones for a restart.
        if (updatedUntilMs > 0) yield* guarded('changes', changed(changedSinceMs(), signal), signal);
        if (yield* guarded('load', events(signal), signal)) return;
        // A page that fails for long must not keep the markets of now from being known.
        yield* guarded('short-form windows', shortForms(signal), signal);
        await pause(times.retryDelayMs, signal);
      }
    },
    async *live(signal) {
      const last = { changed: nowMs(), reload: nowMs() };
      // A clock that was set back makes a step due, too.
      const isDue = (lastMs: number, everyMs: number) => Math.abs(nowMs() - lastMs) >= everyMs;
      while (!signal.aborted) {
        // A step that fails does not keep the others from running.
        let ok = yield* guarded('short-form windows', shortForms(signal), signal);
        if (isDue(last.changed, times.updatedPollMs)) {
          last.changed = nowMs();
          yield* readLists([...unreadLists], signal);
          ok = (yield* guarded('changes', changed(changedSinceMs(), signal), signal)) && ok;
        }
        if (isDue(last.reload, times.reloadMs)) {
          yield* readLists(lists, signal);
          const reloaded = yield* guarded('reload', events(signal), signal);
          if (reloaded) last.reload = nowMs();
          if (reloaded && unreadSinceMs !== null) yield* guarded('changes', changed(unreadSinceMs, signal), signal);
          ok = reloaded && ok;
        }
        await pause(ok ? times.upDownPollMs : times.retryDelayMs, signal);
      }
    },
  };
}

function updatedMs(raw: unknown): number | null {
  return isObject(raw) ? optionalTime((raw as JsonObject).updatedAt) : null;
}
