import type { Sql } from '../tables/port.js';

/** The addresses that have fills or wallet events. */
export const seenWalletsSql = (addresses: readonly string[]): Sql => ({
  text: `SELECT DISTINCT wallet FROM (
        (SELECT wallet FROM fills_by_wallet WHERE wallet IN {addresses:Array(String)} LIMIT 1 BY wallet)
        UNION ALL (SELECT wallet FROM wallet_events WHERE wallet IN {addresses:Array(String)} LIMIT 1 BY wallet)
      )`,
  params: { addresses },
});
