import { z } from 'zod';
import { accountMeters } from '../packages.js';
import { millis, seconds, text } from './fields.js';
import { eventFrame } from './frames.js';
import { errorCodes, noticeCodes, presetNames } from './vocabulary.js';

const subscriberId = z.uuid().meta({ description: 'Id of the connection.' });
const subscriptionId = text('`<subscriber_id>:<n>`, n from 1. Treat it as opaque.');

const epoch = text('Id of the log: seq numbers of different epochs are not comparable.');
/** Position in the stream. */
const position = {
  seq: z.number().int().meta({
    description:
      'Newest event examined for all subscriptions of the connection: everything up to it has been sent or did not match.',
  }),
  cursor: text('`<epoch>:<seq>`, for `since_seq`.'),
};
const sourceFreshness = z.strictObject({
  source: text('chain, oracle, catalog, orderbook; stream: the events of this socket, made from chain and oracle.'),
  last_event_ms: millis('Time of its newest event; null: none yet.').nullable(),
  stale: z
    .enum(['disconnected', 'no_report', 'no_events'])
    .nullable()
    .meta({ description: 'Why its events are not current; null: they are.' }),
  stale_since_ms: millis('Since when; null: not stale, or unknown.').nullable(),
});

const subscribed = z
  .strictObject({
    type: z.literal('subscribed'),
    subscriber_id: subscriberId,
    subscription_id: subscriptionId,
    subscription_type: z.enum(presetNames),
    price_source: z
      .enum(['spot', 'twap30', 'twap60', 'both', 'follow_main'])
      .meta({ description: 'chainlink only; follow_main (spot) unless the subscription chose one.' })
      .optional(),
    twap_windows: z
      .array(z.union([z.literal(30), z.literal(60)]))
      .nullable()
      .meta({ description: 'chainlink only; null for spot.' })
      .optional(),
    epoch: epoch.optional(),
    warnings: z.array(z.string()).meta({ description: 'Values that were clamped, not found or ignored.' }),
  })
  .meta({
    title: 'subscribed',
    description: 'A subscription is active. Acknowledgements come in the order of the requests.',
  });

const unsubscribed = z
  .strictObject({
    type: z.literal('unsubscribed'),
    subscriber_id: subscriberId,
    subscription_id: subscriptionId.optional(),
  })
  .meta({ title: 'unsubscribed', description: 'One subscription ended; without subscription_id all of them.' });

const snapshot = z
  .strictObject({
    type: z.literal('snapshot'),
    count: z.number().int().meta({ description: 'Length of events.' }),
    events: z.array(eventFrame).meta({ description: 'Whole frames, oldest first.' }),
  })
  .meta({
    title: 'snapshot',
    description: 'The first events of a subscription, between its acknowledgement and its live events.',
  });

const heartbeat = z
  .strictObject({
    type: z.literal('heartbeat'),
    ts: millis('Current time.'),
    seq: position.seq.optional(),
    cursor: position.cursor.optional(),
    sources: z.array(sourceFreshness).optional(),
  })
  .meta({
    title: 'heartbeat',
    description:
      'Every 30 s or `heartbeat_interval`, with a Ping frame. `seq` and `cursor` are absent without a subscription.',
  });

const pong = z
  .strictObject({ type: z.literal('pong'), ts: millis('Current time.') })
  .meta({ title: 'pong', description: 'Response to a ping message.' });

const error = z
  .strictObject({
    type: z.literal('error'),
    code: z.enum(errorCodes),
    message: z.string(),
    resets_at: z.iso
      .datetime()
      .meta({
        description:
          'free_tier_limit_reached, monthly_allowance_used_up: when session time or allowance is available again.',
      })
      .optional(),
    meter: z.enum(accountMeters).meta({ description: 'monthly_allowance_used_up: what is used up.' }).optional(),
    earliest_seq: z.number().int().meta({ description: 'since_seq_unavailable: the oldest retained seq.' }).optional(),
    newest_seq: z.number().int().meta({ description: 'since_seq_unavailable: the newest seq.' }).optional(),
  })
  .meta({
    title: 'error',
    description:
      'A message could not be processed. The connection stays open, except after free_tier_limit_reached and monthly_allowance_used_up.',
  });

