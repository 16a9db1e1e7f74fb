import type { Metrics } from '../../../infra/telemetry/metrics.js';
import { tokenPair } from '../../../schemas/primitives/ids.js';
import type { CatalogMarket } from '../../../schemas/types.gen.js';
import { addresses } from '../../chain/contracts.js';

const MAX_CHECKED_IDS = 50_000;

/**
 * Compares published token ids with those derived from the condition id (collateral USDC.e, or the wrapped collateral of neg-risk
 * markets). Differences are only counted; the published ids are used. A derivation takes about 0.5 ms, so each short-form market is
 * checked once, and other markets only when their condition id starts with a zero digit.
 */
export function createIdCheck(metrics: Metrics): (market: CatalogMarket) => void {
  const checks = metrics.counter('catalog_token_id_checks_total', 'Published token ids compared with derived ones', [
    'result',
  ]);
  const checked = new Set<string>();
  return (market) => {
    const selected = market.crypto_duration !== null || market.condition_id.startsWith('0x0');
    if (!selected || market.token_ids.length !== 2 || checked.has(market.condition_id)) return;
    if (checked.size >= MAX_CHECKED_IDS) checked.clear();
    checked.add(market.condition_id);
    const collateral = market.neg_risk ? addresses.wrappedCollateral : addresses.usdcE;
    const derived = tokenPair(collateral, market.condition_id);
    checks.inc({ result: derived.join() === market.token_ids.join() ? 'equal' : 'different' });
  };
}
