import { z } from 'zod';
import { comboActions, eventTypeNames, presetNames } from './vocabulary.js';

const TWAP_WINDOWS_S = [30, 60] as const;

/** `<epoch>:<seq>`: a seq with the id of the log it counts in. */
const CURSOR = /^[0-9a-f]{16}:\d{1,15}$/;
const SINCE_SEQ_MESSAGE = 'a seq, or a cursor <epoch>:<seq>';

const lowerCaseStrings = z.array(z.string().transform((text) => text.toLowerCase()));
const strings = z.array(z.string());
/** An enum whose values match in any letter case. */
const caseInsensitiveEnum = <const W extends readonly [string, ...string[]]>(values: W) =>
  z
    .string()
    .transform((text) => values.find((one) => one.toLowerCase() === text.toLowerCase()) ?? text)
    .pipe(z.enum(values));
const oneOf = (values: readonly string[]) => `One of ${values.join(', ')}; any case.`;
const feedName = z
  .string()
  .transform((text) => text.toUpperCase())
  .pipe(z.string().regex(/^[A-Z0-9]+\/USD$/, 'feeds are named like BTC/USD'));

const SIDES = ['BUY', 'SELL', 'YES', 'NO'] as const;
const DIRECTIONS = ['BUY', 'SELL'] as const;
const STATUSES = ['pending', 'confirmed', 'all'] as const;

/**
 * `filters` of a subscribe message. Fields are combined with AND, values of a list with OR; an empty list is no filter. An event without the
 * filtered property does not match.
 */
export const filtersSchema = z.object({
  wallets: lowerCaseStrings
    .default([])
    .meta({ description: 'Maker or taker, from or to, stakeholder, redeemer. Any case.' }),
  tokens: strings.default([]).meta({ description: 'Outcome token ids; for combos also combo and leg positions.' }),
  markets: strings.default([]).meta({ description: 'Older name of tokens.' }),
  slugs: strings
    .default([])
    .meta({ description: 'Slugs of markets or events, looked up when subscribing; unknown ones cause a warning.' }),
  condition_ids: lowerCaseStrings.default([]).meta({
    description: 'Looked up when subscribing; for combos compared literally with combo and leg conditions.',
  }),
  side: caseInsensitiveEnum(SIDES)
    .optional()
    .meta({ description: `BUY or SELL of settlements, trades and fills; YES or NO of combos. ${oneOf(SIDES)}` }),
  status: caseInsensitiveEnum(STATUSES)
    .default('all')
    .meta({ description: `${oneOf(STATUSES)} pending drops status_update unless event_types names it.` }),
  min_size: z.number().nonnegative().finite().optional().meta({ description: 'USD, inclusive.' }),
  max_size: z.number().nonnegative().finite().optional().meta({ description: 'USD, inclusive.' }),
  event_types: z
    .array(z.enum([...eventTypeNames, 'fill']))
    .optional()
    .meta({
      description: "Replaces the preset's kinds; `fill` only with fills and dome. Without effect on chainlink.",
    }),
  snapshot_count: z.number().int().nonnegative().default(20).meta({
    description: 'Newest matching events to start with; 0: no snapshot. Clamped to the plan, with a warning.',
  }),
  since: z.number().int().nonnegative().optional().meta({
    description:
      'Unix ms: every matching event after it, within the look-back of the plan. Takes precedence over snapshot_count.',
  }),
  since_seq: z
    .union([z.number().int().nonnegative(), z.string().regex(CURSOR)], SINCE_SEQ_MESSAGE)
    .optional()
    .meta({
      description:
        'Every matching event after this seq, or after this cursor `<epoch>:<seq>`, which is rejected when it is of another log; within the look-back of the plan (enterprise: all retained events), then live. Takes precedence over since.',
    }),
  feeds: z
    .array(feedName)
    .default([])
    .meta({ description: 'chainlink: feeds such as BTC/USD, any case; default all.' }),
  price_source: z.literal('spot').optional().meta({ description: 'chainlink. Not together with twap_windows.' }),
  twap_windows: z
    .array(z.union(TWAP_WINDOWS_S.map((window) => z.literal(window))))
    .nonempty()
    .transform((windows) => TWAP_WINDOWS_S.filter((window) => windows.includes(window)))
    .optional()
    .meta({ description: 'chainlink: averages over these windows, in seconds, instead of spot.' }),
  combo_condition_ids: lowerCaseStrings.default([]).meta({ description: 'Combos: condition ids of combos.' }),
  leg_position_ids: strings.default([]).meta({ description: 'Combos: positions of legs.' }),
  event_ids: lowerCaseStrings.default([]).meta({ description: 'Combos: event ids of combos or legs.' }),
  module_ids: z
    .array(z.number().int())
    .default([])
    .meta({ description: 'Combos: 1 binary, 2 neg-risk, 3 combinatorial; of combos or legs.' }),
  action: caseInsensitiveEnum(comboActions)
    .optional()
    .meta({ description: `combo_lifecycle. ${oneOf(comboActions)}` }),
  direction: caseInsensitiveEnum(DIRECTIONS)
    .optional()
    .meta({ description: `Combos: side of the taker's order. ${oneOf(DIRECTIONS)}` }),
  on_slow: z.enum(['close', 'skip']).default('close').meta({
    description:
      'What happens when the client reads too slowly: the connection closes, or events are skipped, with a `skipped` frame that names them. A connection skips if all of its subscriptions say so.',
  }),
  end_of_block: z
    .boolean()
    .default(false)
    .meta({ description: 'Send `end_of_block` after the last event of every block.' }),
  end_of_window: z.boolean().default(false).meta({
    description: 'chainlink: send `end_of_window` after the last price of every feed in a 5-minute window.',
  }),
});

export type Filters = z.infer<typeof filtersSchema>;

const { wallets, tokens, slugs, condition_ids } = filtersSchema.shape;
/** Lists of an update; others cannot be changed. */
export const filterListsSchema = z.strictObject({ wallets, tokens, slugs, condition_ids });

/** Filters that are also accepted next to `filters`, whose values win: all but `action`, which is the name of the message there. */
export const topLevelFilters = filtersSchema.omit({ action: true }).shape;

const subscribeMessage = z
  .object({
    action: z.literal('subscribe'),
    type: z.enum(presetNames).default('settlements').meta({ description: 'Preset.' }),
    filters: filtersSchema.optional(),
    ...topLevelFilters,
  })
  .meta({
    title: 'subscribe',
    description: 'Add a subscription. Several may be active; an event that matches several is sent once.',
  });

const unsubscribeMessage = z
  .object({
    action: z.literal('unsubscribe'),
    subscription_id: z.string().optional().meta({ description: 'Absent: all subscriptions of the connection.' }),
  })
  .meta({ title: 'unsubscribe', description: 'End one subscription, or all.' });

const updateMessage = z
  .object({
    action: z.literal('update'),
    subscription_id: z.string(),
    add: filterListsSchema.optional().meta({ description: 'Items to add to the lists.' }),
    remove: filterListsSchema.optional().meta({ description: 'Items to remove; the last one of a list cannot be.' }),
  })
  .meta({
    title: 'update',
    description:
      'Change the filters of a subscription between two events, which `updated` names. Unknown slugs and condition ids begin when they appear.',
  });

const pingMessage = z
  .object({ action: z.literal('ping') })
  .meta({ title: 'ping', description: 'Requests a pong. Any message keeps the connection alive.' });

export const clientMessages = {
  subscribe: subscribeMessage,
  unsubscribe: unsubscribeMessage,
  update: updateMessage,
  ping: pingMessage,
} as const;