const updated = z
  .strictObject({
    type: z.literal('updated'),
    subscriber_id: subscriberId,
    subscription_id: subscriptionId,
    seq: z.number().int().meta({ description: 'Newest event that the filters before the update were applied to.' }),
    cursor: position.cursor.optional(),
    warnings: z.array(z.string()).meta({ description: 'Items that were not found, not in the list or malformed.' }),
  })
  .meta({ title: 'updated', description: 'The filters of a subscription have changed; the next event is the first.' });

const caughtUp = z
  .strictObject({
    type: z.literal('caught_up'),
    subscription_id: subscriptionId,
    seq: z.number().int().meta({ description: 'Newest event at this time; later ones come live.' }),
    cursor: position.cursor.optional(),
  })
  .meta({
    title: 'caught_up',
    description: 'With `notices=1`: the snapshot or replay of a subscription is complete, and it is live.',
  });

const fellBehind = z
  .strictObject({
    type: z.literal('fell_behind'),
    subscription_id: subscriptionId,
    reason: z.enum(['slow_reader']).meta({ description: 'slow_reader: the client reads too slowly; see `on_slow`.' }),
    seq: z.number().int().meta({ description: 'Newest event before the subscription left live delivery.' }),
    cursor: position.cursor.optional(),
  })
  .meta({ title: 'fell_behind', description: 'With `notices=1`: a subscription is no longer live until `caught_up`.' });

const skipped = z
  .strictObject({
    type: z.literal('skipped'),
    from_seq: z.number().int(),
    to_seq: z.number().int().meta({ description: 'Inclusive.' }),
  })
  .meta({
    title: 'skipped',
    description:
      'With `on_slow: "skip"`: events of this range were not sent, because the client read too slowly. A subscription with `since_seq` of `from_seq` - 1 fetches them.',
  });

const endOfBlock = z
  .strictObject({
    type: z.literal('end_of_block'),
    subscription_id: subscriptionId,
    block_number: z.number().int(),
    events: z.number().int().nullable().meta({
      description:
        'Events of the block that match the subscription, the block record included; null if a replay began inside the block.',
    }),
  })
  .meta({ title: 'end_of_block', description: 'With `end_of_block`: all events of the block were sent.' });

const endOfWindow = z
  .strictObject({
    type: z.literal('end_of_window'),
    subscription_id: subscriptionId,
    feed: text('Such as BTC/USD.'),
    twap_window_seconds: z.number().int().nullable().meta({ description: 'null: spot prices.' }),
    window_start: seconds('Start of the 5-minute window.'),
    window_end: seconds('End of the window, exclusive.'),
    events: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Prices of the feed in the window; null if a replay began inside the window.' }),
  })
  .meta({
    title: 'end_of_window',
    description:
      'With `end_of_window`: all prices of a feed in the window were sent; its first price after it follows.',
  });

const notice = z
  .strictObject({
    type: z.literal('notice'),
    code: z.enum(noticeCodes),
    ts: millis('Current time.'),
    source: text('Source of ingest that the notice is about.').optional(),
    reason: sourceFreshness.shape.stale
      .meta({ description: 'source_stale: why its events are not current.' })
      .optional(),
    since_ms: millis('source_stale, source_recovered: since when it was stale; null: unknown.').nullable().optional(),
    last_event_ms: millis('source_stale, source_recovered: time of its newest event.').nullable().optional(),
    from_block: z.number().int().meta({ description: 'history_reread, gap: first block.' }).optional(),
    to_block: z.number().int().meta({ description: 'history_reread, gap: last block.' }).optional(),
    from_seq: z.number().int().meta({ description: 'gap: first event that cannot be read.' }).optional(),
    to_seq: z.number().int().meta({ description: 'gap: last event that cannot be read.' }).optional(),
    subscription_id: subscriptionId.optional(),
    slug: text('unresolved, resolved: the slug.').optional(),
    condition_id: text('unresolved, resolved: the condition id.').optional(),
    seq: z
      .number()
      .int()
      .meta({ description: 'resolved: all events of the market after this one are delivered.' })
      .optional(),
    cursor: position.cursor.optional(),
  })
  .meta({ title: 'notice', description: 'With `notices=1`: something about a source, the stream or a subscription.' });

export const controlFrames = {
  ...{ subscribed, unsubscribed, updated, snapshot, heartbeat, pong, error },
  ...{ caught_up: caughtUp, fell_behind: fellBehind, skipped, end_of_block: endOfBlock, end_of_window: endOfWindow },
  notice,
} as const;
