import { gaplessStartSql } from '../../schemas/coverage/coverage.sql.js';
import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import {
  AMOUNT,
  amount,
  column,
  FINAL_BLOCKS,
  NULLABLE_AMOUNT,
  NULLABLE_TIME,
  type PublicView,
  publishedDecimal,
  TIME,
} from './spec.js';

const POLLED = 'As of the last poll of the catalogue, at most some minutes ago for open markets.';
const PUBLISHED = 'USD, as the catalogue publishes it; not a sum of trades.';
/** A published amount; 0 instead of NULL. */
const number = (float: string): string => `ifNull(${publishedDecimal(float)}, toDecimal128(0, 6))`;

const markets: PublicView = {
  name: 'markets',
  summary: 'One row per market of the catalogue, with its state on the chain.',
  key: ['condition_id'],
  fastBy: ['condition_id', 'slug'],
  freshness: `${POLLED} Resolutions seconds behind final blocks.`,
  caveat: 'Conditions that the catalogue does not list are not included.',
  columns: [
    column('condition_id', 'String', 'm.condition_id', 'Market: id of its condition on the chain.'),
    column('slug', 'String', 'm.slug', 'Name in links; unique among markets of the venue.'),
    column('question', 'String', 'm.question', 'Title.'),
    column('event_slug', 'String', "ifNull(m.event_slug, '')", "Slug of its event; '' when there is none."),
    column('event_title', 'String', "ifNull(m.event_title, '')", "Title of its event; '' when there is none."),
    column(
      'outcomes',
      'Array(String)',
      'm.outcomes',
      'Labels of the outcomes, e.g. Yes and No; in the order of token_ids.',
    ),
    column(
      'token_ids',
      'Array(UInt256)',
      'm.token_ids',
      'Outcome tokens. A large table is read fast with token_id IN (SELECT token_id FROM tokens WHERE slug = ...).',
    ),
    column(
      'status',
      'String',
      "multiIf(r.condition_id != '', 'resolved', m.closed, 'closed', 'live')",
      'live, closed (no trading, not settled) or resolved (settled on the chain).',
    ),
    column(
      'winning_outcome',
      'Nullable(String)',
      'if(arrayCount(n -> n > 0, r.payout_numerators) = 1, m.outcomes[arrayFirstIndex(n -> n > 0, r.payout_numerators)], NULL)',
      'Outcome that the chain paid; NULL until resolved, or when several outcomes were paid.',
    ),
    column('resolved_at', NULLABLE_TIME, 'r.resolved_at', 'When the chain settled it, UTC; NULL until then.'),
    column('is_active', 'Bool', 'm.active', 'As published by the catalogue.'),
    column('is_closed', 'Bool', 'm.closed', 'As published by the catalogue: trading has ended.'),
    column('is_archived', 'Bool', 'm.archived', 'As published by the catalogue.'),
    column(
      'is_neg_risk',
      'Bool',
      'm.neg_risk',
      'Whether it is one of the markets of a multi-outcome event, of which one resolves to Yes.',
    ),
    column(
      'neg_risk_market_id',
      'String',
      "ifNull(m.neg_risk_market_id, '')",
      "Id of that event on the chain; '' for others.",
    ),
    column(
      'group_item_title',
      'String',
      "ifNull(m.group_item_title, '')",
      "Short title inside its event; '' when there is none.",
    ),
    column(
      'crypto_asset',
      'String',
      "ifNull(m.crypto_asset, '')",
      "Coin of an up-or-down market, lower case; '' for others.",
    ),
    column(
      'crypto_duration',
      'String',
      "ifNull(m.crypto_duration, '')",
      "Length of its window: 5m, 15m, 1h, 4h, 1d; '' for others.",
    ),
    column(
      'window_start_at',
      NULLABLE_TIME,
      'm.event_start_at',
      'Start of its price window or of the event in question, UTC; NULL when not published.',
    ),
    column('end_at', NULLABLE_TIME, 'm.end_at', 'Announced end, UTC; NULL when not published.'),
    column('start_at', NULLABLE_TIME, 'm.start_at', 'Start of trading, UTC; NULL when not published.'),
    column('created_at', NULLABLE_TIME, 'm.created_at', 'Creation in the catalogue, UTC; NULL when not published.'),
    column('closed_at', NULLABLE_TIME, 'm.closed_at', 'End of trading, UTC; NULL until then.'),
    column(
      'tick_size',
      NULLABLE_AMOUNT,
      publishedDecimal('m.tick_size'),
      'Smallest step of order prices, USD; NULL when not published.',
    ),
    column(
      'min_order_shares',
      NULLABLE_AMOUNT,
      publishedDecimal('m.min_order_size'),
      'Smallest order in shares; NULL when not published.',
    ),
    column(
      'best_bid',
      NULLABLE_AMOUNT,
      publishedDecimal('m.best_bid'),
      'Of the first outcome, USD per share; NULL when not published.',
    ),
    column(
      'best_ask',
      NULLABLE_AMOUNT,
      publishedDecimal('m.best_ask'),
      'Of the first outcome, USD per share; NULL when not published.',
    ),
    column('catalogue_volume_usd', AMOUNT, number('m.volume'), PUBLISHED),
    column('catalogue_volume_24h_usd', AMOUNT, number('m.volume_24h'), `Of 24 hours. ${PUBLISHED}`),
    column('liquidity_usd', AMOUNT, number('m.liquidity'), PUBLISHED),
    column('tags', 'Array(String)', 'm.tag_slugs', 'Slugs of its tags.'),
    column(
      'resolution_source',
      'String',
      "ifNull(m.resolution_source, '')",
      "Source that settles it; '' when not published.",
    ),
    column('description', 'String', 'm.description', 'Rules of the market.'),
  ],
  from: `markets AS m FINAL
    LEFT JOIN (SELECT condition_id, toNullable(timestamp) AS resolved_at, payout_numerators FROM resolutions FINAL) AS r ON r.condition_id = m.condition_id`,
};

