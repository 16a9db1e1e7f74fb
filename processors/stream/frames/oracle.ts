import type { Oracle } from '../../../schemas/types.gen.js';
import type { MarketMetadata } from '../catalog-model.js';
import { marketFields, marketFilters, tokenLabels } from './enrichment.js';
import { chainDraft, type Draft, type Enrichment } from './frame.js';
import { tokensOfCondition } from './market-tokens.js';

/** Label of the resolved outcome, or `Split` when all outcomes pay equally; undefined when it cannot be derived. */
function resolvedOutcome(event: Oracle, market: MarketMetadata | undefined): string | undefined {
  if (event.payouts !== null) {
    const paying = event.payouts.flatMap((payout, index) => (BigInt(payout) > 0n ? [index] : []));
    if (paying.length === 1) return market?.outcomes[paying[0] as number];
    if (paying.length > 1 && new Set(event.payouts).size === 1) return 'Split';
    return undefined;
  }
  const price = event.resolved_price === null ? null : Number(event.resolved_price);
  if (price === 0.5) return 'Split';
  return price === 1 ? market?.outcomes[0] : price === 0 ? market?.outcomes[1] : undefined;
}

const optionalField = (field: string, value: unknown): Record<string, unknown> =>
  value === null || value === undefined ? {} : { [field]: value };

const optionalPriceField = (field: string, text: string | null): Record<string, unknown> =>
  text === null ? {} : { [field]: Number(text) };

/** A step of a question's resolution, with only the fields of that step. */
export function oracleDraft(event: Oracle, known: Enrichment): Draft {
  const market =
    (event.condition_id === null ? undefined : known.marketOfCondition(event.condition_id)) ??
    known.marketOfQuestion(event.question_id);
  const conditionId = event.condition_id ?? market?.conditionId;
  return chainDraft(
    'oracle',
    event,
    {
      oracle_type: event.oracle_type,
      question_id: event.question_id,
      adapter_address: event.adapter_address,
      ...optionalField('creator', event.creator),
      ...optionalField('proposer', event.proposer),
      ...optionalField('disputer', event.disputer),
      ...optionalPriceField('proposed_price', event.proposed_price),
      ...optionalField('expiration_timestamp', event.expiration_timestamp_ms),
      ...optionalPriceField('resolved_price', event.resolved_price),
      ...optionalField('resolved_outcome', resolvedOutcome(event, market)),
      ...optionalField('payouts', event.payouts?.map(Number)),
      ...optionalField('condition_id', conditionId),
      ...marketFields(market),
      ...(market === undefined
        ? {}
        : {
            outcomes: market.outcomes,
            token_ids: market.tokenIds,
            tokens: tokenLabels(market),
            neg_risk: market.negRisk,
          }),
    },
    marketFilters(market, tokensOfCondition(market, null, conditionId ?? null), conditionId ?? null),
  );
}
