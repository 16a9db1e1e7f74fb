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
  /** null: the complete history. */
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

/** Wallets with the highest upper bounds, and in `rest` the highest bound of all other wallets; null if there are no others. */
interface Ranked {
  readonly rows: readonly OverlapSumsRow[];
  readonly rest: bigint | null;
}

/** Per tag, the value above which its wallets are read; null: all of them. Every choice gives right rows: it decides how many of them are certain. */
type TagBounds = ReadonlyMap<string, bigint | null>;

/** Maximum number of rows that one statement joins by wallet: bounds its memory. */
const ROWS_PER_RANGE = 400_000;
const MAX_RANGE_DIGITS = 3;
/** Tags with fewer rows in total are read completely. */
const SMALL_ROWS = 200_000;
/** Number of top wallets per tag in the first attempt, and its growth per attempt; above the maximum the tags are read completely. */
const MIN_DEPTH = 200;
const DEPTH_FACTOR = 16;
const MAX_DEPTH = 20_000;
/** Further candidates of a page sorted by markets, whose values are upper bounds. */
const EXTRA_CANDIDATES = 100;
/** Bounds are lowered at most to this part of them: lower ones would select too many wallets. */
const MAX_SCALE = 32n;
/** The bound of a tag with at least this many times `depth` wallets is estimated from a sample. */
const SAMPLE_FROM = 32;
const WALLETS_PER_EXACT = 500;
const RETRY_S = 5;

const byValue = (a: { value: bigint; wallet: string }, b: { value: bigint; wallet: string }): number =>
  a.value === b.value ? (a.wallet < b.wallet ? -1 : 1) : a.value > b.value ? -1 : 1;

/** Address prefix (hexadecimal digits) of the n-th of 16^digits ranges. */
const prefixOf = (n: number, digits: number): string => (digits === 0 ? '' : n.toString(16).padStart(digits, '0'));

/**
 * Reads the wallets that traded all of several tags from `wallet_tags`. For large tags it reads only the top n wallets of each (the threshold algorithm
 * of Fagin, Lotem and Naor, 2001): a wallet outside the top n of every tag has at most the sum of the n-th values. If that is too
 * much, bounds whose sum is below the value of the last wallet of the page decide it. Values that the sums do not contain
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
  sampleFrom?: number;
  smallTag?: number;
}) {
  const { tables, nowMs } = deps;
  const rowsPerRange = deps.rowsPerRange ?? ROWS_PER_RANGE;
  const smallRows = deps.smallRows ?? SMALL_ROWS;
  const minDepth = deps.minDepth ?? MIN_DEPTH;
  const sampleFrom = deps.sampleFrom ?? SAMPLE_FROM;
  const smallTag = deps.smallTag ?? MAX_DEPTH;

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

    /** Bounds of the values of the top `depth` wallets of each tag; only all wallets of the smallest tag if they are few. */
    const boundsAt = async (depth: number): Promise<TagBounds> => {
      const smallest = sizes.reduce((least, tag) => (Number(tag.size) < Number(least.size) ? tag : least));
      if (Number(smallest.size) <= smallTag) return new Map([[smallest.id, null]]);
      const sampled = new Set(sizes.filter(({ size }) => Number(size) >= depth * sampleFrom).map(({ id }) => id));
      const rows = await tables.rows<{ id: string; bound: string }>(tagBoundsSql({ tags, sampled, sort, depth }));
      // A tag with fewer wallets than `depth` contains all wallets of the overlap.
      return rows.length < tags.length
        ? new Map([[smallest.id, null]])
        : new Map(rows.map(({ id, bound }) => [id, BigInt(bound)]));
    };

    /** The wallets above the bounds, highest first, and the highest value that another wallet can have; null if there is no other. */
    const readTop = async (bounds: TagBounds, rows: number) => {
      const found = await tables.rows<OverlapSumsRow>(topOverlapSql({ ...query, bounds, rows }));
      const values = [...bounds.values()];
      const most = values.reduce((sum: bigint, bound) => sum + (bound ?? 0n), 0n);
      const rest = values.includes(null) || (sort === 'volume' && most < query.minVolume) ? null : most;
      return { found, most, rest };
    };

    /** At least the first `count` wallets, or all if there are fewer. */
    const ranked = async (count: number): Promise<Ranked> => {
      if (span !== null || total <= smallRows) return readCompletely(count);
      for (let depth = Math.max(minDepth, count * 2); depth <= MAX_DEPTH; depth *= DEPTH_FACTOR) {
        let bounds = await boundsAt(depth);
        for (let attempt = 1; attempt <= 2; attempt++) {
          checkDeadline();
          const { found, most, rest } = await readTop(bounds, count + 1);
          const certain = found.filter((row) => rest === null || BigInt(row.rank) > rest);
          if (certain.length > count) return { rows: certain.slice(0, count), rest: BigInt(certain[count]?.rank ?? 0) };
          if (rest === null || certain.length === count) return { rows: certain, rest };
          // Bounds whose sum is below the value of the last wanted wallet make it certain.
          const last = found[count - 1];
          if (last === undefined || last.rank === '0' || BigInt(last.rank) * MAX_SCALE < most) break;
          const target = BigInt(last.rank) - 1n;
          bounds = new Map([...bounds].map(([tag, bound]) => [tag, ((bound ?? 0n) * target) / most]));
        }
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
    const { rows, rest } = await ranked(needed * 2 + Math.min(minDepth, EXTRA_CANDIDATES));
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
    /** A page of wallets, highest first, ties by wallet. Throws ApiError `loading` until the sums were computed once, and `overloaded` if the page exceeds its time budget. */
    async page(query: OverlapQuery): Promise<readonly OverlapWallet[]> {
      await requireReady();
      return page(query);
    },
  };
}
