import {
  AMOUNT,
  amount,
  column,
  NULLABLE_AMOUNT,
  NULLABLE_TIME,
  type PublicView,
  publishedDecimal,
  TIME,
  tokenColumns,
  tokenNamesJoin,
} from './spec.js';

const LEVELS = 'Array(Tuple(price Decimal(38, 9), shares Decimal(38, 6)))';
/** Cast: `bids.price` needs the names of the tuple's elements in the view. */
const levels = (side: 'bid' | 'ask'): string =>
  `CAST(arrayMap((price, size) -> (toDecimal128(price, 9), toDecimal128(size, 6)), b.${side}_prices, b.${side}_sizes), '${LEVELS}')`;

/**
 * Prices of the feeds, with 18 decimals. The quotient of two prices above 170 USD exceeds 38 digits on the way, and the engine then returns a wrong
 * number without an error; in 76 digits it is right.
 */
const FEED_PRICE = 'Decimal(76, 18)';
const feedPrice = (expression: string): string => `toDecimal256(${expression}, 18)`;

/** Candles of one width, from the state table of the same or the next finer width. */
function candles(width: string, table: string, start: string, called: string): PublicView {
  return {
    name: `candles_${width}`,
    summary: `One row per outcome token and UTC ${called} with trades, of prices in trades.`,
    key: ['token_id', 'start_at'],
    fastBy: ['token_id', 'start_at (with token_id)'],
    freshness: 'Seconds behind final blocks; the newest candle changes until its end.',
    caveat: `A ${called} without trades has no row. Prices are of the maker orders' outcome: a match that minted or merged a pair is only in the candle of the maker's token.`,
    columns: [
      column('start_at', TIME, 'c.start_at', `Start of the ${called}, UTC.`),
      ...tokenColumns('c.token_id'),
      column('open', AMOUNT, amount('c.open'), 'USD per share of the first trade, rounded to 6 decimals.'),
      column('high', AMOUNT, amount('c.high'), 'Highest price, USD per share.'),
      column('low', AMOUNT, amount('c.low'), 'Lowest price, USD per share.'),
      column('close', AMOUNT, amount('c.close'), 'USD per share of the last trade.'),
      column('matches', 'UInt64', 'c.matches', 'Rows of trades.'),
      column('match_usd', AMOUNT, amount('c.match_usdc'), 'USD traded, each match once.'),
      column('shares', AMOUNT, amount('c.match_shares'), 'Shares traded, each match once.'),
      column('maker_buy_usd', AMOUNT, amount('c.maker_buy_usdc'), 'Part of match_usd in which the maker bought.'),
      column('first_trade_at', TIME, 'c.first_trade_at', 'Time of the first trade, UTC.'),
      column('last_trade_at', TIME, 'c.last_trade_at', 'Time of the last trade, UTC.'),
    ],
    from: `(
      SELECT token_id, ${start} AS start_at, argMinMerge(s.open) AS open, max(s.high) AS high, min(s.low) AS low, argMaxMerge(s.close) AS close,
        sum(s.trades) AS matches, sum(s.usdc) AS match_usdc, sum(s.buy_usdc) AS maker_buy_usdc, sum(s.shares) AS match_shares,
        min(s.first_at) AS first_trade_at, max(s.last_at) AS last_trade_at
      FROM ${table} AS s GROUP BY token_id, start_at
    ) AS c ${tokenNamesJoin('c.token_id')}`,
  };
}

const ticks: PublicView = {
  name: 'ticks',
  summary: 'One row per price that the oracle published: at most one per feed, averaging window and second.',
  key: ['feed', 'twap_window_s', 'tick_at', 'tick_id'],
  fastBy: ['feed', 'tick_at (with feed and twap_window_s)'],
  freshness: 'A second or two behind the oracle. Late ticks are added under their own time.',
  caveat: 'Seconds without a published price are missing.',
  columns: [
    column('tick_at', TIME, 't.timestamp_ms', "The oracle's timestamp, UTC."),
    column('feed', 'String', 't.feed', 'Pair, e.g. BTC/USD.'),
    column(
      'twap_window_s',
      'UInt16',
      't.twap_window_s',
      '0 for a spot price, else the seconds it averages. Filter on it: spot and average prices must not be mixed.',
    ),
    column('price', FEED_PRICE, feedPrice('t.price'), 'USD, 18 decimals as published.'),
    column('bid', `Nullable(${FEED_PRICE})`, feedPrice('t.bid'), 'USD; NULL if the source publishes none.'),
    column('ask', `Nullable(${FEED_PRICE})`, feedPrice('t.ask'), 'USD; NULL if the source publishes none.'),
    column('price_source', 'String', 't.source', 'Source of the tick.'),
    column('received_at', TIME, 't.received_at', 'When this service received it, UTC.'),
    column('tick_id', 'String', 't.id', 'Feed, time and number of the tick.'),
  ],
  from: 'ticks AS t FINAL',
};

