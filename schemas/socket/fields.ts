import { z } from 'zod';

/** Pieces the frames of the event socket share. Each carries the words the reference documents show. */

export const text = (description: string) => z.string().meta({ description });
export const hex = (description: string) =>
  z
    .string()
    .regex(/^0x[0-9a-f]*$/)
    .meta({ description: `${description} Lower-case 0x hex.` });
export const unsigned = (description: string) =>
  z
    .string()
    .regex(/^\d+$/)
    .meta({ description: `${description} Decimal digits.` });
export const tokenId = unsigned('Outcome token id.');
export const positionId = unsigned('Combo position id.');
export const millis = (description: string) =>
  z
    .number()
    .int()
    .meta({ description: `${description} Unix milliseconds, UTC.` });
export const seconds = (description: string) =>
  z
    .number()
    .int()
    .meta({ description: `${description} Unix seconds, UTC.` });
export const usdc = (description: string) => z.number().meta({ description: `${description} USDC.` });
export const shares = (description: string) => z.number().meta({ description: `${description} Shares.` });
export const price = (description: string) =>
  z
    .number()
    .min(0)
    .meta({ description: `${description} USDC per share.` });
export const side = z.enum(['BUY', 'SELL']);
export const outcomeSide = z.enum(['YES', 'NO']);
export const wallet = (description: string) => hex(description);

export const seq = z.number().int().positive().meta({
  description: 'Position in the stream: one higher with every event, the same for all clients, stable over restarts.',
});

/** Catalogue fields of an event about one token. Omitted while the catalogue does not have the market; an event never waits for them. */
export const enrichment = {
  market_title: text('Question of the market.').optional(),
  market_slug: text('Slug of the market.').optional(),
  market_image: text('URL of the market image.').optional(),
  event_title: text('Title of the parent event.').optional(),
  condition_id: hex('Condition id of the market.').optional(),
  outcome: text("Label of the event's token.").optional(),
  outcomes: z.array(z.string()).meta({ description: 'Labels, in the order of token_ids.' }).optional(),
  token_ids: z.array(tokenId).meta({ description: 'Both outcome tokens of the market.' }).optional(),
  tokens: z.record(z.string(), z.string()).meta({ description: 'Token id to label.' }).optional(),
  neg_risk: z.boolean().meta({ description: 'The market is one of a neg-risk group.' }).optional(),
  tick_size: z.number().meta({ description: 'Smallest price step, such as 0.01.' }).optional(),
  taker_base_fee: z.number().nullable().meta({ description: "Taker's base fee in basis points." }).optional(),
};

/** Catalogue fields of an event about all outcomes of a market. */
export const marketEnrichment = (({ condition_id: _c, outcome: _o, outcomes: _l, token_ids: _t, ...rest }) => rest)(
  enrichment,
);

/** Position of a mined log. */
export const logLocation = {
  tx_hash: hex('Transaction.'),
  block_number: z.number().int(),
  log_index: z.number().int().meta({ description: 'Within the block.' }),
  timestamp: millis('Time of the block.'),
};

/**
 * An event frame: type, log position, canonical time and the payload, whose `event_type` repeats the type. Objects are strict, so that a test
 * finds an undocumented field; clients must tolerate fields they do not know.
 */
export const eventFrame = <T extends string, S extends z.ZodRawShape>(type: T, description: string, data: S) =>
  z
    .strictObject({
      type: z.literal(type),
      seq,
      timestamp: millis('Canonical time of the event.'),
      data: z.strictObject({ event_type: z.literal(type), ...data }),
    })
    .meta({ title: type, description });
