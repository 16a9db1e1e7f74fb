import { z } from 'zod';

/** Field of a fill in a wallet's list; absent in other lists. */
export const counterpartyField = z.literal(true).optional().meta({
  description:
    "Present if the wallet was the taker of this maker's order. The wallet did not sign this order: its own fills are the rows without this field. In a match that mints or merges a pair the wallet traded the other outcome; a SELL of this token is then not a sale by the wallet.",
});

/** Flag of a row that belongs to another wallet's order. The wallet's own order is listed as a separate row with role `maker`. */
export const counterpartyFlag = (row: { readonly role: 'maker' | 'taker' }): { counterparty?: true } =>
  row.role === 'taker' ? { counterparty: true } : {};
