import { z } from 'zod';

/** Field of a fill in a wallet's list; absent in other lists. */
export const counterpartyField = z.literal(true).optional().meta({
  description:
    "Present where the wallet was matched as the taker of this maker's order. The wallet signed no such order: its own fills are the rows without this field. In a match that mints or merges a pair it traded the other outcome, so a SELL of this token is one it never made.",
});

/** Flag of a row that belongs to another wallet's order. The wallet's own order is listed as a separate row with role `maker`. */
export const counterpartyFlag = (row: { readonly role: 'maker' | 'taker' }): { counterparty?: true } =>
  row.role === 'taker' ? { counterparty: true } : {};