const windows: PublicView = {
  name: 'windows',
  summary:
    'One row per up-or-down market on the price of a coin: its window with the prices at both ends and how it was settled.',
  key: ['condition_id'],
  fastBy: ['condition_id', 'slug'],
  freshness: 'Prices a second or two behind the oracle, settlement seconds behind final blocks.',
  caveat:
    'Prices are computed from 5-minute candles of spot ticks: a tick on a boundary second closes one window and opens the next. If the only tick of a window is that of its last second, both prices are that tick. Every query reads all 5-minute candles of spot ticks.',
  columns: [
    column('condition_id', 'String', 'w.condition_id', 'Market.'),
    column('slug', 'String', 'w.slug', "Market's slug."),
    column('asset', 'String', 'w.asset', 'Coin, e.g. BTC.'),
    column('feed', 'String', 'w.feed', 'Pair whose ticks are used, e.g. BTC/USD.'),
    column('duration', 'String', 'w.duration', 'Length as the catalogue names it: 5m, 15m, 1h, 4h, 1d.'),
    column('start_at', NULLABLE_TIME, 'w.start_at', 'Start, UTC; NULL when the catalogue has none.'),
    column('end_at', NULLABLE_TIME, 'w.end_at', 'End, UTC; NULL when the catalogue has none.'),
    column(
      'open_price',
      `Nullable(${FEED_PRICE})`,
      feedPrice('w.open_price'),
      'First spot tick at or after the start: the price to beat, USD. NULL without ticks.',
    ),
    column(
      'close_price',
      `Nullable(${FEED_PRICE})`,
      feedPrice('w.close_price'),
      'Last spot tick at or before the end, USD; changes while the window is open. NULL without ticks.',
    ),
    column(
      'is_complete',
      'Bool',
      'ifNull(f.newest >= w.end_at, false)',
      'Whether the feed has a tick at or after the end, so that close_price is final.',
    ),
    column(
      'price_outcome',
      'Nullable(String)',
      "multiIf(w.open_price IS NULL OR w.close_price IS NULL OR NOT ifNull(f.newest >= w.end_at, false), NULL, w.close_price >= w.open_price, 'Up', 'Down')",
      'Up when close_price is not below open_price, else Down; NULL until is_complete or without prices.',
    ),
    column(
      'settled_outcome',
      'Nullable(String)',
      'if(r.winner = 0, NULL, w.outcomes[r.winner])',
      'Outcome that the chain paid; NULL until resolved, or when several outcomes were paid.',
    ),
    column('resolved_at', NULLABLE_TIME, 'r.resolved_at', 'When the chain settled it, UTC; NULL until then.'),
    column(
      'up_token_id',
      'Nullable(UInt256)',
      'if(length(w.token_ids) = 2, w.token_ids[1], NULL)',
      'Token of the first outcome (Up); NULL when the catalogue has none.',
    ),
    column(
      'down_token_id',
      'Nullable(UInt256)',
      'if(length(w.token_ids) = 2, w.token_ids[2], NULL)',
      'Token of the second outcome (Down); NULL when the catalogue has none.',
    ),
  ],
  from: `(
      SELECT m.condition_id AS condition_id, m.slug AS slug, any(m.asset) AS asset, any(m.feed) AS feed, any(m.duration) AS duration,
        any(m.start_at) AS start_at, any(m.end_at) AS end_at, any(m.outcomes) AS outcomes, any(m.token_ids) AS token_ids,
        argMinIf(toNullable(c.open), m.bucket, c.feed != '') AS open_price, argMaxIf(toNullable(c.close), m.bucket, c.feed != '') AS close_price
      FROM (
        SELECT condition_id, slug, upper(ifNull(crypto_asset, '')) AS asset, concat(asset, '/USD') AS feed, ifNull(crypto_duration, '') AS duration,
          event_start_at AS start_at, end_at, outcomes, token_ids,
          arrayJoin(emptyArrayToSingle(if(event_start_at IS NULL OR end_at IS NULL OR end_at > event_start_at + INTERVAL 32 DAY, [], arrayMap(s -> toDateTime(s, 'UTC'),
            range(toUnixTimestamp(assumeNotNull(event_start_at)), toUnixTimestamp(assumeNotNull(end_at)), 300))))) AS bucket
        FROM markets FINAL WHERE crypto_asset IS NOT NULL AND crypto_duration IS NOT NULL
      ) AS m
      LEFT JOIN candles AS c ON c.feed = m.feed AND c.bucket = m.bucket
      GROUP BY m.condition_id, m.slug
    ) AS w
    LEFT JOIN (SELECT feed, max(bucket) AS newest FROM candles_5m GROUP BY feed) AS f ON f.feed = w.feed
    LEFT JOIN (
      SELECT condition_id, toNullable(timestamp) AS resolved_at, if(arrayCount(n -> n > 0, payout_numerators) = 1, arrayFirstIndex(n -> n > 0, payout_numerators), 0) AS winner
      FROM resolutions FINAL
    ) AS r ON r.condition_id = w.condition_id`,
};

