/** Route fields that all /v2/wallets and /v2/trader endpoints share. */
export const common = {
  method: 'get',
  apiGroup: 'v2',
  tag: 'Wallet analytics',
  auth: 'key',
  feature: 'v2Onchain',
} as const;

/** Maximum age of cached positions of a wallet. */
export const POSITIONS_CACHE_S = 300;
