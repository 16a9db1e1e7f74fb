import { indexSetTokenId } from '../../../schemas/primitives/ids.js';
import { MalformedError } from './hex.js';

/**
 * Token ids of one block, each computed once: formatting 78 digits costs more than the rest of a fill, and rows of a fill share a token.
 * Deriving a token costs about 100 times as much, and many redemptions of one condition are in the same block.
 */
export interface BlockIds {
  /** Decimal text. */
  text(id: bigint): string;
  /** Tokens of the given index sets of a condition, in the same order. Throws MalformedError for an empty index set. */
  tokens(collateral: string, conditionId: string, indexSets: readonly bigint[]): readonly bigint[];
}

export function createBlockIds(): BlockIds {
  const texts = new Map<bigint, string>();
  const tokens = new Map<string, readonly bigint[]>();
  return {
    text(id) {
      let text = texts.get(id);
      if (text === undefined) {
        text = id.toString();
        texts.set(id, text);
      }
      return text;
    },
    tokens(collateral, conditionId, indexSets) {
      if (indexSets.includes(0n)) throw new MalformedError('index set is empty');
      const key = `${collateral}:${conditionId}:${indexSets.join()}`;
      let found = tokens.get(key);
      if (found === undefined) {
        found = indexSets.map((indexSet) => BigInt(indexSetTokenId({ collateral, conditionId, indexSet })));
        tokens.set(key, found);
      }
      return found;
    },
  };
}
