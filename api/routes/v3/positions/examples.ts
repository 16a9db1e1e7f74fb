import { EXAMPLE_TOKEN, EXAMPLE_WALLET } from '../../../http/chain-params.js';
import { type Outcome, unknownOutcome } from '../../../positions/outcomes.js';
import { type Position, positionFrom } from '../../../positions/position.js';
import { exampleTitle } from '../trades/examples.js';

/** A made-up position, for the reference page. */
export const examplePosition: Position = positionFrom(
  {
    wallet: EXAMPLE_WALLET,
    token: EXAMPLE_TOKEN,
    size: '1200500000',
    received: '0',
    avg_price: '0.41',
    cost: '492205000',
    realized_pnl: '12400000',
    total_bought: '1500000000',
    bought_usdc: '615000000',
    sold_usdc: '135195000',
    fees: '0',
    fee_shares: '0',
    fee_cost: '0',
    sent_cost: '0',
    fills: 3,
    unpriced: 0,
    first_at: 1789990000,
    last_at: 1790000200,
    last_trade_at: 1790000200,
    last_redeemed_at: null,
  },
  { usd: 550_000n, source: 'clob_mid', updatedAtS: 1790000200 },
);

export const exampleOutcome: Outcome = {
  ...unknownOutcome,
  market: exampleTitle.market,
  slug: exampleTitle.slug,
  image: exampleTitle.image,
  outcome: exampleTitle.outcome,
  outcomeIndex: exampleTitle.outcomeIndex,
  conditionId: exampleTitle.conditionId,
  eventSlug: exampleTitle.eventSlug,
  tokenIds: [EXAMPLE_TOKEN, '502'],
  outcomes: ['Yes', 'No'],
  tagSlugs: ['weather'],
};
