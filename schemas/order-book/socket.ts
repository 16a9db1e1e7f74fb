import { z } from 'zod';

const decimal = z.string().regex(/^(?:\d+(?:\.\d*)?|\.\d+)$/);
const price = decimal.meta({ description: 'USD per share between 0 and 1, decimal text.' });
const side = z.enum(['BUY', 'SELL']);
const level = z.object({ price, size: decimal.meta({ description: 'Shares, decimal text.' }) });
const changedLevel = z.object({ price, size: decimal.meta({ description: 'New size of the level; 0 removes it.' }) });
const conditionId = z.string().nullable().meta({ description: 'Condition id.' });
const names = {
  slug: z.string().optional().meta({ description: 'Slug of the market; absent while unknown.' }),
  outcome: z.string().optional().meta({ description: 'Outcome of the token; absent while unknown.' }),
};
const verified = z
  .boolean()
  .meta({ description: 'Whether the book has the hash that the venue published for it, with nothing missing since.' });
const since = z.number().int().meta({ description: 'Unix ms since when `verified` has its value.' });
const seq = z
  .number()
  .int()
  .meta({ description: 'Number of the newest change in it, per token and run of the source; restarts with a book.' });

const integrity = z.object({
  protocol: z.literal('pn1'),
  anchor: z.literal(true).optional().meta({ description: 'The frame has the whole book.' }),
  prev_seq: z.number().int().optional().meta({ description: '`seq` of the step before; not in an anchor.' }),
  seq: z.number().int().meta({ description: 'Per token and connection, from 1; each step adds 1.' }),
  checksum: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .meta({ description: 'Checksum of the whole book after the step.' }),
});

const bookSnapshot = z
  .object({
    type: z.literal('book_snapshot'),
    asset_id: z.string().meta({ description: 'Token id.' }),
    market: conditionId,
    condition_id: conditionId,
    event_title: z.string().nullable().optional(),
    question: z.string().optional(),
    ...names,
    bids: z.array(level).meta({ description: 'Best first: descending prices.' }),
    asks: z.array(level).meta({ description: 'Best first: ascending prices.' }),
    timestamp: z.number().int().meta({ description: 'Unix ms of the venue.' }),
    hash: z.string().nullable().meta({ description: "The venue's hash of the book." }),
    seq,
    verified,
    since,
    reason: z.string().optional().meta({ description: 'Why it is not verified, or why the book was sent again.' }),
    synthetic: z.literal(true).optional().meta({ description: 'Made around recorded trades, not of the venue.' }),
    integrity: integrity.optional(),
  })
  .meta({ description: 'A whole book, which replaces what the client has.' });

const priceChange = z
  .object({
    type: z.literal('price_change'),
    asset_id: z.string().optional().meta({ description: 'With integrity=1: the only token of the change.' }),
    market: conditionId,
    slug: names.slug,
    assets: z.array(
      z.object({
        asset_id: z.string(),
        outcome: names.outcome,
        price,
        size: changedLevel.shape.size,
        side,
        best_bid: price.nullable().meta({ description: 'After the batch; null without bids.' }),
        best_ask: price.nullable().meta({ description: 'After the batch; null without asks.' }),
        verified,
        seq,
      }),
    ),
    integrity: integrity.optional(),
  })
  .meta({ description: 'New sizes of price levels.' });

const bookUpdate = z
  .object({
    type: z.literal('book_update'),
    asset_id: z.string(),
    market: conditionId,
    ...names,
    bids: z.array(changedLevel),
    asks: z.array(changedLevel),
    verified,
    seq,
    integrity: integrity.optional(),
  })
  .meta({ description: 'New sizes of several price levels of one token.' });

const lastTradePrice = z
  .object({
    type: z.literal('last_trade_price'),
    asset_id: z.string(),
    market: conditionId,
    price,
    size: decimal,
    side,
    fee_rate_bps: z.string().nullable(),
    timestamp: z.string().meta({ description: 'Unix ms of the venue, as text.' }),
    ...names,
    verified,
  })
  .meta({ description: 'A trade at the venue.' });

const bookStatus = z
  .object({
    type: z.literal('book_status'),
    asset_id: z.string(),
    verified,
    since,
    reason: z.string().nullable().meta({
      description:
        'Why it is not verified: silent, hash_mismatch, best_price_mismatch, invalid_level, no_hash, no_book, gap, source_unreachable or not_followed.',
    }),
  })
  .meta({ description: '`verified` has changed.' });

