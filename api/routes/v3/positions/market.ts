import { z } from 'zod';
import type { Lookup } from '../../../catalogue/held-lookup.js';
import { badParameter } from '../../../errors/failure.js';
import { marketAliases, minSizeAlias } from '../../../http/aliases.js';
import { tokenIdParam, usdParam } from '../../../http/chain-params.js';
import { choiceParam, slugParam } from '../../../http/params.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { exampleHeld } from '../../../positions/examples.js';
import { type Outcome, unknownOutcome } from '../../../positions/outcomes.js';
import type { Position } from '../../../positions/position.js';
import type { HolderSort } from '../../../positions/positions.sql.js';
import { pageFields } from '../envelope.js';
import { v3 } from '../params.js';
import { examplePaging } from '../trades/examples.js';
import { createHolderPages, HOLDER_WALK, type HolderPagesDeps } from './holder-pages.js';
import { positionFrom, positionSchema } from './serialize.js';

const sorts = ['recent', 'pnl', 'size', 'volume'] as const;
const measures: Readonly<Record<(typeof sorts)[number], HolderSort>> = {
  recent: 'last_at',
  pnl: 'realized_pnl',
  size: 'size',
  volume: 'total_bought',
};

/** Shares have as many decimals as USD. */
const sharesParam = usdParam({
  description: 'Smallest number of shares held; decimals allowed.',
  invalid: 'invalid min_size: use a decimal number, 0 or more',
});

const shown = {
  token_id: true,
  size: true,
  avg_price: true,
  realized_pnl: true,
  unrealized_pnl: true,
  total_pnl: true,
  current_price: true,
  total_bought: true,
  resolved: true,
  status: true,
  market: true,
  slug: true,
  outcome: true,
  outcome_index: true,
  image: true,
  condition_id: true,
  neg_risk: true,
} as const;
const rowSchema = positionSchema.pick(shown).extend({ wallet: z.string() });

function rowFrom(position: Position, about: Outcome): z.input<typeof rowSchema> {
  const row = positionFrom(position, about);
  const kept = Object.fromEntries(Object.keys(shown).map((name) => [name, row[name as keyof typeof row]]));
  return { wallet: position.wallet, ...(kept as unknown as Omit<z.input<typeof rowSchema>, 'wallet'>) };
}

/** GET /v3/positions: positions of everybody in a token or a market. */
export function createPositionsRoute(deps: HolderPagesDeps & { readonly outcomesOf: Lookup<Outcome> }): Route {
  const pageOf = createHolderPages(deps);
  return defineRoute({
    method: 'get',
    family: 'v3',
    tag: 'Markets',
    auth: 'key',
    gate: 'v3',
    path: '/v3/positions',
    reads: ['positions', 'catalog'],
    summary: 'Positions of all wallets in a token or a market',
    description: `One of \`token_id\`, \`condition_id\` and \`market_slug\` must be named; all that are must hold. ${HOLDER_WALK}`,
    query: z.object({
      token_id: tokenIdParam({ invalid: 'invalid token_id: use a decimal uint256' }).optional(),
      condition_id: v3.conditionId.optional(),
      market_slug: slugParam({ description: 'Market slug.', invalid: 'invalid market_slug' }).optional(),
      status: choiceParam({
        description: 'open: shares held; closed: none left. Default both.',
        invalid: 'invalid status: use open or closed',
        values: ['open', 'closed'],
      }).optional(),
      sort: choiceParam({
        description: 'Default recent. `pnl` is realized_pnl, `volume` is total_bought.',
        invalid: `invalid sort: use ${sorts.join(', ')}`,
        values: sorts,
      }).default('recent'),
      order: choiceParam({
        description: 'Default desc.',
        invalid: 'invalid order: use asc or desc',
        values: ['asc', 'desc'],
      }).default('desc'),
      min_size: sharesParam.optional(),
      limit: v3.limit(),
      offset: v3.offset,
    }),
    aliases: { ...marketAliases('market_slug'), ...minSizeAlias },
    success: {
      description: 'A page of positions',
      schema: z.object({ positions: z.array(rowSchema), ...pageFields }),
      example: { positions: [rowFrom(exampleHeld, exampleHeld.about)], ...examplePaging, next_cursor: null },
    },
    async handler({ query }, context) {
      const { token_id: tokenId, condition_id: conditionId, market_slug: marketSlug } = query;
      const selection = { tokenId, conditionId, marketSlug };
      if (Object.values(selection).every((value) => value === undefined)) {
        throw badParameter('name token_id, condition_id or market_slug');
      }
      const asked = { ...query, sort: measures[query.sort], minSize: query.min_size ?? null };
      const { rows, paging } = await pageOf(`of ${JSON.stringify(selection)}`, selection, asked, context);
      const about = await deps.outcomesOf(rows.map((row) => row.tokenId));
      return {
        body: {
          positions: rows.map((row) => rowFrom(row, about.get(row.tokenId) ?? unknownOutcome)),
          ...paging(),
        },
      };
    },
  });
}
