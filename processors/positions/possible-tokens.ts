import { conditionId, negRiskQuestionId } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import type { WalletActivity } from '../../schemas/types.gen.js';
import { createTokens } from '../activity/tokens.js';

/** The index of a question is one byte. */
const MAX_QUESTIONS = 256;
const tokens = createTokens();

/** YES tokens of every question that the market of a conversion can have, except the converted ones; some do not exist. */
export function possiblyCreatedTokens({ subject, tokens: converted }: WalletActivity): readonly string[] {
  return Array.from({ length: MAX_QUESTIONS }, (_, index) => {
    const condition = conditionId({ oracle: addresses.negRiskAdapter, questionId: negRiskQuestionId(subject, index) });
    return tokens.pairOf(addresses.wrappedCollateral, condition);
  }).flatMap(([yes, no]) => (converted.includes(no) ? [] : yes));
}
