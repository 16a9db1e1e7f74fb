import { z } from 'zod';
import { moneyToNumber } from '../../../../schemas/primitives/money.js';
import { allFills, timeRangeOf } from '../../../fills/filter.js';
import { timeRangeAliases } from '../../../http/aliases.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { logPositionCursor } from '../../../pagination/cursor.js';
import { cursorPage } from '../../../pagination/list-page.js';
import type { Readers } from '../../../readers.js';
import { pageFields, pagingOf } from '../envelope.js';
import { orderedPaging, times, v3, v3Route } from '../params.js';
import { exampleFill, examplePaging, exampleTitle } from '../trades/examples.js';
import { tradeFrom, tradeSchema } from '../trades/serialize.js';
import { flowFrom, flowSchema } from './serialize.js';

const common = {
  ...v3Route,
  tag: 'Wallets',
  params: z.object({ address: v3.address }),
  aliases: timeRangeAliases('after', 'before'),
} as const;
const FEES_SOURCE = 'v3.order_fills' as const;
const FLOWS_SOURCE = 'v3.collateral_flows' as const;
const DEFAULT_AFTER = 0;
const DEFAULT_BEFORE = 9_999_999_999;

const feesQuery = z.object({
  after: v3.time('after').default(DEFAULT_AFTER),
  before: v3.time('before').default(DEFAULT_BEFORE),
  ...orderedPaging,
});
const flowsQuery = z.object({
  kind: v3.choice('kind', ['all', 'deposit', 'withdrawal'], 'Default all.').default('all'),
  ...times,
  ...orderedPaging,
});

const feeSchema = tradeSchema.extend({
  fee_paid: z.number(),
  fee_paid_raw: z.string().meta({ description: 'USDC base units.' }),
  source: z.literal(FEES_SOURCE),
});
const feesPage = z.object({
  address: z.string(),
  fees: z.array(feeSchema),
  page_total_fees_paid: z.number(),
  page_total_fees_paid_raw: z.string(),
  page_total_fees_paid_raw_note: z.string(),
  fee_semantics: z.string(),
  after: z.string(),
  before: z.string(),
  ...pageFields,
});
const RAW_NOTE = 'Sum of fee_paid_raw over this page, in USDC base units (6 decimals).';
const FEE_SEMANTICS =
  "Fees of the wallet's own orders, net of refunds. First-generation fees taken in shares are valued at the fill's price.";

const flowsPage = z.object({
  address: z.string(),
  flows: z.array(flowSchema),
  total_matching_rows: z.int(),
  total_deposited: z.number(),
  total_withdrawn: z.number(),
  net_deposited: z.number(),
  source: z.literal(FLOWS_SOURCE),
  ...pageFields,
});

/** GET fees that a wallet paid, and deposits and withdrawals of collateral. */
export function createWalletMoneyRoutes({ fills, withTitles, walletEvents }: Readers): readonly Route[] {
  const fees = defineRoute({
    ...common,
    path: '/v3/wallets/{address}/fees-paid',
    reads: ['fills', 'catalog'],
    summary: 'Fees a wallet paid, fill by fill',
    query: feesQuery,
    success: {
      description: 'A page of fills with a fee',
      schema: feesPage,
      example: {
        address: exampleFill.maker,
        fees: [
          { ...tradeFrom(exampleFill, exampleTitle), fee_paid: 0.331, fee_paid_raw: '331000', source: FEES_SOURCE },
        ],
        page_total_fees_paid: 0.331,
        page_total_fees_paid_raw: '331000',
        page_total_fees_paid_raw_note: RAW_NOTE,
        fee_semantics: FEE_SEMANTICS,
        after: '0',
        before: '9999999999',
        ...examplePaging,
      },
    },
    async handler({ params: { address }, query }, context) {
      const list = { endpoint: context.endpoint, order: query.order };
      const times = timeRangeOf(query.after, query.before);
      const page = await cursorPage(logPositionCursor, list, query, (beyond) =>
        fills.fills({ ...allFills, wallets: [address], role: 'maker', minFee: 1n, ...times, beyond }, query),
      );
      const total = page.rows.reduce((sum, row) => sum + BigInt(row.fee), 0n);
      return {
        body: {
          address,
          fees: await withTitles(page.rows, (row, title) => ({
            ...tradeFrom(row, title),
            fee_paid: moneyToNumber(BigInt(row.fee)),
            fee_paid_raw: row.fee,
            source: FEES_SOURCE,
          })),
          page_total_fees_paid: moneyToNumber(total),
          page_total_fees_paid_raw: total.toString(),
          page_total_fees_paid_raw_note: RAW_NOTE,
          fee_semantics: FEE_SEMANTICS,
          after: String(query.after),
          before: String(query.before),
          ...pagingOf(query, page, context),
        },
      };
    },
  });

  const flows = defineRoute({
    ...common,
    path: '/v3/wallets/{address}/polyusd-flows',
    reads: ['wallet_events'],
    summary: 'Collateral that entered or left a wallet',
    description:
      'Totals are over all matching rows, not only this page. The ramps log the recipient only: a withdrawal to another address is listed there and is missing from the wallet that paid it.',
    query: flowsQuery,
    success: {
      description: 'A page of deposits and withdrawals',
      schema: flowsPage,
      example: {
        address: exampleFill.maker,
        flows: [
          flowFrom(exampleFill.maker, {
            block_number: 91000001,
            log_index: 77,
            timestamp: 1790000200,
            tx_hash: exampleFill.tx_hash,
            direction: 'deposit',
            counterparty: exampleFill.taker,
            asset: '0xc011a7e12a19f7b1f670d46f03b03f3342e82dfb',
            amount: '25000000',
          }),
        ],
        total_matching_rows: 1,
        total_deposited: 25,
        total_withdrawn: 0,
        net_deposited: 25,
        source: FLOWS_SOURCE,
        ...examplePaging,
      },
    },
    async handler({ params: { address }, query }, context) {
      const list = { endpoint: context.endpoint, order: query.order };
      const filter = {
        wallet: address,
        direction: query.kind === 'all' ? null : query.kind,
        ...timeRangeOf(query.after, query.before),
      };
      const [page, totals] = await Promise.all([
        cursorPage(logPositionCursor, list, query, (beyond) => walletEvents.flows({ ...filter, beyond }, query)),
        walletEvents.flowTotals(filter),
      ]);
      const [deposited, withdrawn] = [BigInt(totals.deposited), BigInt(totals.withdrawn)];
      return {
        body: {
          address,
          flows: page.rows.map((row) => flowFrom(address, row)),
          total_matching_rows: Number(totals.rows),
          total_deposited: moneyToNumber(deposited),
          total_withdrawn: moneyToNumber(withdrawn),
          net_deposited: moneyToNumber(deposited - withdrawn),
          source: FLOWS_SOURCE,
          ...pagingOf(query, page, context),
        },
      };
    },
  });

  return [fees, flows];
}
