import { createCachedLookup, type Lookup } from '../catalog/cached-lookup.js';
import { questionCountsSql } from '../catalog/neg-risk.sql.js';
import type { Page } from '../fills/filter.js';
import { type RowPage, toPage } from '../fills/read-page.js';
import type { Tables } from '../tables/port.js';
import {
  type FlowFilter,
  type FlowRow,
  type FlowTotalsRow,
  flowsSql,
  flowTotalsSql,
  type WalletEventFilter,
  type WalletEventRow,
  walletEventsSql,
} from './events.sql.js';

export interface WalletEventReader {
  events(filter: WalletEventFilter, page: Page): Promise<RowPage<WalletEventRow>>;
  flows(filter: FlowFilter, page: Page): Promise<RowPage<FlowRow>>;
  flowTotals(filter: FlowFilter): Promise<FlowTotalsRow>;
  /** Number of questions of neg-risk markets, by market id; 0 if the catalogue has none. */
  questionCounts: Lookup<number>;
}

/** Reads pages of wallet activity other than trades. */
export function createWalletEventReader(deps: { tables: Tables; nowMs: () => number }): WalletEventReader {
  const { tables } = deps;
  return {
    events: async (filter, page) =>
      toPage(await tables.rows<WalletEventRow>(walletEventsSql(filter, page)), page.limit),
    flows: async (filter, page) => toPage(await tables.rows<FlowRow>(flowsSql(filter, page)), page.limit),
    async flowTotals(filter) {
      const [row] = await tables.rows<FlowTotalsRow>(flowTotalsSql({ ...filter, beyond: null }));
      return row ?? { rows: 0, deposited: '0', withdrawn: '0' };
    },
    questionCounts: createCachedLookup({
      unknown: 0,
      nowMs: deps.nowMs,
      read: async (ids) => {
        const rows = await tables.rows<{ market: string; questions: number | string }>(questionCountsSql(ids));
        return new Map(rows.map((row) => [row.market, Number(row.questions)]));
      },
    }),
  };
}

/** `<tx hash>_0x<log index>`. */
export const eventId = (row: { readonly tx_hash: string; readonly log_index: number | string }): string =>
  `${row.tx_hash}_0x${Number(row.log_index).toString(16)}`;

/** Number of questions of a conversion's market; if the catalogue has none, the number of bits of the index-set mask. */
export function questionCount(row: WalletEventRow, catalogued: number): number {
  return catalogued > 0 ? catalogued : BigInt(row.index_sets[0] ?? '0').toString(2).length;
}
