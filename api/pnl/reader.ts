import { clampToDateTimeSeconds } from '../fills/filter.js';
import type { TokenChoice } from '../fills/tokens.sql.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import { type Granularity, hasCombosSql, type SeriesRow, type Span, seriesSql } from './series.sql.js';
import { type SummaryRow, summariesSql, type WalletFeesRow, walletFeesSql } from './summaries.sql.js';

/** Realized PnL of a wallet, base units, before fees. Counts refer to positions, or to events within a time span. */
export interface RealizedPnl {
  readonly realized: bigint;
  readonly grossProfit: bigint;
  readonly grossLoss: bigint;
  readonly wins: number;
  readonly losses: number;
}

export interface WalletSummary extends RealizedPnl {
  readonly unrealized: bigint;
  readonly volume: bigint;
  readonly positions: number;
  readonly openPositions: number;
  /** Time of the last change; null without positions. */
  readonly lastAtS: number | null;
}

/** A summary of positions as they are now. */
export interface PositionsSummary extends WalletSummary {
  /** Whether the recorded history has every change of all positions, as far as it shows. */
  readonly isComplete: boolean;
}

export interface SpanPnl extends RealizedPnl {
  readonly events: number;
}

export interface PnlBucket extends SpanPnl {
  readonly startS: number;
}

export interface WalletSummaries {
  readonly markets: PositionsSummary;
  readonly combos: PositionsSummary;
}

export interface WalletFees {
  readonly amount: bigint;
  readonly feeFills: number;
  readonly fills: number;
  readonly firstBlock: string | null;
  readonly lastBlock: string | null;
  readonly throughBlock: string;
}

export type PnlReader = ReturnType<typeof createPnlReader>;

export const emptyPnlSummary: PositionsSummary = {
  realized: 0n,
  grossProfit: 0n,
  grossLoss: 0n,
  unrealized: 0n,
  volume: 0n,
  positions: 0,
  openPositions: 0,
  wins: 0,
  losses: 0,
  isComplete: true,
  lastAtS: null,
};

export const emptySpanPnl: SpanPnl = { realized: 0n, grossProfit: 0n, grossLoss: 0n, wins: 0, losses: 0, events: 0 };

const realizedPnlFrom = (row: SummaryRow | SeriesRow): RealizedPnl => ({
  realized: BigInt(row.realized),
  grossProfit: BigInt(row.gross_profit),
  grossLoss: BigInt(row.gross_loss),
  wins: Number(row.wins),
  losses: Number(row.losses),
});

/** Converts a row to a summary. */
export const positionsSummaryFrom = (row: SummaryRow): PositionsSummary => ({
  ...realizedPnlFrom(row),
  unrealized: BigInt(row.unrealized),
  volume: BigInt(row.volume),
  positions: Number(row.positions),
  openPositions: Number(row.open),
  isComplete: Number(row.incomplete) === 0,
  lastAtS: Number(row.last_at),
});

/** Clamps a span to the range of a DateTime column, which ends in 2106. */
const clampedSpan = (span: Span): Span => ({
  afterS: clampToDateTimeSeconds(span.afterS) ?? 0,
  beforeS: clampToDateTimeSeconds(span.beforeS) ?? 0,
});

/** Reads the realized PnL of wallets: in total, and within time spans. */
export function createPnlReader({ tables }: { tables: Tables }) {
  /** Few wallets have combos; for the others the daily sums suffice. */
  const hasCombos = async (wallet: string): Promise<boolean> =>
    (await tables.rows<{ found: number }>(hasCombosSql(wallet))).length > 0;
  return {
    /** Contains every requested wallet. `tokens` null: all positions. */
    async summaries(
      wallets: readonly string[],
      tokens: TokenChoice | null,
    ): Promise<ReadonlyMap<string, WalletSummaries>> {
      const summaries = new Map<string, WalletSummaries>(
        wallets.map((wallet) => [wallet, { markets: emptyPnlSummary, combos: emptyPnlSummary }]),
      );
      if (wallets.length === 0 || tokens?.tokenIds?.length === 0) return summaries;
      for (const row of await tables.rows<SummaryRow>(summariesSql(wallets, tokens))) {
        const current = summaries.get(row.wallet);
        if (current === undefined) continue;
        const summary = positionsSummaryFrom(row);
        summaries.set(
          row.wallet,
          boolFrom(row.combo) ? { ...current, combos: summary } : { ...current, markets: summary },
        );
      }
      return summaries;
    },
    /** At most `rows` buckets, oldest first; without combos. */
    async series(wallet: string, span: Span, group: Granularity, rows: number): Promise<readonly PnlBucket[]> {
      // Sums of hours come from single events in any case.
      const marketsOnly = group === 'hour' || (await hasCombos(wallet));
      const sql = seriesSql(wallet, clampedSpan(span), { group, tokens: null, marketsOnly, rows });
      const found = await tables.rows<SeriesRow>(sql);
      return found.map((row) => ({ ...realizedPnlFrom(row), startS: Number(row.bucket), events: Number(row.events) }));
    },
    /** Sums over each of the spans, in their order. `tokens` null: all tokens. */
    async spanPnl(
      wallet: string,
      spans: readonly Span[],
      { tokens, combos }: { readonly tokens: TokenChoice | null; readonly combos: boolean },
    ): Promise<readonly SpanPnl[]> {
      if (tokens?.tokenIds?.length === 0) return spans.map(() => emptySpanPnl);
      // Sums of selected tokens come from single events in any case.
      const marketsOnly = !combos && (tokens !== null || (await hasCombos(wallet)));
      return Promise.all(
        spans.map(async (span) => {
          const sql = seriesSql(wallet, clampedSpan(span), { group: null, tokens, marketsOnly, rows: 1 });
          const [row] = await tables.rows<SeriesRow>(sql);
          return row === undefined ? emptySpanPnl : { ...realizedPnlFrom(row), events: Number(row.events) };
        }),
      );
    },
    async fees(wallet: string): Promise<WalletFees> {
      const [row] = await tables.rows<WalletFeesRow>(walletFeesSql(wallet));
      const feeFills = Number(row?.fee_fills ?? 0);
      return {
        amount: BigInt(row?.fees ?? 0),
        feeFills,
        fills: Number(row?.fills ?? 0),
        firstBlock: feeFills === 0 ? null : (row?.first_block ?? null),
        lastBlock: feeFills === 0 ? null : (row?.last_block ?? null),
        throughBlock: row?.through_block ?? '0',
      };
    },
  };
}
