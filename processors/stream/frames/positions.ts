import { isHash } from '../../../schemas/primitives/hash.js';
import { addresses } from '../../../schemas/primitives/venue.js';
import type { PositionChange, PositionMerge, PositionSplit, PositionsConverted } from '../../../schemas/types.gen.js';
import { conditionOfQuestion } from '../../activity/tokens.js';
import type { MarketMetadata } from '../catalog-model.js';
import {
  enrichment,
  marketFields,
  marketFilters,
  slugsOf,
  tokenLabels,
  toUnits,
  wholeMarketEnrichment,
} from './enrichment.js';
import { chainDraft, type Draft, distinct, type Enrichment } from './frame.js';
import { tokensOfCondition } from './market-tokens.js';

/** Collateral was split into a full set of outcome tokens, or a set was merged into collateral. */
export function splitOrMergeDraft(
  kind: 'position_split' | 'position_merge',
  event: PositionSplit | PositionMerge,
  known: Enrichment,
): Draft {
  const market = known.marketOfCondition(event.condition_id);
  return chainDraft(
    kind,
    event,
    {
      stakeholder: event.stakeholder,
      collateral_token: event.collateral_token,
      condition_id: event.condition_id,
      amount: toUnits(event.amount),
      ...wholeMarketEnrichment(market),
    },
    {
      wallets: [event.stakeholder],
      ...marketFilters(
        market,
        tokensOfCondition(market, event.collateral_token, event.condition_id),
        event.condition_id,
      ),
    },
  );
}

/** A transfer of outcome tokens. */
export function positionChangeDraft(change: PositionChange, known: Enrichment): Draft {
  const market = known.marketOfToken(change.token_id);
  return chainDraft(
    'position_change',
    change,
    {
      from: change.from,
      to: change.to,
      token_id: change.token_id,
      amount: toUnits(change.amount),
      transfer_type: change.transfer_type,
      ...enrichment(market, change.token_id),
    },
    { wallets: distinct(change.from, change.to), ...marketFilters(market, [change.token_id]) },
  );
}

/** A question whose NO tokens were converted. */
interface ConvertedQuestion {
  /** null: the market id is malformed. */
  readonly conditionId: string | null;
  /** undefined: not in the catalogue. */
  readonly market: MarketMetadata | undefined;
}

/** In question order; none for an index set that is no bit mask of 256 questions. */
function convertedQuestions(
  event: PositionsConverted,
  group: ReadonlyMap<number, MarketMetadata> | undefined,
): readonly ConvertedQuestion[] {
  if (!/^0x[0-9a-f]{1,64}$/i.test(event.index_set)) return [];
  const questions: ConvertedQuestion[] = [];
  for (let bits = BigInt(event.index_set), index = 0; bits > 0n; bits >>= 1n, index++) {
    if ((bits & 1n) === 0n) continue;
    const market = group?.get(index);
    const conditionId =
      market?.conditionId ?? (isHash(event.market_id) ? conditionOfQuestion(event.market_id, index) : null);
    questions.push({ conditionId, market });
  }
  return questions;
}

/** Title, slug and image when a single market was converted; the fee when all converted markets have the same. */
function convertedMarketFields(markets: readonly MarketMetadata[] | undefined): Record<string, unknown> {
  const [first, second] = markets ?? [];
  if (first === undefined) return {};
  const { event_title: _, ...fields } = second === undefined ? marketFields(first) : {};
  const sameFee = markets?.every((market) => market.takerBaseFee === first.takerBaseFee) === true;
  return { ...fields, ...(sameFee ? { taker_base_fee: first.takerBaseFee } : {}) };
}

/** NO tokens of a neg-risk group were converted to collateral and YES tokens. Its markets are those of the NO tokens. */
export function positionsConvertedDraft(event: PositionsConverted, known: Enrichment): Draft {
  const group = known.negRiskGroup(event.market_id);
  const questions = convertedQuestions(event, group);
  const catalogued = questions.flatMap(({ market }) => market ?? []);
  // Fields about the converted markets need all of them.
  const markets = catalogued.length > 0 && catalogued.length === questions.length ? catalogued : undefined;
  const anyMarket = markets?.[0] ?? group?.values().next().value;
  const labels = markets?.map((market) => market.groupItemTitle ?? market.title);
  return chainDraft(
    'positions_converted',
    event,
    {
      stakeholder: event.stakeholder,
      market_id: event.market_id,
      index_set: event.index_set,
      amount: toUnits(event.amount),
      ...(labels === undefined ? {} : { converted_outcomes: labels }),
      ...(anyMarket?.eventTitle == null ? {} : { event_title: anyMarket.eventTitle }),
      neg_risk: true,
      ...convertedMarketFields(markets),
      ...(markets === undefined ? {} : { tokens: Object.assign({}, ...markets.map(tokenLabels)) }),
    },
    {
      wallets: [event.stakeholder],
      tokens: distinct(
        ...questions.flatMap(({ market, conditionId }) =>
          tokensOfCondition(market, addresses.wrappedCollateral, conditionId),
        ),
      ),
      conditionIds: distinct(...questions.map(({ conditionId }) => conditionId)),
      slugs: slugsOf(...catalogued),
    },
  );
}
