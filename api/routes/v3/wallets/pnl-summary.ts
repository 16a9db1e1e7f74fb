import { z } from 'zod';
import { EXAMPLE_WALLET } from '../../../http/chain-params.js';
import { jsonBody } from '../../../http/json-body.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { emptyPnlSummary, type WalletSummaries } from '../../../pnl/reader.js';
import type { Readers } from '../../../readers.js';
import { v3, v3Route } from '../params.js';
import {
  accountingFrom,
  accountingSchema,
  exampleSummary,
  positionsSummaryFields,
  positionsSummaryFrom,
  walletSummaryFields,
  walletSummaryFrom,
} from './pnl-summary.serialize.js';

const common = { ...v3Route, tag: 'Wallets' } as const;
const MAX_WALLETS = 100;
const TOO_MANY = `invalid wallets: at most ${MAX_WALLETS}`;

export const emptySummaries: WalletSummaries = { markets: emptyPnlSummary, combos: emptyPnlSummary };

/** GET the PnL summary of a wallet; POST for up to 100 wallets. */
export function createWalletPnlSummaryRoutes({ pnl }: Readers): readonly Route[] {
  const one = defineRoute({
    ...common,
    path: '/v3/wallets/{address}',
    reads: ['positions', 'pnl'],
    summary: 'Profit, volume and positions of a wallet',
    description: 'Over all positions in markets; `include_combos` adds separate fields for combos.',
    params: z.object({ address: v3.address }),
    query: z.object({
      include_combos: v3.flag('include_combos', 'Add the profit of combos.'),
      include_accounting_summary: v3.flag('include_accounting_summary', 'Add the fees paid.'),
    }),
    success: {
      description: 'The summary; zeros for a wallet without history',
      schema: z.object({
        ...walletSummaryFields,
        accounting_summary: accountingSchema.optional(),
        elapsed_ms: z.int(),
      }),
      example: { address: EXAMPLE_WALLET, ...positionsSummaryFrom(exampleSummary), elapsed_ms: 4 },
    },
    async handler({ params: { address }, query }, context) {
      const [summaries, fees] = await Promise.all([
        pnl.summaries([address], null),
        query.include_accounting_summary ? pnl.fees(address) : null,
      ]);
      return {
        body: {
          ...walletSummaryFrom(address, summaries.get(address) ?? emptySummaries, query.include_combos),
          ...(fees === null ? {} : { accounting_summary: accountingFrom(fees) }),
          elapsed_ms: context.elapsedMs(),
        },
      };
    },
  });

  const batch = defineRoute({
    ...common,
    method: 'post',
    path: '/v3/wallets/batch',
    reads: ['positions', 'pnl'],
    summary: 'Summaries of up to 100 wallets',
    description: 'In the requested order. A repeated wallet is listed once; a wallet without history has zeros.',
    body: jsonBody(
      {
        wallets: z
          .array(z.string('invalid wallets: use a list of addresses').pipe(v3.address), {
            error: 'invalid wallets: use a list of addresses',
          })
          .min(1, 'invalid wallets: name at least one')
          .max(MAX_WALLETS, TOO_MANY),
      },
      {
        notAnObject: 'invalid body: use an object with wallets',
        unknownField: (name, advice) => `unknown field '${name}': use ${advice}`,
      },
    ),
    success: {
      description: 'The summaries',
      schema: z.object({
        count: z.int(),
        wallets: z.array(z.object({ wallet: z.string(), ...positionsSummaryFields })),
        elapsed_ms: z.int(),
      }),
      example: {
        count: 1,
        wallets: [{ wallet: EXAMPLE_WALLET, ...positionsSummaryFrom(exampleSummary) }],
        elapsed_ms: 2,
      },
    },
    async handler({ body }, context) {
      const wallets = [...new Set(body.wallets)];
      const summaries = await pnl.summaries(wallets, null);
      return {
        body: {
          count: wallets.length,
          wallets: wallets.map((wallet) => ({
            wallet,
            ...positionsSummaryFrom((summaries.get(wallet) ?? emptySummaries).markets),
          })),
          elapsed_ms: context.elapsedMs(),
        },
      };
    },
  });

  return [batch, one];
}
