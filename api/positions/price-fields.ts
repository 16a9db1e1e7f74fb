import { z } from 'zod';
import type { Price } from './position.js';

/** Response field that names the source of a price. */
export const priceSource = z.enum(['settlement', 'clob_mid', 'v1_condition', 'last_fill']).nullable().meta({
  description:
    "settlement: the payout. clob_mid: the middle of the best bid and ask, younger than 60 s. Else the newer of last_fill, the last maker fill, and v1_condition, the catalogue's quote. null: there is no price.",
});
export const priceSourceOf = (price: Pick<Price, 'source'>): z.input<typeof priceSource> =>
  price.source === 'none' ? null : price.source;
