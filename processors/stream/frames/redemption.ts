import { moneyToNumber, ratio } from '../../../schemas/primitives/money.js';
import type { Redemption } from '../../../schemas/types.gen.js';
import type { MarketMetadata } from '../catalog-model.js';
import { marketFilters, toUnits, wholeMarketEnrichment } from './enrichment.js';
import { chainDraft, type Draft, type Enrichment } from './frame.js';
import { tokensOfCondition } from './market-tokens.js';

const OUTCOME_PRICE_DECIMALS = 12;

/**
 * Fields of a market's resolution; none of them unless the market's tokens and one payout numerator per token are known. Names a winner only
 * when exactly one outcome pays.
 */
function resolutionFields(
  market: MarketMetadata | undefined,
  payouts: readonly string[] | undefined,
): Record<string, unknown> {
  if (market === undefined || payouts === undefined || payouts.length !== market.tokenIds.length) return {};
  const numerators = payouts.map((text) => BigInt(text));
  const denominator = numerators.reduce((sum, numerator) => sum + numerator, 0n);
  if (denominator === 0n) return {};
  const paying = numerators.flatMap((numerator, index) => (numerator > 0n ? [index] : []));
  const winner = paying.length === 1 ? paying[0] : undefined;
  return {
    token_ids: market.tokenIds,
    outcomes: market.outcomes,
    payouts: numerators.map(Number),
    outcome_prices: numerators.map((numerator) =>
      moneyToNumber(ratio(numerator, denominator, OUTCOME_PRICE_DECIMALS) ?? 0n, OUTCOME_PRICE_DECIMALS),
    ),
    ...(winner === undefined
      ? {}
      : {
          winning_outcome_index: winner,
          winning_outcome: market.outcomes[winner],
          winning_token_id: market.tokenIds[winner],
        }),
  };
}

/** Outcome tokens of a resolved condition were redeemed. Size in USD is the payout. */
export function redemptionDraft(redemption: Redemption, known: Enrichment): Draft {
  const market = known.marketOfCondition(redemption.condition_id);
  return chainDraft(
    'redemption',
    redemption,
    {
      redeemer: redemption.redeemer,
      collateral_token: redemption.collateral_token,
      condition_id: redemption.condition_id,
      index_sets: redemption.index_sets,
      payout: toUnits(redemption.payout),
      payout_e6: redemption.payout.toString(),
      ...(redemption.source === null ? {} : { source: redemption.source }),
      ...wholeMarketEnrichment(market),
      ...resolutionFields(market, known.payouts(redemption.condition_id)),
    },
    {
      wallets: [redemption.redeemer],
      ...marketFilters(
        market,
        tokensOfCondition(market, redemption.collateral_token, redemption.condition_id),
        redemption.condition_id,
      ),
      usd: redemption.payout,
    },
  );
}
