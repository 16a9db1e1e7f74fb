import { ApiError } from '../errors/failure.js';
import type { Tables } from '../tables/port.js';
import {
  type ExactOverlapRow,
  exactOverlapSql,
  type OverlapSort,
  type OverlapSumsRow,
  overlapRangeSql,
  overlapReadySql,
  type Span,
  tagBoundsSql,
  tagSizesSql,
  topOverlapSql,
  type WalletChoice,
} from './overlap.sql.js';

export interface OverlapQuery {
  /** Distinct slugs. */
  readonly tags: readonly string[];
  /** Base units; 0n for no bound. */
  readonly minVolume: bigint;
  /** null: all of history. */
  readonly span: Span | null;
  readonly sort: OverlapSort;
  readonly offset: number;
  readonly limit: number;
}

/** A wallet with fills in each of the tags. Fills and volume are sums over the tags, markets are distinct conditions. */
export interface OverlapWallet {
  readonly wallet: string;
  readonly fills: bigint;
  /** USDC, base units. */
  readonly volume: bigint;
  readonly markets: number;
}

export interface OverlapReader {
  /** A page of wallets, the highest first, ties by wallet. Throws ApiError while the sums are not there, and when an answer takes too long. */
  page(query: OverlapQuery): Promise<readonly OverlapWallet[]>;
}

/** Wallets that come first by what they can have at most, and the most that any other wallet can have; null when there is no other. */
interface Ranked {
  readonly rows: readonly OverlapSumsRow[];
  readonly rest: bigint | null;
}

/** Rows that one statement joins by wallet: bounds its memory. */
const ROWS_PER_RANGE = 400_000;
const MAX_RANGE_DIGITS = 3;
/** Tags with fewer rows together are read whole. */
const SMALL_ROWS = 200_000;
/** Wallets per tag that are looked at first, then; after that the tags are read whole. */
const MIN_DEPTH = 100;
const DEPTH_FACTOR = 16;
const MAX_DEPTH = 20_000;
const WALLETS_PER_EXACT = 500;
const RETRY_S = 5;

const byValue = (a: { value: bigint; wallet: string }, b: { value: bigint; wallet: string }): number =>
  a.value === b.value ? (a.wallet < b.wallet ? -1 : 1) : a.value > b.value ? -1 : 1;

/** The digits that addresses of the n-th of 16^digits ranges begin with. */
const prefixOf = (n: number, digits: number): string => (digits === 0 ? '' : n.toString(16).padStart(digits, '0'));

/**
 * Reads the wallets that trade all of some tags from `wallet_tags`. The wallets at the top of a large tag are found without the rest of it: who is not among
 * the first n of any tag has no more in all tags than the n-th wallets together (the threshold algorithm of Fagin, Lotem and Naor, 2001). What the
 * sums cannot tell (fills of a span, distinct markets) is computed wallet by wallet for the most promising, and
 * for all where that does not tell which come first.
 */
