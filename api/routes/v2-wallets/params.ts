/** What every /v2/wallets and /v2/trader endpoint has in common. */
export const common = {
  method: 'get',
  apiGroup: 'v2',
  tag: 'Wallet analytics',
  auth: 'key',
  feature: 'v2Onchain',
} as const;

/** Copies of a wallet's positions are at most so old. */
export const POSITIONS_CACHE_S = 300;
