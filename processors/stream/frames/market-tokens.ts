import { isAddress } from '../../../schemas/primitives/address.js';
import { comboPositions, isComboCondition } from '../../../schemas/primitives/combo-ids.js';
import { isHash } from '../../../schemas/primitives/hash.js';
import { tokenPair } from '../../../schemas/primitives/ids.js';
import { venueTokenPairs } from '../../../schemas/primitives/venue-tokens.js';
import type { MarketMetadata } from '../catalog-model.js';

/**
 * Outcome tokens of a condition: those of the catalogue, else those that derive from collateral and condition id; `collateral` null: with each collateral
 * of the venue. The catalogue lacks a market until it is loaded; filters by token match its events nevertheless.
 */
export function tokensOfCondition(
  market: MarketMetadata | undefined,
  collateral: string | null,
  condition: string | null,
): readonly string[] {
  if (market !== undefined) return market.tokenIds;
  if (condition === null) return [];
  if (isComboCondition(condition)) return comboPositions(condition);
  if (collateral === null) return venueTokenPairs(condition).flat();
  return isHash(condition) && isAddress(collateral) ? tokenPair(collateral, condition) : [];
}
