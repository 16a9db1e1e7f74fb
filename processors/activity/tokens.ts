import { isComboCondition } from '../../schemas/primitives/combo-ids.js';
import {
  conditionId as conditionOf,
  indexSetTokenId,
  negRiskQuestionId,
  tokenPair,
} from '../../schemas/primitives/ids.js';
import { oldestTenth } from '../../schemas/primitives/oldest.js';
import { addresses, collateralOfOracle, collaterals } from '../../schemas/primitives/venue.js';

const CACHED_CONDITIONS = 20_000;
const venueCollateral: ReadonlySet<string> = new Set(collaterals);

/** Whether a split, merge or redemption is of the venue's collateral: its amount is USDC. ConditionalTokens lets anyone split any ERC-20 token. */
export const isOfVenueCollateral = (event: { readonly collateral_token: string; readonly condition_id: string }) =>
  isComboCondition(event.condition_id) || venueCollateral.has(event.collateral_token);

/** Condition id of a question of a neg-risk market. Throws RangeError for an index above 255 or a malformed id. */
export const conditionOfQuestion = (marketId: string, index: number): string =>
  conditionOf({ oracle: addresses.negRiskAdapter, questionId: negRiskQuestionId(marketId, index) });

/** Outcome token ids of conditions, computed as in ConditionalTokens. Recent results are cached, since each takes about 0.1 ms. */
export function createTokens() {
  const pairs = new Map<string, readonly [string, string]>();
  const pairOf = (collateral: string, conditionId: string): readonly [string, string] => {
    const key = `${collateral}${conditionId}`;
    let pair = pairs.get(key);
    if (pair === undefined) {
      pair = tokenPair(collateral as `0x${string}`, conditionId);
      pairs.set(key, pair);
      for (const oldest of oldestTenth(pairs, CACHED_CONDITIONS)) pairs.delete(oldest);
    }
    return pair;
  };
  return {
    /** Both tokens of a two-outcome condition. */
    pairOf,
    /** Both tokens of a condition whose collateral follows from its oracle. */
    pairOfOracle: (oracle: string, conditionId: string) => pairOf(collateralOfOracle(oracle), conditionId),
    /** The token of one outcome or of a set of them. */
    ofIndexSet(collateral: string, conditionId: string, indexSet: number): string {
      if (indexSet === 1 || indexSet === 2) return pairOf(collateral, conditionId)[indexSet - 1] as string;
      return indexSetTokenId({ collateral, conditionId, indexSet });
    },
  };
}

export type Tokens = ReturnType<typeof createTokens>;