const pricesNow: PublicView = {
  name: 'prices_now',
  summary: 'One row per outcome token with its newest price.',
  key: ['token_id'],
  fastBy: ['token_id'],
  freshness: 'Settlements and trades seconds behind final blocks; quotes as of priced_at.',
  caveat:
    "The settlement, else the midpoint of the verified order book (or of the catalogue's best bid and ask) if younger than 60 s, else the newer of the last trade and the catalogue's quote. Synthetic books price nothing.",
  columns: [
    ...tokenColumns('q.token_id'),
    column(
      'price',
      NULLABLE_AMOUNT,
      `if(q.source = 'none', NULL, ${publishedDecimal('q.price')})`,
      'USD per share, rounded to 6 decimals; NULL when the token has no price.',
    ),
    column(
      'price_source',
      'String',
      'q.source',
      'settlement, clob_mid, last_fill, v1_condition (the catalogue) or none.',
    ),
    column(
      'priced_at',
      NULLABLE_TIME,
      "nullIf(q.updated_at, toDateTime(0, 'UTC'))",
      'Time of the settlement, quote or trade, UTC; NULL when the token has no price.',
    ),
    column('is_resolved', 'Bool', 'q.resolved', 'Whether the chain has settled the market.'),
    column('last_trade_at', NULLABLE_TIME, 'q.last_trade_at', 'Newest trade, UTC; NULL when there is none.'),
  ],
  from: `token_prices AS q ${tokenNamesJoin('q.token_id')}`,
};

const orderBooks: PublicView = {
  name: 'order_books',
  summary: 'One row per outcome token with its newest order book.',
  key: ['token_id'],
  fastBy: ['token_id'],
  freshness: 'Some three seconds behind the venue while its feed is open; see received_at.',
  caveat:
    'Only books read in the last day, of the most active markets. A book with is_verified = false is not known to be the one of the venue; see reason. Without a live venue, is_synthetic books around recorded trades are shown.',
  columns: [
    ...tokenColumns('b.token_id'),
    column('best_bid', NULLABLE_AMOUNT, 'b.best_bid', 'USD per share; NULL without bids.'),
    column('best_ask', NULLABLE_AMOUNT, 'b.best_ask', 'USD per share; NULL without asks.'),
    column(
      'mid',
      NULLABLE_AMOUNT,
      'b.mid',
      'Middle of best_bid and best_ask, USD per share; NULL unless both exist and the bid is lower.',
    ),
    column('spread', NULLABLE_AMOUNT, 'b.best_ask - b.best_bid', 'USD per share; NULL unless both sides have levels.'),
    column('bids', LEVELS, levels('bid'), 'Price and shares per level, highest price first.'),
    column('asks', LEVELS, levels('ask'), 'Price and shares per level, lowest price first.'),
    column(
      'tick_size',
      NULLABLE_AMOUNT,
      'toDecimal128OrNull(b.tick_size, 6)',
      'Smallest step of a price, USD; NULL if the venue sent none.',
    ),
    column(
      'last_trade_price',
      NULLABLE_AMOUNT,
      'toDecimal128OrNull(b.last_trade_price, 6)',
      "Price of the newest trade of the venue's feed, USD per share; NULL before the first.",
    ),
    column(
      'last_trade_shares',
      NULLABLE_AMOUNT,
      'toDecimal128OrNull(b.last_trade_size, 6)',
      'Shares of that trade; NULL before the first.',
    ),
    column(
      'last_trade_side',
      'String',
      'b.last_trade_side',
      "BUY or SELL as the venue's feed has it; '' before the first.",
    ),
    column(
      'last_trade_at',
      NULLABLE_TIME,
      'b.last_trade_at',
      "The venue's time of that trade, UTC; NULL before the first.",
    ),
    column('is_verified', 'Bool', 'b.verified', "Whether the book has the venue's own hash of it."),
    column('verified_since', TIME, 'b.verified_since', 'Since when is_verified has its value, UTC.'),
    column('reason', 'String', 'b.reason', "Why the book is not verified, or why it was sent again; '' for neither."),
    column('venue_hash', 'String', 'b.hash', "The venue's SHA-1 of the whole book; '' if it sent none."),
    column('is_synthetic', 'Bool', 'b.synthetic', 'Made around recorded trades, not of the venue.'),
    column('changed_at', TIME, 'b.updated_at', "The venue's time of the newest change, UTC."),
    column('received_at', TIME, 'b.received_at', 'When this service received the newest record of the token, UTC.'),
  ],
  // As REST: rows are deleted some hours after their day.
  from: `(SELECT * FROM order_books FINAL WHERE received_at > now64(3) - INTERVAL 1 DAY) AS b ${tokenNamesJoin('b.token_id')}`,
};

export const priceViews: readonly PublicView[] = [
  candles('1m', 'token_candles_1m', 's.bucket', 'minute'),
  candles('5m', 'token_candles_1m', 'toStartOfFiveMinutes(s.bucket)', '5 minutes'),
  candles('1h', 'token_candles_1h', 's.bucket', 'hour'),
  candles('1d', 'token_candles_1h', "toStartOfDay(s.bucket, 'UTC')", 'day'),
  ticks,
  windows,
  pricesNow,
  orderBooks,
];
