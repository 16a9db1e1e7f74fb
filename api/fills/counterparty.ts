import { z } from 'zod';

/** Of a fill listed for a wallet; absent elsewhere. */
export const counterpartyField = z.literal(true).optional().meta({
  description:
    "Present where the wallet was matched as the taker of this maker's order. The wallet signed no such order: its own fills are the rows without this field. In a match that mints or merges a pair it traded the other outcome, so a SELL of this token is one it never made.",
});

/** The mark of a row of somebody else's order. What the wallet's own order did has a row of its own, as maker. */
export const counterpartyFlag = (row: { readonly role: 'maker' | 'taker' }): { counterparty?: true } =>
  row.role === 'taker' ? { counterparty: true } : {};
