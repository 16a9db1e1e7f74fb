import { z } from 'zod';
import { accountMeters } from '../packages.js';
import { millis, text } from './fields.js';
import { eventFrame } from './frames.js';
import { errorCodes, presetNames } from './vocabulary.js';

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
  source: text('chain, oracle, catalog, orderbook.'),
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

export const controlFrames = { subscribed, unsubscribed, snapshot, heartbeat, pong, error } as const;
