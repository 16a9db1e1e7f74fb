import { z } from 'zod';
import { millis, seconds, seq, text } from './fields.js';

const feed = z.string().regex(/^[A-Z0-9]+\/USD$/);
const twap = {
  is_twap: z.boolean(),
  twap_window_seconds: z
    .union([z.literal(30), z.literal(60)])
    .nullable()
    .meta({ description: 'Null for spot.' }),
};

export const priceFeed = z
  .strictObject({
    type: z.literal('price_feed'),
    seq,
    id: text('Replay-safe id of the tick.'),
    feed,
    timestamp: seconds('Second of the oracle.'),
    timestamp_ms: millis('Time of the oracle.'),
    ...twap,
    computed: z
      .literal(true)
      .meta({ description: 'A TWAP averaged from spot ticks, where the source publishes none (recorded input).' })
      .optional(),
    data: z.strictObject({
      feed,
      price: z.number().positive(),
      bid: z.number().positive(),
      ask: z.number().positive(),
      timestamp: seconds('Second of the oracle.'),
      ...twap,
    }),
  })
  .meta({
    title: 'price_feed',
    description: 'One oracle price, about one per feed and second. No snapshot, no replay by time.',
  });
