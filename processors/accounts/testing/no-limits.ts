import type { CustomLimits } from '../../../schemas/types.gen.js';

/** Custom limits that leave every number to the plan. */
export const noLimits: CustomLimits = {
  standard_per_minute: null,
  heavy_per_minute: null,
  event_sockets: null,
  orderbook_sockets: null,
  filter_items_per_subscription: null,
  api_keys: null,
  social_searches_per_month: null,
  api_requests_per_month: null,
  orderbook_chainlink_bytes_per_month: null,
  onchain_event_bytes_per_month: null,
};
