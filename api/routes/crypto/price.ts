import { z } from 'zod';
import { choiceParam, requiredText } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import { secondsParam } from '../../http/time-params.js';
import type { Readers } from '../../readers.js';
import { v1Route } from '../v1-route.js';
import { feedOf } from './coins.js';
import { symbolParam } from './inputs.js';
import { type WindowRow, windowPriceSql } from './oracle.sql.js';

/** Maximum age of a cached response. */
const PRICE_CACHE_S = 10;
/** Reads of an open window are limited to one per second and feed. */
const OPEN_CACHE_MS = 1_000;
const intervals = ['5m', '15m', '1h', '4h'] as const;
const intervalSeconds: Readonly<Record<(typeof intervals)[number], number>> = {
  '5m': 300,
  '15m': 900,
  '1h': 3600,
  '4h': 14_400,
};

/**
 * Serializes the price pair of a window. open: first tick in [start, end). close: last tick in [start, end]. The close changes while the window is
 * open; after its end it is null until the feed has passed the end, then it is final. completed: ended, final, with a tick. incomplete: not completed,
 * or open or close will never exist.
 */
function windowPriceFrom(row: WindowRow | undefined, window: { startMs: number; endMs: number; nowMs: number }) {
  const openPrice = row !== undefined && Number(row.before_end) > 0 ? Number(row.open) : null;
  const lastPrice = row !== undefined && Number(row.within) > 0 ? Number(row.close) : null;
  const ended = window.nowMs >= window.endMs;
  const passed = ended && row !== undefined && Number(row.passed) > 0;
  const completed = passed && lastPrice !== null;
  const closePrice = ended && !completed ? null : lastPrice;
  return { openPrice, closePrice, completed, incomplete: !completed || openPrice === null || closePrice === null };
}

/** GET /v1/crypto/price: open and close price of a window. */
export function createPriceRoute({ tables, cache }: Readers): Route {
  return defineRoute({
    ...v1Route,
    path: '/v1/crypto/price',
    reads: ['oracle'],
    tag: 'Crypto',
    cacheS: PRICE_CACHE_S,
    summary: 'Open and close of a window (price to beat)',
    description:
      'Spot prices, unrounded. `closePrice` changes until the window ends and is null between the end and the first later tick, which makes it final. A window without ticks (in the future, before the recorded history, or of no market) has null prices, `completed: false` and `incomplete: true`.',
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
          description: 'Spot price of the first tick of the window; null without ticks.',
        }),
        closePrice: z.number().nullable().meta({
          description: 'Spot price of the last tick up to the end of the window; changes until the window ends.',
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
        const [row] = await tables.rows<WindowRow>(windowPriceSql({ feed, fromMs: startMs, toMs: endMs }));
        return { ...windowPriceFrom(row, { startMs, endMs, nowMs }), timestamp: nowMs };
      };
      // The key contains the window's state: a cached open window is never served after its end.
      const key = `price:${feed}:${startMs}:${endMs}:${ended ? 'ended' : 'open'}`;
      const openS = OPEN_CACHE_MS / 1000;
      const cached = await cache.get(
        key,
        (price) => (ended ? (price.completed ? PRICE_CACHE_S * 1000 : 0) : OPEN_CACHE_MS),
        load,
      );
      const { timestamp, ...price } = cached.value;
      // HTTP caches keep an open window at most until its end.
      const maxAgeS = ended
        ? price.completed
          ? PRICE_CACHE_S
          : 0
        : Math.min(openS, Math.floor((endMs - nowMs) / 1000));
      return { body: { ...price, timestamp, cached: cached.hit }, cache: { ageMs: cached.ageMs, maxAgeS } };
    },
  });
}
