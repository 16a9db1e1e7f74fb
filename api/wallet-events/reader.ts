import { createCachedLookup, type Lookup, readRows } from '../catalog/cached-lookup.js';
import { questionCountsSql } from '../catalog/neg-risk.sql.js';
import type { Page } from '../fills/filter.js';
import { toPage } from '../fills/read-page.js';
import type { Tables } from '../tables/port.js';
import {
  type ConversionQuestionsRow,
  conversionQuestionsSql,
  type FlowFilter,
  type FlowRow,
  type FlowTotalsRow,
  flowsSql,
  flowTotalsSql,
  type WalletEventFilter,
  type WalletEventRow,
  walletEventsSql,
} from './events.sql.js';

/** Reads pages of wallet activity other than trades. */
export function createWalletEventReader(deps: { tables: Tables; nowMs: () => number }) {
  const { tables } = deps;
  const cataloguedCounts: Lookup<number> = createCachedLookup({
    unknown: 0,
    nowMs: deps.nowMs,
    read: readRows(
      tables,
      questionCountsSql,
      (row: { market: string; questions: number | string }) => row.market,
      (row) => Number(row.questions),
    ),
  });
  return {
    events: async (filter: WalletEventFilter, page: Page) =>
      toPage(await tables.rows<WalletEventRow>(walletEventsSql(filter, page)), page.limit),
    flows: async (filter: FlowFilter, page: Page) =>
      toPage(await tables.rows<FlowRow>(flowsSql(filter, page)), page.limit),
    async flowTotals(filter: Omit<FlowFilter, 'beyond'>): Promise<FlowTotalsRow> {
      const [row] = await tables.rows<FlowTotalsRow>(flowTotalsSql(filter));
      return row ?? { rows: 0, deposited: '0', withdrawn: '0' };
    },
    /**
     * Number of questions of the market of each of a wallet's conversions, by event id: when the conversion took place; if the chain did not tell, today's of
     * the catalogue, else the number of bits of the index set.
     */
    async questionCounts(wallet: string, rows: readonly WalletEventRow[]): Promise<ReadonlyMap<string, number>> {
      const conversions = rows.filter((row) => row.kind === 'conversion');
      if (conversions.length === 0) return new Map();
      const times = [...new Set(conversions.map((row) => Number(row.timestamp)))];
      const known = await tables.rows<ConversionQuestionsRow>(conversionQuestionsSql(wallet, times));
      const placeOf = (row: Pick<WalletEventRow, 'block_number' | 'log_index'>) =>
        `${Number(row.block_number)}-${Number(row.log_index)}`;
      const onChain = new Map(known.map((row) => [placeOf(row), Number(row.questions)]));
      const unknown = conversions.filter((row) => !onChain.has(placeOf(row)));
      const catalogued = await cataloguedCounts(unknown.map((row) => row.subject_id));
      const bitsOf = (row: WalletEventRow) => BigInt(row.index_sets[0] ?? '0').toString(2).length;
      return new Map(
        conversions.map((row) => [
          eventId(row),
          onChain.get(placeOf(row)) ?? (catalogued.get(row.subject_id) || bitsOf(row)),
        ]),
      );
    },
  };
}

/** `<tx hash>_0x<log index>`. */
export const eventId = (row: { readonly tx_hash: string; readonly log_index: number | string }): string =>
  `${row.tx_hash}_0x${Number(row.log_index).toString(16)}`;
