import { addresses } from '../../schemas/primitives/venue.js';
import type { WalletActivity } from '../../schemas/types.gen.js';
import { conditionOfQuestion, createTokens } from '../activity/tokens.js';

/** The index of a question is one byte. */
const MAX_QUESTIONS = 256;
const tokens = createTokens();

/** YES tokens of every question that the market of a conversion can have, except the converted ones; some do not exist. */
export function possiblyCreatedTokens({ subject, tokens: converted }: WalletActivity): readonly string[] {
  return Array.from({ length: MAX_QUESTIONS }, (_, index) => {
    return tokens.pairOf(addresses.wrappedCollateral, conditionOfQuestion(subject, index));
  }).flatMap(([yes, no]) => (converted.includes(no) ? [] : yes));
}
