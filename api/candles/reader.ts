import type { Tables } from '../tables/port.js';
import {
  bucketsSql,
  type CandleRange,
  type CandleRow,
  candlePageSql,
  candlesSql,
  isTableResolution,
  storedCandlesSql,
} from './candles.sql.js';

/** One bucket of fills. Amounts are base units, prices 1e-6 USD, times Unix seconds. */
export interface Candle {
  readonly startS: number;
  readonly open: bigint;
  readonly high: bigint;
  readonly low: bigint;
  readonly close: bigint;
  readonly trades: number;
  readonly usdc: bigint;
  readonly buyUsdc: bigint;
  readonly shares: bigint;
  /** null if the bucket has no trade and repeats the previous close. */
  readonly first: { readonly atS: number; readonly block: number; readonly logIndex: number } | null;
  readonly last: { readonly atS: number; readonly block: number; readonly logIndex: number } | null;
}

export interface CandleQuery {
  readonly tokenId: string;
  readonly seconds: number;
  /** Maximum number of candles. */
  readonly limit: number;
  /** The newest candles of the range, or the oldest. */
  readonly direction: 'before' | 'after';
  /** Times within the first and last bucket; null: no bound. */
  readonly fromS: number | null;
  readonly toS: number | null;
  /** Buckets without trades, between the first and the newest trade of the token, repeat the previous close. */
  readonly gapFill: boolean;
}

export interface CandlePage {
  /** Oldest first. */
  readonly candles: readonly Candle[];
  /** Last second of the buckets before the page, Unix seconds; null: the token has no trades before it, within the range or not. */
  readonly olderEndS: number | null;
  /** Start of the buckets after the page; null: the token has no trades after it, within the range or not. */
  readonly newerStartS: number | null;
  /** The range has further candles in the direction of the query. */
  readonly hasMore: boolean;
}
const NO_CANDLES: CandlePage = { candles: [], olderEndS: null, newerStartS: null, hasMore: false };

const LOG_INDEX_RANGE = 1n << 20n;
const unpackLogPosition = (packed: string, at: number | string) => ({
  atS: Number(at),
  block: Number(BigInt(packed) / LOG_INDEX_RANGE),
  logIndex: Number(BigInt(packed) % LOG_INDEX_RANGE),
});

const candleOf = (row: CandleRow): Candle => ({
  startS: Number(row.bucket_s),
  open: BigInt(row.open),
  high: BigInt(row.high),
  low: BigInt(row.low),
  close: BigInt(row.close),
  trades: Number(row.trades),
  usdc: BigInt(row.usdc),
  buyUsdc: BigInt(row.buy_usdc),
  shares: BigInt(row.shares),
  first: unpackLogPosition(row.first_place, row.first_at),
  last: unpackLogPosition(row.last_place, row.last_at),
});

const packLogPosition = (trade: Candle['first']): bigint =>
  trade === null ? 0n : BigInt(trade.block) * LOG_INDEX_RANGE + BigInt(trade.logIndex);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Merges two partial candles of one bucket. */
function mergeCandles(a: Candle, b: Candle): Candle {
  const earlier = packLogPosition(b.first) < packLogPosition(a.first) ? b : a;
  const end = packLogPosition(b.last) > packLogPosition(a.last) ? b : a;
  return {
    startS: a.startS,
    open: earlier.open,
    high: -min(-a.high, -b.high),
    low: min(a.low, b.low),
    close: end.close,
    trades: a.trades + b.trades,
    usdc: a.usdc + b.usdc,
    buyUsdc: a.buyUsdc + b.buyUsdc,
    shares: a.shares + b.shares,
    first: earlier.first,
    last: end.last,
  };
}

/** Converts rows to candles, oldest first; several rows of one bucket become one candle. */
function mergeCandleRows(rows: readonly CandleRow[]): Candle[] {
  const found = new Map<number, Candle>();
  for (const candle of rows.map(candleOf)) {
    const known = found.get(candle.startS);
    found.set(candle.startS, known === undefined ? candle : mergeCandles(known, candle));
  }
  return [...found.values()].sort((a, b) => a.startS - b.startS);
}

/** Extra rows read per page, for buckets whose rows are not merged yet. */
const MAX_UNMERGED_ROWS = 20;

const emptyCandle = (startS: number, close: bigint): Candle => ({
  startS,
  open: close,
  high: close,
  low: close,
  close,
  trades: 0,
  usdc: 0n,
  buyUsdc: 0n,
  shares: 0n,
  first: null,
  last: null,
});

/** Candles of all buckets from `firstS` to `lastS`. `before` is the close before them, null if the first bucket has trades. */
function fillGaps(
  candles: readonly Candle[],
  range: { firstS: number; lastS: number; seconds: number; before: bigint | null },
): Candle[] {
  const byStart = new Map(candles.map((candle) => [candle.startS, candle]));
  const filled: Candle[] = [];
  let close = range.before;
  for (let startS = range.firstS; startS <= range.lastS; startS += range.seconds) {
    const traded = byStart.get(startS);
    if (traded !== undefined) filled.push(traded);
    else if (close !== null) filled.push(emptyCandle(startS, close));
    close = traded?.close ?? close;
  }
  return filled;
}

