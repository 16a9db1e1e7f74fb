import { divide } from '../../schemas/primitives/money.js';
import { ordered } from './order.js';
import { type HeldPosition, positionId } from './position.js';

/** Which positions a curve is made of; nulls do not filter. Unix seconds, both included. */
export interface EquityFilter {
  /** Bounds of a position's first activity. */
  readonly fromS: number | null;
  readonly toS: number | null;
  /** Only the markets touched last. */
  readonly maxMarkets: number | null;
  readonly includeUnrealized: boolean;
}

/** `pnl`: cumulated up to the position whose first activity it stands at, in the curve's own unit. */
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
  /** Profit per share ever bought, 18 decimals. */
  readonly normalized: readonly EquityPoint[];
}

const SHARE_SCALE = 10n ** 18n;

/** At most `most` points of a curve, evenly by their count, the first and the last among them. */
export function thinned<Point>(points: readonly Point[], most: number): readonly Point[] {
  if (points.length <= most) return points;
  return Array.from({ length: most }, (_, i) => {
    const index = Math.floor((i * (points.length - 1)) / (most - 1));
    return points[index] as Point;
  });
}

/** Positions whose market nobody knows are markets of their own. */
const marketOf = (position: HeldPosition): string => position.about.conditionId ?? position.tokenId;

/** The curve of a wallet: its positions in the order of their first activity, their profits cumulated. */
export function equityOf(positions: readonly HeldPosition[], filter: EquityFilter): Equity {
  const within = positions.filter(
    (one) =>
      (filter.fromS === null || one.firstAtS >= filter.fromS) && (filter.toS === null || one.firstAtS <= filter.toS),
  );
  const newestFirst = ordered(within, { key: (one) => BigInt(one.lastAtS), order: 'desc', id: positionId });
  const markets = [...new Set(newestFirst.map(marketOf))].slice(0, filter.maxMarkets ?? undefined);
  const chosen = new Set(markets);
  const listed = ordered(
    within.filter((one) => chosen.has(marketOf(one))),
    { key: (one) => BigInt(one.firstAtS), order: 'asc', id: positionId },
  );
  let pnl = 0n;
  let perShare = 0n;
  const raw: EquityPoint[] = [];
  const normalized: EquityPoint[] = [];
  for (const one of listed) {
    const profit = filter.includeUnrealized ? one.totalPnl : one.realizedPnl;
    pnl += profit;
    if (one.totalBought > 0n) perShare += divide(profit * SHARE_SCALE, one.totalBought, 'half_up');
    raw.push({ atS: one.firstAtS, pnl });
    normalized.push({ atS: one.firstAtS, pnl: perShare });
  }
  return {
    positions: listed.length,
    markets: markets.length,
    open: listed.filter((one) => one.size > 0n).length,
    raw,
    normalized,
  };
}
