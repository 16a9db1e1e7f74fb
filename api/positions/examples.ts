import { EXAMPLE_TOKEN, EXAMPLE_WALLET } from '../http/chain-params.js';
import { type PositionWithMetadata, positionFrom } from './position.js';

/** Example of an open position for the OpenAPI document. */
export const exampleOpenPosition: PositionWithMetadata = {
  ...positionFrom(
    {
      wallet: EXAMPLE_WALLET,
      token: EXAMPLE_TOKEN,
      size: '1200500000',
      received: '0',
      avg_price: '0.41',
      realized_pnl: '12400000',
      total_bought: '1500000000',
      bought_usdc: '615000000',
      fills: 3,
      unpriced: 0,
      first_at: 1789000000,
      last_at: 1790000123,
      last_trade_at: 1790000123,
      last_redeemed_at: null,
    },
    { usd: 550_000n, source: 'clob_mid', updatedAtS: 1790000100 },
  ),
  metadata: {
    conditionId: `0x${'c1'.repeat(32)}`,
    market: 'Will it snow in Lisbon by May?',
    slug: 'snow-lisbon-may',
    image: 'https://img.example/snow.png',
    icon: 'https://img.example/snow.png',
    eventSlug: 'snow-lisbon',
    outcome: 'Yes',
    outcomeIndex: 0,
    outcomes: ['Yes', 'No'],
    tokenIds: [EXAMPLE_TOKEN, '71000000000000000000000000000000000000000000000000000000000000000000000000002'],
    negRisk: false,
    endMs: Date.UTC(2027, 4, 1),
    tagSlugs: ['weather', 'europe'],
    status: 'live',
    resolvedAtS: null,
    winner: null,
  },
};

/** The same position, completely sold. */
export const exampleClosedPosition: PositionWithMetadata = {
  ...exampleOpenPosition,
  size: 0n,
  initialValue: 0n,
  currentValue: 0n,
  unrealizedPnl: 0n,
  realizedPnl: 180_470_000n,
  totalPnl: 180_470_000n,
};
