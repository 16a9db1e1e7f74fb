import { z } from 'zod';
import { formatMoney } from '../../../../schemas/primitives/money.js';
import type { VenueTotalsRow } from '../../../leaderboards/leaderboard.sql.js';
import type { RankedWallet } from '../../../leaderboards/reader.js';
import { allCompleteField } from '../../../positions/completeness.js';

const usd = z.string().meta({ description: 'USD, decimal text.' });

export const tagPnlSchema = z.object({
  wallet: z.string(),
  net_pnl: usd.meta({ description: 'gross_profit + gross_loss, before fees.' }),
  gross_profit: usd,
  gross_loss: usd.meta({ description: 'Negative or 0.' }),
  total_volume: usd,
  position_count: z.int(),
  complete: allCompleteField,
});

/** PnL of a wallet in the markets of a tag. */
export const tagPnlFrom = ({ wallet, summary }: RankedWallet): z.input<typeof tagPnlSchema> => ({
  wallet,
  net_pnl: formatMoney(summary.realized),
  gross_profit: formatMoney(summary.grossProfit),
  gross_loss: formatMoney(summary.grossLoss),
  total_volume: formatMoney(summary.volume),
  position_count: summary.positions,
  complete: summary.isComplete,
});

const units = z.string().meta({ description: 'USDC base units (6 decimals).' });

export const totalsSchema = z.object({
  total_fills: z.int(),
  total_redemptions: z.int(),
  total_wallets: z.int(),
  total_positions: z.string(),
  total_realized_pnl: units,
  total_gross_profit: units,
  total_gross_loss: units,
  total_volume: units,
  as_of: z
    .int()
    .nullable()
    .meta({ description: 'Unix seconds; time of the snapshot; null before the first snapshot.' }),
});

/** Sums of a snapshot; zeros without one. */
export const totalsFrom = (row: VenueTotalsRow | null): z.input<typeof totalsSchema> => ({
  total_fills: Number(row?.fills ?? 0),
  total_redemptions: Number(row?.redemptions ?? 0),
  total_wallets: Number(row?.wallets ?? 0),
  total_positions: row?.positions ?? '0',
  total_realized_pnl: row?.realized ?? '0',
  total_gross_profit: row?.gross_profit ?? '0',
  total_gross_loss: row?.gross_loss ?? '0',
  total_volume: row?.volume ?? '0',
  as_of: row === null ? null : Math.floor(Number(row.at) / 1000),
});
