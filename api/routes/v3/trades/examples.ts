import type { FillRow } from '../../../fills/fills.sql.js';
import type { TokenTitle } from '../../../fills/titles.js';
import { EXAMPLE_TOKEN, EXAMPLE_WALLET } from '../../../http/chain-params.js';
import { cursorsOf, logPositionCursor } from '../../../pagination/cursor.js';

/** Example fill of the OpenAPI document. */
export const exampleFill: FillRow = {
  block_number: 91000001,
  log_index: 77,
  timestamp: 1790000200,
  tx_hash: `0x${'7e'.repeat(32)}`,
  exchange_version: 2,
  neg_risk: false,
  order_hash: `0x${'0d'.repeat(32)}`,
  maker: EXAMPLE_WALLET,
  taker: '0x00000000000000000000000000000000000e0e0e',
  role: 'maker',
  side: 'SELL',
  token_id: EXAMPLE_TOKEN,
  usdc: '66275000',
  shares: '120500000',
  fee: '331000',
  fee_shares: '0',
  builder: '',
};

export const exampleTitle: TokenTitle = {
  market: 'Will it snow in Lisbon by May?',
  slug: 'snow-lisbon-may',
  outcome: 'Yes',
  outcomeIndex: 0,
  image: 'https://img.example/snow.png',
  icon: 'https://img.example/snow.png',
  conditionId: `0x${'c1'.repeat(32)}`,
  oppositeAsset: '72',
  negRisk: false,
  eventSlug: 'snow-lisbon',
  eventTitle: 'Snow in Lisbon',
  eventId: 4242,
};

/** Paging fields of an example with one row. */
export const examplePaging = {
  rows_returned: 1,
  has_more: true,
  offset: 0,
  limit: 1,
  next_cursor: cursorsOf(logPositionCursor, { endpoint: '/v3/trades', order: 'desc' }).write({
    blockNumber: 91000001,
    logIndex: 77,
  }),
  elapsed_ms: 6,
};
