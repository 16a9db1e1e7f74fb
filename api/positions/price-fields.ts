import { z } from 'zod';
import type { Price } from './position.js';

/** Response field that names the source of a price. */
export const priceSource = z.enum(['settlement', 'clob_mid', 'v1_condition', 'last_fill']).nullable().meta({
  description:
    'settlement: the payout. clob_mid: mid of best bid and ask, younger than 60 s, of the verified order book or else of the catalogue. last_fill (last maker fill) or v1_condition (catalogue quote): the newer of the two. null: no price.',
});
export const priceSourceOf = (price: Pick<Price, 'source'>): z.input<typeof priceSource> =>
  price.source === 'none' ? null : price.source;
