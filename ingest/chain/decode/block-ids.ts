import { indexSetTokenId } from '../../../schemas/primitives/ids.js';
import { MalformedError } from './hex.js';

/**
 * Token ids of one block, each worked out once: writing 78 digits costs more than the rest of a fill and its rows share a token; deriving a
 * token takes two orders more, and redemptions of one condition come in crowds.
 */
export interface BlockIds {
  /** Decimal text. */
  text(id: bigint): string;
  /** Tokens of these index sets of a condition, in their order. Throws MalformedError for an empty index set. */
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