const resolutions: PublicView = {
  name: 'resolutions',
  summary: 'One row per market that was settled on the chain, with what each outcome pays.',
  key: ['condition_id'],
  fastBy: ['condition_id'],
  freshness: FINAL_BLOCKS,
  columns: [
    column('resolved_at', TIME, 'r.timestamp', 'Time of the block, UTC, whole seconds.'),
    column('condition_id', 'String', 'r.condition_id', 'Market.'),
    column('slug', 'String', 'm.slug', "Market's slug; '' until the catalogue lists it."),
    column(
      'event_slug',
      'String',
      "ifNull(m.event_slug, '')",
      "Slug of the market's event; '' when there is none or the catalogue does not list the market.",
    ),
    column(
      'payouts',
      'Array(String)',
      'r.payout_numerators',
      'Payout of each outcome in parts of their sum: [1, 0] pays the first outcome whole, [1, 1] both half. Integers as text.',
    ),
    column(
      'oracle',
      'String',
      'r.oracle',
      'Contract that settled it: the only one that could, as the market was prepared.',
    ),
    column('question_id', 'String', 'r.question_id', 'Id of the question at that contract.'),
    column('tx_hash', 'String', 'r.tx_hash', 'Transaction.'),
    column('block_number', 'UInt64', 'r.block_number', 'Block.'),
    column('log_index', 'UInt32', 'r.log_index', 'Index of the log in its block.'),
  ],
  from: `resolutions AS r FINAL
    LEFT JOIN (SELECT condition_id, slug, event_slug FROM markets FINAL) AS m ON m.condition_id = r.condition_id`,
};

const tokens: PublicView = {
  name: 'tokens',
  summary: 'One row per outcome token of the catalogue, with the slug and condition of its market.',
  key: ['token_id'],
  fastBy: ['token_id', 'condition_id', 'slug'],
  freshness: POLLED,
  columns: [
    column(
      'token_id',
      'UInt256',
      't.token_id',
      "Outcome token. Up to 78 digits: read it as text or as a big integer, and compare it with text, token_id = '123'; a number without quotes loses digits and matches nothing.",
    ),
    column('condition_id', 'String', 't.condition_id', 'Market.'),
    column('slug', 'String', 't.market_slug', "Market's slug."),
    column('outcome_index', 'UInt8', 't.outcome_index', '0 for the first outcome.'),
    column('outcome', 'String', 't.outcome', 'Label of the outcome, e.g. Up.'),
    column('event_slug', 'String', "ifNull(t.event_slug, '')", "Slug of the market's event; '' when there is none."),
  ],
  from: 'tokens AS t FINAL',
};

