import { divide } from '../../schemas/primitives/money.js';
import type { Lookup } from '../catalog/cached-lookup.js';
import type { MetadataLookups } from '../catalog/metadata.js';
import type { Tables } from '../tables/port.js';
import { type EquityRow, equitySql } from './equity.sql.js';
import { ordered } from './order.js';
import { type Price, totalPnlOf, unpriced } from './position.js';
import { MAX_POSITIONS } from './reader.js';

/** Selects the positions of a curve; null conditions do not filter. Unix seconds, both ends included. */
export interface EquityFilter {
  /** Bounds of a position's first activity. */
  readonly fromS: number | null;
  readonly toS: number | null;
  /** Only the markets with the latest activity. */
  readonly maxMarkets: number | null;
  readonly includeUnrealized: boolean;
}

/** `pnl`: cumulative up to the position whose first activity is at `atS`, in the curve's unit. */
export interface EquityPoint {
  readonly atS: number;
  readonly pnl: bigint;
}

export interface Equity {
  readonly positions: number;
  readonly markets: number;
  readonly open: number;
  /** Base units of USD. */
  readonly raw: readonly EquityPoint[];
  /** PnL per USD paid for the position, 18 decimals. */
  readonly normalized: readonly EquityPoint[];
  /** Why positions are missing: the wallet has more than are read, or the time to read them was used up. */
  readonly partial: 'positions' | 'time' | null;
}

/** One step of the curve. */
interface PositionPnl {
  readonly tokenId: string;
  /** A position without a known market counts as a market of its own. */
  readonly market: string;
  readonly isOpen: boolean;
  /** Total cost of all its purchases, base units of USD. */
  readonly paid: bigint;
  readonly pnl: bigint;
  readonly firstAtS: number;
  readonly lastAtS: number;
}

export const EQUITY_BUDGET_MS = 10_000;
const RATIO_SCALE = 10n ** 18n;

/** At most `most` points of a curve, evenly spaced by index, including the first and the last. */
export function downsample<Point>(points: readonly Point[], most: number): readonly Point[] {
  if (points.length <= most) return points;
  return Array.from({ length: most }, (_, i) => {
    const index = Math.floor((i * (points.length - 1)) / (most - 1));
    return points[index] as Point;
  });
}

/** The curve: cumulative PnL over the positions in the order of their first activity. */
function equityCurve(steps: readonly PositionPnl[], maxMarkets: number | null): Omit<Equity, 'partial'> {
  const id = (step: PositionPnl) => step.tokenId;
  const newestFirst = ordered(steps, { value: (step) => BigInt(step.lastAtS), id });
  const markets = [...new Set(newestFirst.map((step) => step.market))].slice(0, maxMarkets ?? undefined);
  const chosen = new Set(markets);
  const listed = ordered(
    steps.filter((step) => chosen.has(step.market)),
    { value: (step) => BigInt(step.firstAtS), direction: 'asc', id },
  );
  let pnl = 0n;
  let perDollar = 0n;
  const raw: EquityPoint[] = [];
  const normalized: EquityPoint[] = [];
  for (const { pnl: profit, paid, firstAtS } of listed) {
    pnl += profit;
    if (paid > 0n) perDollar += divide(profit * RATIO_SCALE, paid, 'half_up');
    raw.push({ atS: firstAtS, pnl });
    normalized.push({ atS: firstAtS, pnl: perDollar });
  }
  return {
    positions: listed.length,
    markets: markets.length,
    open: listed.filter((step) => step.isOpen).length,
    raw,
    normalized,
  };
}

/**
 * Computes the curve of a wallet from at most MAX_POSITIONS positions: open ones first, then those with the latest activity. Reading stops after
 * `budgetMs`.
 */
export async function readEquity(
  deps: {
    readonly tables: Tables;
    readonly metadata: MetadataLookups;
    readonly prices: Lookup<Price>;
    readonly budgetMs?: number;
  },
  wallet: string,
  filter: EquityFilter,
): Promise<Equity> {
  const { budgetMs = EQUITY_BUDGET_MS } = deps;
  const startMs = performance.now();
  const sql = { ...equitySql(wallet, filter, MAX_POSITIONS + 1), cutOffAfterS: budgetMs / 1000 };
  const rows = await deps.tables.rows<EquityRow>(sql);
  const isLate = performance.now() - startMs >= budgetMs;
  const found = rows.slice(0, MAX_POSITIONS);
  const tokenIds = found.map((row) => row.token);
  const [abouts, prices] = await Promise.all([
    deps.metadata.tokensOf(tokenIds),
    filter.includeUnrealized ? deps.prices(tokenIds) : undefined,
  ]);
  const steps = found.map(
    (row): PositionPnl => ({
      tokenId: row.token,
      market: abouts.get(row.token)?.conditionId ?? row.token,
      isOpen: row.size !== '0',
      paid: BigInt(row.paid),
      pnl: prices === undefined ? BigInt(row.realized_pnl) : totalPnlOf(row, prices.get(row.token) ?? unpriced),
      firstAtS: Number(row.first_at),
      lastAtS: Number(row.last_at),
    }),
  );
  return {
    ...equityCurve(steps, filter.maxMarkets),
    partial: isLate ? 'time' : rows.length > MAX_POSITIONS ? 'positions' : null,
  };
}