/** One page of candles of a token, and whether trades exist before and after it. */
export async function readCandles(tables: Tables, query: CandleQuery): Promise<CandlePage> {
  const { tokenId, seconds, limit } = query;
  const floor = (timeS: number | null) => (timeS === null ? null : Math.floor(timeS / seconds) * seconds);
  const range = (fromS: number | null, toS: number | null): CandleRange => ({ tokenId, seconds, fromS, toS });
  const whole = range(floor(query.fromS), floor(query.toS));
  // Else a walk that keeps its range would go on beyond it.
  if (whole.fromS !== null && whole.toS !== null && whole.fromS > whole.toS) return NO_CANDLES;
  const newest = query.direction === 'before';
  const starts = async (of: CandleRange, order: 'asc' | 'desc'): Promise<number[]> =>
    (await tables.rows<{ bucket_s: number | string }>(bucketsSql(of, order, 1))).map((row) => Number(row.bucket_s));
  const older = (startS: number) => (startS === 0 ? [] : starts(range(null, startS - seconds), 'desc'));
  const newer = (startS: number) => starts(range(startS + seconds, null), 'asc');

  /** The newest or oldest `rows` candles. */
  const page = async (rows: number): Promise<readonly Candle[]> => {
    const which = newest ? 'newest' : 'oldest';
    if (isTableResolution(seconds)) {
      const reach = rows + MAX_UNMERGED_ROWS;
      const stored = await tables.rows<CandleRow>(storedCandlesSql(whole, which, reach));
      const candles = mergeCandleRows(stored);
      if (stored.length < reach) return newest ? candles.slice(-rows) : candles.slice(0, rows);
      // The last bucket may have further rows.
      const sure = newest ? candles.slice(1) : candles.slice(0, -1);
      if (sure.length >= rows) return newest ? sure.slice(-rows) : sure.slice(0, rows);
    }
    return (await tables.rows<CandleRow>(candlePageSql(whole, which, rows))).map(candleOf);
  };

  /** A page without candles, between the trades before and after the range. */
  const emptyPage = (olderS: number | undefined, newerS: number | undefined): CandlePage => ({
    ...NO_CANDLES,
    olderEndS: olderS === undefined ? null : olderS + seconds - 1,
    newerStartS: newerS ?? null,
  });

  /** Buckets with trades only. Where the range is unbounded on a side, its rows show whether more follow. */
  const traded = async (): Promise<CandlePage> => {
    const found = await page(limit + 1);
    const candles = newest ? found.slice(-limit) : found.slice(0, limit);
    const [first, last] = [candles[0], candles.at(-1)];
    if (first === undefined || last === undefined) {
      const [[olderS], [newerS]] = await Promise.all([
        whole.fromS === null ? [] : older(whole.fromS),
        whole.toS === null ? [] : newer(whole.toS),
      ]);
      return emptyPage(olderS, newerS);
    }
    const more = found.length > limit;
    const [before, after] = await Promise.all([
      (newest && more) || whole.fromS === null ? [] : older(first.startS),
      (!newest && more) || whole.toS === null ? [] : newer(last.startS),
    ]);
    return {
      candles,
      olderEndS: (newest && more) || before.length > 0 ? first.startS - 1 : null,
      newerStartS: (!newest && more) || after.length > 0 ? last.startS + seconds : null,
      hasMore: more,
    };
  };

  const filled = async (): Promise<CandlePage> => {
    const [[oldestTraded], [newestTraded]] = await Promise.all([
      starts(range(null, null), 'asc'),
      starts(range(null, null), 'desc'),
    ]);
    if (oldestTraded === undefined || newestTraded === undefined) return NO_CANDLES;
    // Edges come from the range, not from its trades: every bucket is on exactly one page.
    // Buckets after the newest trade are not complete yet.
    const fromS = Math.max(oldestTraded, whole.fromS ?? 0);
    const toS = Math.min(newestTraded, whole.toS ?? newestTraded);
    if (fromS > toS) {
      return emptyPage(
        whole.fromS !== null && newestTraded < whole.fromS ? newestTraded : undefined,
        whole.toS !== null && oldestTraded > whole.toS ? oldestTraded : undefined,
      );
    }
    const span = (limit - 1) * seconds;
    const firstS = newest ? Math.max(toS - span, fromS) : fromS;
    const lastS = newest ? toS : Math.min(fromS + span, toS);
    const candles = (await tables.rows<CandleRow>(candlesSql(range(firstS, lastS)))).map(candleOf);
    const [previous] =
      candles[0]?.startS === firstS
        ? []
        : await tables.rows<CandleRow>(candlePageSql(range(null, firstS - seconds), 'newest', 1));
    const before = previous === undefined ? null : BigInt(previous.close);
    return {
      candles: fillGaps(candles, { firstS, lastS, seconds, before }),
      olderEndS: firstS > oldestTraded ? firstS - 1 : null,
      newerStartS: lastS < newestTraded ? lastS + seconds : null,
      hasMore: newest ? firstS > fromS : lastS < toS,
    };
  };
  return query.gapFill ? filled() : traded();
}