const events: PublicView = {
  name: 'events',
  summary: 'One row per event of the catalogue: a question with one or more markets.',
  key: ['event_id'],
  fastBy: ['event_id', 'slug'],
  freshness: POLLED,
  columns: [
    column('event_id', 'String', 'e.id', "The catalogue's id."),
    column('slug', 'String', 'e.slug', 'Name in links.'),
    column('title', 'String', 'e.title', 'Title.'),
    column('is_active', 'Bool', 'e.active', 'As published by the catalogue.'),
    column('is_closed', 'Bool', 'e.closed', 'As published by the catalogue.'),
    column('is_neg_risk', 'Bool', 'e.neg_risk', 'Whether exactly one of its markets resolves to Yes.'),
    column('start_at', NULLABLE_TIME, 'e.start_at', 'UTC; NULL when not published.'),
    column('end_at', NULLABLE_TIME, 'e.end_at', 'UTC; NULL when not published.'),
    column('created_at', NULLABLE_TIME, 'e.created_at', 'Creation in the catalogue, UTC; NULL when not published.'),
    column(
      'series_slug',
      'String',
      "ifNull(e.series_slug, '')",
      "Slug of its series, e.g. btc-up-or-down-5m; '' when there is none.",
    ),
    column('tags', 'Array(String)', 'e.tag_slugs', 'Slugs of its tags.'),
    column('condition_ids', 'Array(String)', 'e.market_condition_ids', 'Its markets.'),
    column('catalogue_volume_usd', AMOUNT, number('e.volume'), PUBLISHED),
    column('catalogue_volume_24h_usd', AMOUNT, number('e.volume_24h'), `Of 24 hours. ${PUBLISHED}`),
    column('liquidity_usd', AMOUNT, number('e.liquidity'), PUBLISHED),
    column('catalogue_open_interest_usd', AMOUNT, number('e.open_interest'), PUBLISHED),
    column('description', 'String', 'e.description', 'Text of the event.'),
  ],
  from: 'events AS e FINAL',
};

const tags: PublicView = {
  name: 'tags',
  summary: 'One row per tag of the catalogue. Markets and events list the slugs of their tags.',
  key: ['slug'],
  fastBy: ['slug'],
  freshness: POLLED,
  columns: [
    column('slug', 'String', 't.slug', 'Name in links, and in the tags of markets and events.'),
    column('label', 'String', 't.label', 'Display name.'),
    column('tag_id', 'String', 't.id', "The catalogue's id."),
  ],
  from: 'tags AS t FINAL',
};

/** Merges of parts delete rows whose sum is 0, so such tokens are left out whether or not they are still there. */
const openInterest: PublicView = {
  name: 'open_interest',
  summary:
    'One row per market with a net amount other than 0 of outcome tokens minted or redeemed, without combos: the USD that its full sets currently contain.',
  key: ['condition_id'],
  fastBy: [],
  freshness: 'Seconds behind final blocks.',
  caveat:
    "Counted from the first block of the log: sets minted before it are missing, so the sum may be negative. Combos are left out: their own modules split them, which is not counted here. A conversion of a neg-risk market counts in the questions whose NO shares it takes only, in equal parts, as the venue counts it; the collateral of these backs the YES shares that it creates in the others. So the sum over the questions is right, while that of one question can be above or below what its own shares claim. Tokens without a known market are summed in the row whose condition_id is ''.",
  columns: [
    column(
      'condition_id',
      'String',
      'o.condition_id',
      "Market; '' for tokens whose market is unknown to the chain log and to the catalogue.",
    ),
    column('slug', 'String', 'm.slug', "Market's slug; '' until the catalogue lists it."),
    column('question', 'String', 'm.question', "Title; '' until the catalogue lists the market."),
    column(
      'open_interest_usd',
      NULLABLE_AMOUNT,
      `if(o.complete AND o.net >= 0, ${amount('o.net')}, NULL)`,
      'USD held by full sets: minted less merged and redeemed. NULL where the log begins after the market was prepared, or has a gap since: what was minted or redeemed meanwhile is unknown. NULL also where the sum is negative.',
    ),
    column(
      'net_minted_usd',
      AMOUNT,
      amount('o.net'),
      'The same without NULL: negative if the log begins after sets were minted, or after conversions of a neg-risk market.',
    ),
  ],
  from: `(
      SELECT if(c.condition_id != '', c.condition_id, k.condition_id) AS condition_id, sum(i.amount) AS net,
        countIf(i.token_id IN (
          SELECT token_id FROM condition_tokens WHERE toUnixTimestamp(timestamp) * 1000 >= ifNull(tupleElement((${gaplessStartSql}), 2), 0)
        )) > 0 AS complete
      FROM open_interest AS i
      LEFT JOIN (SELECT token_id, condition_id FROM tokens FINAL) AS k ON k.token_id = i.token_id
      LEFT JOIN (SELECT token_id, condition_id FROM chain_tokens FINAL) AS c ON c.token_id = i.token_id
      WHERE i.amount != 0 AND NOT ${isComboSql('i.token_id')}
      GROUP BY condition_id
      HAVING net != 0
    ) AS o
    LEFT JOIN (SELECT condition_id, slug, question FROM markets FINAL) AS m ON m.condition_id = o.condition_id`,
};

export const catalogViews: readonly PublicView[] = [markets, resolutions, tokens, events, tags, openInterest];
