import type { Deposit } from '../../../schemas/types.gen.js';
import { toUnits } from './enrichment.js';
import { chainDraft, type Draft, distinct } from './frame.js';

/** Collateral entered or left a venue wallet. */
export function depositDraft(deposit: Deposit): Draft {
  return chainDraft(
    'deposit',
    deposit,
    { from: deposit.from, to: deposit.to, amount: toUnits(deposit.amount), direction: deposit.direction },
    { wallets: distinct(deposit.from, deposit.to) },
  );
}
