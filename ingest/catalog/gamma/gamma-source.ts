import { RetryableError } from '../../../infra/errors.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import { joinReasons, payloadOf } from '../../shared/dead-letters.js';
import { pause } from '../../shared/pause.js';
import { decodeEvent, decodeSeries, decodeTag } from '../decode.js';
import { FieldError, isObject, type JsonObject, optionalTime } from '../fields.js';
import { createHydrationCounts, type HydrationCounts } from '../hydration-counts.js';
import type { CatalogRow, CatalogSource, CatalogUpdate } from '../source.js';
import { upDownSlugsAround } from '../up-down.js';
import { createIdCheck } from './check-ids.js';
import { type GammaClient, GammaRejectedError, type Query } from './client.js';
import { createMarketFinder } from './find-markets.js';
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
const SERIES_PER_PAGE = 50;
const TAGS_PER_PAGE = 100;
/** Invalid parts of an event that are rejected one by one; an event with more is rejected once, with their number. */
const MAX_REJECTED_PARTS = 20;
const SLUGS_PER_REQUEST = 20;
const MAX_UPDATED_PAGES = 20;
/** An update may become visible shortly after its `updatedAt` time. */
const OVERLAP_MS = 60_000;

/**
 * Catalog source of the venue's Gamma service. Full load: series, tags, open events, recently closed events. Increments: events of the
 * current short-form windows by their computed slugs, and events updated since the last request.
 */
export function createGammaSource(options: GammaOptions): CatalogSource {
  const { client, logger, metrics, onRejected, nowMs = Date.now, counts = createHydrationCounts() } = options;
  const times = { ...defaults, ...options.times };
  const skipped = metrics.counter(
    'catalog_markets_without_condition_total',
    'Markets without a condition id, which are skipped',
  );
  const rejectedRows = metrics.counter('catalog_rows_rejected_total', 'Catalog rows that could not be decoded');
  const checkIds = createIdCheck(metrics);
  /** Series and tags seen in their lists. The lists have more fields than the copies inside events, so these copies are not written. */
  const listed = new Set<string>();
  /** All updates until then are known; Unix ms. */
  let updatedUntilMs = 0;
  let connected: boolean | null = null;

  const reject = (reason: string, raw: unknown) => {
    rejectedRows.inc();
    counts.gamma_hydration_unusable++;
    onRejected(reason, payloadOf(raw));
  };
  const decodeListed = (raw: unknown, what: 'series' | 'tag'): CatalogRow[] => {
    try {
      if (!isObject(raw)) throw new FieldError('not an object');
      const row: CatalogRow =
        what === 'series'
          ? { kind: 'catalog_series', value: decodeSeries(raw) }
          : { kind: 'catalog_tag', value: decodeTag(raw) };
      listed.add(`${row.kind} ${row.value.id}`);
      return [row];
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      reject(`${what}: ${error.message}`, raw);
      return [];
    }
  };
  const decodeEvents = (raws: readonly unknown[]): CatalogRow[] =>
    raws.flatMap((raw) => {
      const decoded = decodeEvent(raw);
      if (decoded.invalid.length > MAX_REJECTED_PARTS) {
        reject(joinReasons(decoded.invalid.map(({ reason }) => reason)), raw);
      } else for (const { reason, raw: part } of decoded.invalid) reject(reason, part);
      if (decoded.withoutCondition > 0) skipped.inc(decoded.withoutCondition);
      return decoded.rows.filter((row) => {
        if (row.kind === 'catalog_market') checkIds(row.value);
        return !listed.has(`${row.kind} ${row.value.id}`);
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

  async function* everything(signal: AbortSignal): AsyncGenerator<CatalogUpdate> {
    const lists = [
      { what: 'series', path: '/series', query: [['exclude_events', 'true']], limit: SERIES_PER_PAGE },
      { what: 'tag', path: '/tags', query: [], limit: TAGS_PER_PAGE },
    ] as const;
    for (const { what, path, query, limit } of lists) {
      for await (const page of offsetPages(client, { path, query, limit, maxPages: 1000, signal })) {
        yield { type: 'rows', rows: page.flatMap((raw) => decodeListed(raw, what)) };
      }
    }
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
    reading.end();
  }

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

  async function* changed(signal: AbortSignal): AsyncGenerator<CatalogUpdate> {
    const until = updatedUntilMs - OVERLAP_MS;
    const reading = startReading();
    for (const closed of ['false', 'true']) {
      const query: Query = [
        ['closed', closed],
        ['order', 'updatedAt'],
        ['ascending', 'false'],
      ];
      const paging = { path: '/events', query, limit: EVENTS_PER_PAGE, maxPages: MAX_UPDATED_PAGES, signal };
      for await (const page of offsetPages(client, paging)) {
        yield reading.page(page);
        if (page.every((raw) => (updatedMs(raw) ?? 0) <= until)) break;
      }
    }
    reading.end();
  }

  /** Runs one step; a fault becomes a `connected: false` update. Returns whether the step succeeded. */
  async function* guarded(
    what: string,
    step: AsyncIterable<CatalogUpdate>,
    signal: AbortSignal,
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
      yield* announce(false, error.message);
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
      while (!signal.aborted && !(yield* guarded('load', everything(signal), signal)))
        await pause(times.retryDelayMs, signal);
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
          ok = (yield* guarded('changes', changed(signal), signal)) && ok;
        }
        if (isDue(last.reload, times.reloadMs)) {
          const reloaded = yield* guarded('reload', everything(signal), signal);
          if (reloaded) last.reload = nowMs();
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