/** Codes of error frames. */
export const orderBookErrorCodes = [
  'invalid_json',
  'invalid_message',
  'input_too_large',
  'rate_limited',
  'unresolved_markets',
  'token_limit',
  'unavailable',
  'service_warming_up',
  'session_limit',
  'monthly_allowance_used_up',
  'resync_not_subscribed',
  'resync_resolved_empty',
  'resync_in_progress',
  'invalid_integrity_option',
  'integrity_firehose_unsupported',
  'integrity_capacity',
  'integrity_backpressure',
  'integrity_internal_reset',
] as const;

/** Messages of the order-book socket to the client. */
export const orderBookFrames = {
  book_subscribed: z
    .object({
      type: z.literal('subscribed'),
      markets: z.number().int().meta({ description: 'Tokens of the subscription.' }),
      firehose: z.literal(true).optional(),
      resolved_from: z
        .object({ token_ids: z.number().int(), slugs: z.number().int(), condition_ids: z.number().int() })
        .optional(),
      unresolved: z.array(z.string()).optional().meta({ description: 'Entries that are not known, at most 100.' }),
      without_book: z.array(z.string()).optional().meta({
        description:
          'Tokens whose books are not read now, at most 100: of closed markets, beyond the number of followed tokens, or just created.',
      }),
      integrity: z.object({ enabled: z.literal(true), protocol: z.literal('pn1') }).optional(),
    })
    .meta({ title: 'subscribed', description: 'The subscription has replaced the one before.' }),
  snapshot_batch: z
    .object({
      type: z.literal('snapshot_batch'),
      count: z.number().int(),
      total_sent: z.number().int().meta({ description: 'Books sent for this subscription so far.' }),
      snapshots: z.array(bookSnapshot),
    })
    .meta({ title: 'snapshot_batch', description: 'Books of the subscription; empty ones are left out.' }),
  book_snapshot: bookSnapshot.meta({
    title: 'book_snapshot',
    description: 'With integrity=1: a book from which the checksums of a token continue.',
  }),
  snapshots_done: z
    .object({ type: z.literal('snapshots_done'), total: z.number().int(), reason: z.literal('resync').optional() })
    .meta({ title: 'snapshots_done', description: 'All books of the subscription, or of a resync, were sent.' }),
  batch: z
    .object({
      type: z.literal('batch'),
      ts: z.number().int().meta({ description: 'Unix ms.' }),
      count: z.number().int(),
      updates: z.array(
        z.discriminatedUnion('type', [bookSnapshot, priceChange, bookUpdate, lastTradePrice, bookStatus]),
      ),
    })
    .meta({ title: 'batch', description: 'What has changed, every 250 ms; several changes of a level are one.' }),
  resyncing: z
    .object({ type: z.literal('resyncing'), markets: z.number().int().meta({ description: 'Tokens.' }) })
    .meta({ title: 'resyncing', description: 'Fresh books follow.' }),
  book_unsubscribed: z
    .object({
      type: z.literal('unsubscribed'),
      markets: z.number().int().meta({ description: 'Tokens that ended.' }),
      remaining: z.number().int().meta({ description: 'Tokens still subscribed.' }),
    })
    .meta({ title: 'unsubscribed' }),
  book_pong: z.object({ type: z.literal('pong') }).meta({ title: 'pong' }),
  book_error: z
    .object({
      error: z.string().meta({ description: `One of ${orderBookErrorCodes.join(', ')}; more may be added.` }),
      message: z.string(),
      retry_after_ms: z.number().int().optional(),
      resets_at: z.string().optional().meta({ description: 'ISO-8601 UTC.' }),
    })
    .meta({ title: 'error', description: 'Without `type`.' }),
} as const;

const marketEntries = z
  .array(z.string().min(1).max(300))
  .meta({ description: '`*`, token ids, condition ids (0x...), slugs of markets or events.' });

/** Messages of a client of the order-book socket. */
export const orderBookClientMessages = {
  book_subscribe: z
    .object({ action: z.literal('subscribe'), markets: marketEntries.min(1) })
    .meta({ title: 'subscribe', description: 'Replaces the subscription of the connection.' }),
  book_unsubscribe: z
    .object({ action: z.literal('unsubscribe'), markets: marketEntries.optional() })
    .meta({ title: 'unsubscribe', description: 'Ends the subscription, or that of the given markets.' }),
  resync: z
    .object({ action: z.literal('resync'), markets: marketEntries.optional() })
    .meta({ title: 'resync', description: 'Requests fresh books, of all or of the given markets.' }),
  book_ping: z.object({ action: z.literal('ping') }).meta({ title: 'ping' }),
} as const;
