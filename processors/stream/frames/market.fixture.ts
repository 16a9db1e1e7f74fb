import type { MarketMetadata } from '../catalog-model.js';
import type { Enrichment } from './frame.js';

/** A market with two outcomes and all optional fields. */
export const market: MarketMetadata = {
  conditionId: '0xc0',
  title: 'Will it rain?',
  slug: 'will-it-rain',
  image: 'https://img.example/rain.png',
  eventTitle: 'Weather',
  eventSlug: 'weather',
  groupItemTitle: 'Rain',
  outcomes: ['Yes', 'No'],
  tokenIds: ['9001', '9002'],
  negRisk: false,
  tickSize: 0.01,
  takerBaseFee: null,
  closed: false,
  questionIds: ['0x51'],
  group: null,
};

/** The enrichment of an event about token 9002 of `market`. */
export const enriched = {
  market_title: 'Will it rain?',
  market_slug: 'will-it-rain',
  market_image: 'https://img.example/rain.png',
  event_title: 'Weather',
  condition_id: '0xc0',
  outcome: 'No',
  outcomes: ['Yes', 'No'],
  token_ids: ['9001', '9002'],
  tokens: { 9001: 'Yes', 9002: 'No' },
  neg_risk: false,
  tick_size: 0.01,
  taker_base_fee: null,
};

export const emptyEnrichment: Enrichment = {
  marketOfToken: () => undefined,
  marketOfCondition: () => undefined,
  marketOfQuestion: () => undefined,
  negRiskGroup: () => undefined,
  payouts: () => undefined,
};

export const enrichmentWith = (payouts?: readonly string[], over: Partial<MarketMetadata> = {}): Enrichment => {
  const info = { ...market, ...over };
  return {
    marketOfToken: (tokenId) => (info.tokenIds.includes(tokenId) ? info : undefined),
    marketOfCondition: (conditionId) => (conditionId === info.conditionId ? info : undefined),
    marketOfQuestion: (questionId) => (info.questionIds.includes(questionId) ? info : undefined),
    negRiskGroup: () => undefined,
    payouts: () => payouts,
  };
};

/** Fields of a mined log. */
export const minedFields = {
  id: '0xaa01-512',
  block_number: 91_000_001,
  block_hash: `0x${'b1'.repeat(32)}`,
  timestamp_ms: 1_780_000_004_000,
  tx_hash: '0xaa01',
  log_index: 512,
};
export const minedFrameFields = {
  tx_hash: '0xaa01',
  block_number: 91_000_001,
  log_index: 512,
  timestamp: 1_780_000_004_000,
};
