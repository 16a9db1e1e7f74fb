import { comboPositions } from '../../schemas/primitives/combo-ids.js';
import type { ResponseCache } from '../cache/response-cache.js';
import { MAX_RANKED } from '../catalog/markets.sql.js';
import type { FoundPage } from '../pagination/list-page.js';
import type { Tables } from '../tables/port.js';
import {
  type ComboMarketRow,
  type ComboSort,
  type ComboStatus,
  type ComboVolumeRow,
  comboEventsSql,
  comboMarketsSql,
  comboOrderSql,
  comboVolumesSql,
  type RankedCombo,
  type RedemptionPayoutRow,
  redemptionPayoutsSql,
} from './combos.sql.js';
import { type PnlEventCursor, type PnlEventFilter, type PnlEventRow, pnlEventCursorOf } from './pnl-events.sql.js';
import type { Price } from './position.js';
import type { PositionReader } from './reader.js';

/** A combo condition with its prices and activity. */
export interface ComboMarket {
  readonly conditionId: string;
  /** Position ids, Yes first. */
  readonly positionIds: readonly [string, string];
  readonly prices: readonly (Price | undefined)[];
  /** Number of matches. */
  readonly trades: number;
  /** Base units. */
  readonly usdc: bigint;
  readonly events: number;
  readonly redemptions: number;
  readonly firstAtS: number;
  readonly lastAtS: number;
}

/** Maximum age of the order of all combos. */
export const MAX_ORDER_AGE_MS = 30_000;

/** Reads combo markets and the events of combo positions. */
export function createComboReader(deps: {
  tables: Tables;
  cache: ResponseCache;
  positions: Pick<PositionReader, 'prices'>;
}) {
  const { tables, cache, positions } = deps;
  /** The conditions with a status: open until the positions are settled, then closed; null: any. */
  const withStatus = async (
    conditionIds: readonly string[],
    status: ComboStatus | null,
  ): Promise<readonly string[]> => {
    if (status === null || conditionIds.length === 0) return conditionIds;
    const priceOf = await positions.prices(conditionIds.flatMap((id) => [...comboPositions(id)]));
    const settled = (id: string) => comboPositions(id).some((token) => priceOf.get(token)?.source === 'settlement');
    return conditionIds.filter((id) => settled(id) === (status === 'closed'));
  };
  return {
    /** A page of position changes in combos, newest first. Events of different wallets arrive out of order. */
    async events(
      filter: PnlEventFilter,
      page: { readonly limit: number; readonly offset: number },
    ): Promise<FoundPage<PnlEventRow, PnlEventCursor>> {
      const found = filter.tokenIds?.length === 0 ? [] : await tables.rows<PnlEventRow>(comboEventsSql(filter, page));
      const rows = found.slice(0, page.limit);
      const last = rows.at(-1);
      return { rows, next: found.length > page.limit && last !== undefined ? pnlEventCursorOf(last) : null };
    },
    /**
     * Payouts of redemptions, aligned with `rows`, base units: as their logs name them; for a log that redeems both positions at once, or that is not in the
     * tables yet, the payout of shares with a known cost.
     */
    async payouts(rows: readonly PnlEventRow[]): Promise<readonly bigint[]> {
      if (rows.length === 0) return [];
      const wallets = [...new Set(rows.map((row) => row.wallet))];
      const timesS = [...new Set(rows.map((row) => Number(row.timestamp)))];
      const found = await tables.rows<RedemptionPayoutRow>(redemptionPayoutsSql(wallets, timesS));
      const logOf = (row: Pick<PnlEventRow, 'wallet' | 'block_number' | 'log_index'>) =>
        `${row.wallet} ${row.block_number} ${row.log_index}`;
      const payoutOf = new Map(found.map((row) => [logOf(row), row.payout]));
      return rows.map((row) => BigInt(payoutOf.get(logOf(row)) ?? row.cash));
    },
    withStatus,
    /** The first MAX_RANKED combo conditions in an order that is at most MAX_ORDER_AGE_MS old, filtered by status; null: any. */
    async order(sort: ComboSort, status: ComboStatus | null): Promise<readonly RankedCombo[]> {
      const load = () => tables.rows<RankedCombo>(comboOrderSql(sort, MAX_RANKED));
      const { value: all } = await cache.get(`combos ${sort}`, MAX_ORDER_AGE_MS, load);
      if (status === null) return all;
      const filtered = await cache.get(`combos ${sort} ${status}`, MAX_ORDER_AGE_MS, async () => {
        const ids = all.map((one) => one.id);
        const kept = new Set(await withStatus(ids, status));
        return all.filter((one) => kept.has(one.id));
      });
      return filtered.value;
    },
    /** Combos in the order of the ids; combos without activity are omitted. */
    async markets(conditionIds: readonly string[]): Promise<readonly ComboMarket[]> {
      if (conditionIds.length === 0) return [];
      const tokenIds = conditionIds.flatMap((id) => [...comboPositions(id)]);
      const [rows, volumes, priceOf] = await Promise.all([
        tables.rows<ComboMarketRow>(comboMarketsSql(conditionIds)),
        tables.rows<ComboVolumeRow>(comboVolumesSql(tokenIds)),
        positions.prices(tokenIds),
      ]);
      const marketOf = new Map(rows.map((row) => [row.condition_id, row]));
      const volumeOf = new Map(volumes.map((row) => [row.token, row]));
      return conditionIds.flatMap((conditionId): ComboMarket[] => {
        const row = marketOf.get(conditionId);
        if (row === undefined) return [];
        const positionIds = comboPositions(conditionId);
        const sums = positionIds.flatMap((id) => volumeOf.get(id) ?? []);
        return [
          {
            conditionId,
            positionIds,
            prices: positionIds.map((id) => priceOf.get(id)),
            trades: sums.reduce((sum, one) => sum + Number(one.trades), 0),
            usdc: sums.reduce((sum, one) => sum + BigInt(one.usdc), 0n),
            events: Number(row.events),
            redemptions: Number(row.redemptions),
            firstAtS: Number(row.first_at),
            lastAtS: Number(row.last_at),
          },
        ];
      });
    },
  };
}
