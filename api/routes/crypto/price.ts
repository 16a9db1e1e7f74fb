import { z } from 'zod';
import type { TtlCache } from '../../cache/ttl-cache.js';
import { cacheHeaders } from '../../http/cache-headers.js';
import { choiceParam, requiredText } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import { secondsParam } from '../../http/time-params.js';
import type { Tables } from '../../tables/port.js';
import { feedOf } from './coins.js';
import { symbolParam } from './inputs.js';
import { type WindowRow, windowPriceSql } from './oracle.sql.js';

/** Oldest copy we may serve. */
const PRICE_CACHE_S = 10;
/** An open window is read at most once a second per feed. */
const OPEN_CACHE_MS = 1_000;
const intervals = ['5m', '15m', '1h', '4h'] as const;
const intervalSeconds: Readonly<Record<(typeof intervals)[number], number>> = {
  '5m': 300,
  '15m': 900,
  '1h': 3600,
  '4h': 14_400,
};

export interface WindowPrice {
  readonly openPrice: number | null;
  readonly closePrice: number | null;
  readonly completed: boolean;
  readonly incomplete: boolean;
}

/**
 * The pair of a window. open: first tick at or after the start, before the end. close: last tick at or before the end. While the window is
 * open the close moves. Once it has ended, a close is told only when the feed has got past the end, so that it is final; until then null.
 * completed: ended and final, with a tick in it. incomplete: not completed, or an end of the pair is missing for good.
 */
function windowPriceFrom(
  row: WindowRow | undefined,
  window: { startMs: number; endMs: number; nowMs: number },
): WindowPrice {
  const openPrice = row !== undefined && Number(row.before_end) > 0 ? Number(row.open) : null;
  const lastPrice = row !== undefined && Number(row.within) > 0 ? Number(row.close) : null;
  const ended = window.nowMs >= window.endMs;
  const passed = ended && row !== undefined && Number(row.passed) > 0;
  const completed = passed && lastPrice !== null;
  const closePrice = ended && !completed ? null : lastPrice;
  return { openPrice, closePrice, completed, incomplete: !completed || openPrice === null || closePrice === null };
}

/** Window open and close: the price to beat. */
export function createPriceRoute(deps: { tables: Tables; cache: TtlCache }): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/crypto/price',
    reads: ['oracle'],
    apiGroup: 'v1',
    tag: 'Crypto',
    auth: 'key',
    feature: 'v1',
    cacheS: PRICE_CACHE_S,
    summary: 'Open and close of a window (price to beat)',
    description:
      'Spot prices, unrounded. `closePrice` moves until the window ends; it is null between the end and the first tick that makes it final. A window without ticks, be it in the future, before the recorded history or of no market, has null prices, `completed: false` and `incomplete: true`.',
    query: z.object({
      symbol: symbolParam,
      window: requiredText('window')
        .pipe(secondsParam({ description: '', invalid: 'Invalid window' }))
        .meta({ type: 'integer', minimum: 0, description: 'Start of the window, Unix seconds.', example: 1811000400 }),
      interval: choiceParam({
        description: 'Length of the window. Default 5m.',
        invalid: `Invalid interval. Use: ${intervals.join(', ')}`,
        values: intervals,
        example: '5m',
      }).default('5m'),
    }),
    success: {
      description: 'Window price',
      schema: z.object({
        openPrice: z.number().nullable().meta({
          description: 'Spot price of the first tick of the window; null before it, and for a window without ticks.',
        }),
        closePrice: z.number().nullable().meta({
          description: 'Spot price of the last tick up to the end of the window; moves until it ends.',
        }),
        timestamp: z.int().meta({ description: 'When the pair was read, Unix milliseconds.' }),
        completed: z.boolean(),
        incomplete: z.boolean(),
        cached: z.boolean(),
      }),
      example: {
        openPrice: 101.9,
        closePrice: 101.63,
        timestamp: 1811000466512,
        completed: false,
        incomplete: true,
        cached: false,
      },
    },
    async handler({ query }, context) {
      const feed = feedOf(query.symbol);
      const startMs = query.window * 1000;
      const endMs = startMs + intervalSeconds[query.interval] * 1000;
      const { nowMs } = context;
      const ended = nowMs >= endMs;
      const load = async () => {
        const [row] = await deps.tables.rows<WindowRow>(windowPriceSql({ feed, fromMs: startMs, toMs: endMs }));
        return { ...windowPriceFrom(row, { startMs, endMs, nowMs }), timestamp: nowMs };
      };
      // The key says whether the window has ended: a copy of the open window is never served after it.
      const key = `price:${feed}:${startMs}:${endMs}:${ended ? 'ended' : 'open'}`;
      const openS = OPEN_CACHE_MS / 1000;
      const cached = await deps.cache.get(
        key,
        (price) => (ended ? (price.completed ? PRICE_CACHE_S * 1000 : 0) : OPEN_CACHE_MS),
        load,
      );
      const { timestamp, ...price } = cached.value;
      const maxAgeS = ended ? (price.completed ? PRICE_CACHE_S : 0) : openS;
      return { body: { ...price, timestamp, cached: cached.hit }, cache: cacheHeaders(cached, maxAgeS) };
    },
  });
}
