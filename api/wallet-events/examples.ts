import type { Condition } from '../catalog/conditions.js';
import type { WalletEventRow } from './events.sql.js';

/** Example event of the OpenAPI document. */
export const exampleEvent: WalletEventRow = {
  kind: 'split',
  block_number: 91000001,
  log_index: 77,
  timestamp: 1790000200,
  tx_hash: `0x${'7e'.repeat(32)}`,
  subject_id: `0x${'c1'.repeat(32)}`,
  amount: '50000000',
  index_sets: [],
  source: null,
};

export const exampleCondition: Condition = {
  conditionId: `0x${'c1'.repeat(32)}`,
  market: {
    question: 'Rivers vs. Lakes',
    slug: 'rvl-2026-10-02',
    image: null,
    icon: null,
    eventId: null,
    eventSlug: 'rvl-2026-10-02',
    eventTitle: 'Rivers vs. Lakes',
    outcomes: ['Rivers', 'Lakes'],
    tokenIds: ['71', '72'],
    negRisk: false,
    active: true,
    closed: true,
    volume: 5120.25,
    liquidity: 0,
    endMs: null,
    tagSlugs: [],
  },
  onChain: true,
  negRisk: false,
  tokenIds: ['71', '72'],
  resolution: { payouts: [0n, 1n], denominator: 1n, winner: 1, resolvedAtS: 1790000000 },
};