export function createOverlapReader(deps: {
  tables: Tables;
  nowMs: () => number;
  /** Most time for one page. */
  budgetMs: number;
  rowsPerRange?: number;
  smallRows?: number;
  minDepth?: number;
}): OverlapReader {
  const { tables, nowMs } = deps;
  const rowsPerRange = deps.rowsPerRange ?? ROWS_PER_RANGE;
  const smallRows = deps.smallRows ?? SMALL_ROWS;
  const minDepth = deps.minDepth ?? MIN_DEPTH;

  const requireReady = async (): Promise<void> => {
    if ((await tables.rows(overlapReadySql)).length > 0) return;
    const message = `Wallets per tag are still being computed. Try again in ${RETRY_S} seconds.`;
    throw new ApiError({ kind: 'loading', message, retryAfterS: RETRY_S });
  };

  const page = async (query: OverlapQuery): Promise<readonly OverlapWallet[]> => {
    const { tags, sort, span, offset, limit } = query;
    const deadlineMs = nowMs() + deps.budgetMs;
    const inTime = () => {
      if (nowMs() < deadlineMs) return;
      const message =
        'These tags have too many wallets to compare in time. Use no time range, a lower offset or smaller tags.';
      throw new ApiError({ kind: 'overloaded', message, scope: 'wallets_overlap_time', retryAfterS: RETRY_S });
    };
    if (span !== null && span.fromS >= span.toS) return [];
    const sizes = await tables.rows<{ id: string; size: string }>(tagSizesSql(tags));
    if (sizes.some(({ size }) => size === '0')) return [];
    const total = sizes.reduce((sum, { size }) => sum + Number(size), 0);

    const rangeDigits = () => {
      let digits = 0;
      while (digits < MAX_RANGE_DIGITS && total / 16 ** digits > rowsPerRange) digits++;
      return digits;
    };

    /** Reads the tags whole, a range of addresses after the other. */
    const whole = async (depth: number): Promise<Ranked> => {
      const digits = rangeDigits();
      let kept: OverlapSumsRow[] = [];
      for (let n = 0; n < 16 ** digits; n++) {
        inTime();
        const prefix = prefixOf(n, digits);
        const floor = kept.length > depth ? (kept[depth]?.rank ?? '0') : '0';
        const found = await tables.rows<OverlapSumsRow>(
          overlapRangeSql({ ...query, first: prefix, last: prefix, floor, rows: depth + 1 }),
        );
        kept = [...kept, ...found]
          .map((row) => ({ row, value: BigInt(row.rank), wallet: row.id }))
          .sort(byValue)
          .slice(0, depth + 1)
          .map(({ row }) => row);
      }
      const beyond = kept[depth];
      return { rows: kept.slice(0, depth), rest: beyond === undefined ? null : BigInt(beyond.rank) };
    };

    /** The wallets that are certainly the first; `depth` wallets per tag are looked at. */
    const threshold = async (depth: number, rows: number): Promise<Ranked> => {
      const bounds = new Map(
        (await tables.rows<{ id: string; bound: string }>(tagBoundsSql(tags, sort, depth))).map((row) => [
          row.id,
          row.bound,
        ]),
      );
      // All wallets of the overlap are among those of a tag with few.
      const few = tags.find((tag) => !bounds.has(tag));
      const looked: ReadonlyMap<string, string | null> = few === undefined ? bounds : new Map([[few, null]]);
      const found = await tables.rows<OverlapSumsRow>(topOverlapSql({ ...query, bounds: looked, rows: rows + 1 }));
      const most = few === undefined ? [...bounds.values()].reduce((sum, bound) => sum + BigInt(bound), 0n) : null;
      const rest = most !== null && sort === 'volume' && most < query.minVolume ? null : most;
      const certain = found.filter((row) => rest === null || BigInt(row.rank) > rest);
      if (certain.length <= rows) return { rows: certain, rest };
      return { rows: certain.slice(0, rows), rest: BigInt(certain[rows]?.rank ?? 0) };
    };

    /** At least the `count` first wallets, or all that there are. */
    const ranked = async (count: number): Promise<Ranked> => {
      if (span !== null || total <= smallRows) return whole(count);
      for (let depth = Math.max(minDepth, count * 2); depth <= MAX_DEPTH; depth *= DEPTH_FACTOR) {
        inTime();
        const found = await threshold(depth, count);
        if (found.rest === null || found.rows.length >= count) return found;
      }
      return whole(count);
    };

    const exactRows = async (
      choice: WalletChoice,
      minVolume: bigint,
      rows: number,
    ): Promise<readonly OverlapWallet[]> =>
      (await tables.rows<ExactOverlapRow>(exactOverlapSql({ choice, tags, span, sort, minVolume, rows }))).map(
        (row) => ({
          wallet: row.id,
          fills: BigInt(row.fills),
          volume: BigInt(row.volume),
          markets: Number(row.markets),
        }),
      );
    const exact = async (wallets: readonly string[]): Promise<readonly OverlapWallet[]> => {
      const rows: OverlapWallet[] = [];
      for (let from = 0; from < wallets.length; from += WALLETS_PER_EXACT) {
        inTime();
        const some = wallets.slice(from, from + WALLETS_PER_EXACT);
        rows.push(...(await exactRows({ wallets: some }, 0n, some.length)));
      }
      return rows;
    };
    const sortedBy = (rows: readonly OverlapWallet[]) =>
      rows
        .map((row) => ({ row, value: sort === 'markets' ? BigInt(row.markets) : row[sort], wallet: row.wallet }))
        .sort(byValue);

    const needed = offset + limit;
    if (span === null && sort !== 'markets') {
      const rows = (await ranked(needed)).rows.slice(offset, needed);
      const markets = new Map((await exact(rows.map(({ id }) => id))).map((row) => [row.wallet, row.markets]));
      return rows.map((row) => ({
        wallet: row.id,
        fills: BigInt(row.fills),
        volume: BigInt(row.volume),
        markets: markets.get(row.id) ?? Number(row.markets),
      }));
    }
    const { rows, rest } = await ranked(needed * 2 + minDepth);
    const found = await exact(rows.map(({ id }) => id));
    const sorted = sortedBy(found.filter((row) => row.volume >= query.minVolume));
    const last = sorted[needed - 1];
    if (rest === null || (last !== undefined && last.value > rest))
      return sorted.slice(offset, needed).map(({ row }) => row);
    // Too many wallets that could come before: all of them are computed, a range of addresses after the other.
    const digits = rangeDigits();
    let first: readonly OverlapWallet[] = [];
    for (let n = 0; n < 16 ** digits; n++) {
      inTime();
      const more = await exactRows({ prefix: prefixOf(n, digits) }, query.minVolume, needed);
      first = sortedBy([...first, ...more])
        .slice(0, needed)
        .map(({ row }) => row);
    }
    return first.slice(offset);
  };

  return {
    async page(query) {
      await requireReady();
      return page(query);
    },
  };
}
