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
  /** null: the readCompletely history. */
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
  /** A page of wallets, highest first, ties by wallet. Throws ApiError `loading` until the sums were computed once, and `overloaded` if the page exceeds its time budget. */
  page(query: OverlapQuery): Promise<readonly OverlapWallet[]>;
}

/** Wallets with the highest upper bounds, and in `rest` the highest bound of all other wallets; null if there are no others. */
interface Ranked {
  readonly rows: readonly OverlapSumsRow[];
  readonly rest: bigint | null;
}

/** Maximum number of rows that one statement joins by wallet: bounds its memory. */
const ROWS_PER_RANGE = 400_000;
const MAX_RANGE_DIGITS = 3;
/** Tags with fewer rows in total are read completely. */
const SMALL_ROWS = 200_000;
/** Number of top wallets per tag in the first attempt, and its growth per attempt; above the maximum the tags are read completely. */
const MIN_DEPTH = 100;
const DEPTH_FACTOR = 16;
const MAX_DEPTH = 20_000;
const WALLETS_PER_EXACT = 500;
const RETRY_S = 5;

const byValue = (a: { value: bigint; wallet: string }, b: { value: bigint; wallet: string }): number =>
  a.value === b.value ? (a.wallet < b.wallet ? -1 : 1) : a.value > b.value ? -1 : 1;

/** Address prefix (hexadecimal digits) of the n-th of 16^digits ranges. */
const prefixOf = (n: number, digits: number): string => (digits === 0 ? '' : n.toString(16).padStart(digits, '0'));

/**
 * Reads the wallets that traded all of several tags from `wallet_tags`. For large tags it reads only the top n wallets of each (the readTop algorithm
 * of Fagin, Lotem and Naor, 2001): a wallet outside the top n of every tag has at most the sum of the n-th values. Values that the sums do not contain
 * (fills of a span, distinct markets) are computed for the wallets with the highest upper bounds, and for all wallets if those do not decide the page.
 */
export function createOverlapReader(deps: {
  tables: Tables;
  nowMs: () => number;
  /** Time budget of one page. */
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
    const checkDeadline = () => {
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

    /** Reads the tags completely, one range of addresses after the other. */
    const readCompletely = async (depth: number): Promise<Ranked> => {
      const digits = rangeDigits();
      let best: OverlapSumsRow[] = [];
      for (let n = 0; n < 16 ** digits; n++) {
        checkDeadline();
        const prefix = prefixOf(n, digits);
        const floor = best.length > depth ? (best[depth]?.rank ?? '0') : '0';
        const found = await tables.rows<OverlapSumsRow>(
          overlapRangeSql({ ...query, first: prefix, last: prefix, floor, rows: depth + 1 }),
        );
        best = [...best, ...found]
          .map((row) => ({ row, value: BigInt(row.rank), wallet: row.id }))
          .sort(byValue)
          .slice(0, depth + 1)
          .map(({ row }) => row);
      }
      const beyond = best[depth];
      return { rows: best.slice(0, depth), rest: beyond === undefined ? null : BigInt(beyond.rank) };
    };

    /** The first wallets as far as the top `depth` wallets of each tag determine them. */
    const readTop = async (depth: number, rows: number): Promise<Ranked> => {
      const bounds = new Map(
        (await tables.rows<{ id: string; bound: string }>(tagBoundsSql(tags, sort, depth))).map((row) => [
          row.id,
          row.bound,
        ]),
      );
      // A tag with fewer wallets than `depth` contains all wallets of the overlap.
      const smallTag = tags.find((tag) => !bounds.has(tag));
      const tagBounds: ReadonlyMap<string, string | null> =
        smallTag === undefined ? bounds : new Map([[smallTag, null]]);
      const found = await tables.rows<OverlapSumsRow>(topOverlapSql({ ...query, bounds: tagBounds, rows: rows + 1 }));
      const most = smallTag === undefined ? [...bounds.values()].reduce((sum, bound) => sum + BigInt(bound), 0n) : null;
      const rest = most !== null && sort === 'volume' && most < query.minVolume ? null : most;
      const certain = found.filter((row) => rest === null || BigInt(row.rank) > rest);
      if (certain.length <= rows) return { rows: certain, rest };
      return { rows: certain.slice(0, rows), rest: BigInt(certain[rows]?.rank ?? 0) };
    };

    /** At least the first `count` wallets, or all if there are fewer. */
    const ranked = async (count: number): Promise<Ranked> => {
      if (span !== null || total <= smallRows) return readCompletely(count);
      for (let depth = Math.max(minDepth, count * 2); depth <= MAX_DEPTH; depth *= DEPTH_FACTOR) {
        checkDeadline();
        const found = await readTop(depth, count);
        if (found.rest === null || found.rows.length >= count) return found;
      }
      return readCompletely(count);
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
        checkDeadline();
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
    // Wallets outside the candidates could belong to the page: compute all wallets, one range of addresses after the other.
    const digits = rangeDigits();
    let first: readonly OverlapWallet[] = [];
    for (let n = 0; n < 16 ** digits; n++) {
      checkDeadline();
      const inRange = await exactRows({ prefix: prefixOf(n, digits) }, query.minVolume, needed);
      first = sortedBy([...first, ...inRange])
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
