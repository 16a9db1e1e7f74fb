import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { cursorWith } from '../support/page-walk.js';

/** 600,000 fills of 1,000 wallets, 2,000 tokens and 20 builders; 300,000 wallet events and activities; 20,000 markets in 4,000 events; 10,000 combos. */
const FILLS = 600_000;
const EVENTS = 300_000;
const MARKETS = 20_000;
const COMBO_EVENTS = 100_000;
const T = 1_790_000_000;

let api: ApiHarness;
let key: string;
let counting: ClickHouseClient;

const hex = (width: number, number: string) => `concat('0x', leftPad(lower(hex(toUInt64(${number}))), ${width}, '0'))`;
const hashBytes = (number: string) => `unhex(leftPad(hex(toUInt64(${number})), 64, '0'))`;
const id = (width: number, n: number) => `0x${n.toString(16).padStart(width, '0')}`;
const wallet = (n: number) => id(40, 1_000_000 + n);
const condition = (n: number) => id(64, 5_000_000 + n);
const token = (n: number) => String(90_000 + n);

beforeAll(async () => {
  api = await startApi({ nowMs: (T + 10_000_000) * 1000 });
  key = await api.key('enterprise');
  counting = createClient({ url: api.engine.url, database: 'test' });
  const run = (sql: string) => api.clickhouse.command(sql);
  for (let from = 0; from < FILLS; from += 30_000)
    await run(`INSERT INTO fills (block_number, log_index, timestamp, tx_hash, exchange_version, order_hash, maker, taker, is_taker_order, side,
      token_id, usdc, shares, fee, builder, _offset)
    SELECT 1000 + intDiv(number, 10), number % 10, toDateTime(${T} + intDiv(number, 2), 'UTC'), ${hashBytes('intDiv(number, 3)')},
      if(number % 500 = 0, 3, if(number < 100000, 1, 2)), ${hashBytes('7000000 + intDiv(number, 4)')},
      ${hex(40, '1000000 + cityHash64(number) % 1000')}, ${hex(40, '1000000 + cityHash64(number + 1) % 1000')}, number % 5 = 0,
      if(number % 3 = 0, 'SELL', 'BUY'), toUInt256(90000 + cityHash64(number, 7) % 2000), 1000 + number % 100000, 2000 + number % 200000, number % 7,
      if(number % 10 = 0, ${hex(64, '3000000 + number % 20')}, ''), number
    FROM numbers(${from}, 30000)`);
  await run(`INSERT INTO wallet_events (wallet, kind, block_number, log_index, timestamp, tx_hash, subject_id, amount, index_sets, _offset)
    SELECT ${hex(40, '1000000 + cityHash64(number) % 1000')}, number % 4, 1000 + number, number % 3, toDateTime(${T} + number, 'UTC'), ${hex(64, 'number')},
      ${hex(64, '5000000 + number % 20000')}, number, ['1', '2'], number FROM numbers(${EVENTS})`);
  // At the times of the combo events below.
  await run(`INSERT INTO wallet_activity (wallet, timestamp, block_number, log_index, id, action, tokens, usdc, _offset)
    SELECT ${hex(40, 'number % 1000')}, toDateTime(${T} + number * 60, 'UTC'), intDiv(number, 10), number % 10, concat(${hex(64, 'number')}, '-0'),
      if(number % 50 = 0, 'REDEEM', 'BUY'), [toUInt256(number)], number, number FROM numbers(${EVENTS})`);
  await run(`INSERT INTO markets (condition_id, id, slug, question, event_id, event_slug, event_title, outcomes, token_ids, outcome_prices, active,
      neg_risk_market_id, volume, tag_slugs, _offset)
    SELECT ${hex(64, '5000000 + number')}, toString(number), concat('market-', toString(number)), concat('Question ', toString(number)),
      toString(intDiv(number, 5)), concat('event-', toString(intDiv(number, 5))), concat('Event ', toString(intDiv(number, 5))), ['Yes', 'No'],
      [toUInt256(90000 + number * 2), toUInt256(90001 + number * 2)], ['0.5', '0.5'], true, ${hex(64, '256 * intDiv(number, 5)')}, number,
      [concat('tag-', toString(number % 1000))], number FROM numbers(${MARKETS})`);
  await run(`INSERT INTO tokens (token_id, condition_id, outcome_index, outcome, market_slug, event_id, event_slug, _offset)
    SELECT toUInt256(90000 + number), ${hex(64, '5000000 + intDiv(number, 2)')}, number % 2, if(number % 2 = 0, 'Yes', 'No'),
      concat('market-', toString(intDiv(number, 2))), toString(intDiv(number, 10)), concat('event-', toString(intDiv(number, 10))), intDiv(number, 2)
    FROM numbers(${MARKETS * 2})`);
  await run(`INSERT INTO events (id, slug, title, active, neg_risk, neg_risk_market_id, volume, market_condition_ids, _offset)
    SELECT toString(number), concat('event-', toString(number)), concat('Event ', toString(number)), true, true, ${hex(64, '256 * number')}, number,
      arrayMap(i -> ${hex(64, '5000000 + number * 5 + i')}, range(5)), number FROM numbers(${MARKETS / 5})`);
  for (const table of ['resolutions', 'conditions'])
    await run(`INSERT INTO ${table} (condition_id, block_number, log_index, timestamp${table === 'resolutions' ? ', payout_numerators' : ''}, _offset)
      SELECT ${hex(64, '5000000 + number')}, 5000 + number, 0, toDateTime(${T} + number, 'UTC')${table === 'resolutions' ? ', [1, 0]' : ''}, number FROM numbers(${MARKETS})`);
  await run(`INSERT INTO collateral_flows (wallet, block_number, log_index, timestamp, direction, amount, _offset)
    SELECT ${hex(40, '1000000 + cityHash64(number) % 1000')}, number, 0, toDateTime(${T}, 'UTC'), number % 2, number, number FROM numbers(${EVENTS})`);
  // 300 positions per wallet and as many events; a price of every token.
  await run(`INSERT INTO positions (wallet, token_id, size, avg_price, cost, realized_pnl, total_bought, bought_usdc, sold_usdc, fills, first_at, last_at, version, _offset)
    SELECT ${hex(40, '1000000 + number % 1000')}, toUInt256(90000 + cityHash64(intDiv(number, 1000), number % 1000) % 40000), if(number % 3 = 0, 0, 1000 + number),
      0.5, 500, toInt64(number % 7) - 3, 1000, 1000, 500, 2, toDateTime(${T}, 'UTC'), toDateTime(${T} + number, 'UTC'), 1, number FROM numbers(${EVENTS})`);
  await run(`INSERT INTO pnl_events (wallet, token_id, id, leg, block_number, log_index, timestamp, action, realized_pnl, size_after, _offset)
    SELECT ${hex(40, '1000000 + number % 1000')}, toUInt256(90000 + cityHash64(intDiv(number, 1000), number % 1000) % 40000), toString(number), 0, number, 0,
      toDateTime(${T} + intDiv(number, 1000) * 86400, 'UTC'), 'SELL', toInt64(number % 7) - 3, 1000, number FROM numbers(${EVENTS})`);
  await run(`INSERT INTO token_quotes (token_id, price, updated_at, _offset)
    SELECT toUInt256(90000 + number), 0.5, toDateTime64(${T}, 3, 'UTC'), number FROM numbers(${MARKETS * 2})`);
  await run(`INSERT INTO token_settlements (token_id, condition_id, outcome_index, timestamp, _offset)
    SELECT 90000 + number, ${hex(64, '5000000 + intDiv(number, 2)')}, number % 2, ${T}, number FROM numbers(${MARKETS * 2})`);
  await run(`INSERT INTO chain_tokens (token_id, other_token_id, condition_id, outcome_index, _offset)
    SELECT 90000 + number, 90000 + bitXor(number, 1), ${hex(64, '5000000 + intDiv(number, 2)')}, number % 2, number FROM numbers(${MARKETS * 2})`);
  await run(`INSERT INTO leaderboards (board, taken_at, rank, wallet)
    SELECT if(number < 50000, 'total', 'volume'), now64(3) - intDiv(number, 10000), number % 10000 + 1, ${hex(40, 'number')} FROM numbers(100000)`);
  // 100,000 events of 10,000 combos, ten per block.
  const combo = `bitShiftLeft(toUInt256(3), 248) + bitShiftLeft(toUInt256(cityHash64(number) % 10000), 120) + number % 2`;
  await run(`INSERT INTO combo_events (wallet, token_id, id, leg, block_number, log_index, timestamp, action, _offset)
    SELECT ${hex(40, 'number % 1000')}, ${combo}, concat(${hex(64, 'number')}, '-0'), 0, intDiv(number, 10), number % 10, toDateTime(${T} + number * 60, 'UTC'),
      if(number % 50 = 0, 'REDEEM', 'BUY'), number FROM numbers(${COMBO_EVENTS})`);
  await run(`INSERT INTO combo_markets (condition_id, events, first_at, last_at)
    SELECT concat('0x', lower(hex(bitShiftRight(${combo}, 8)))), 1, ${T}, ${T} + number FROM numbers(${COMBO_EVENTS}) GROUP BY ALL`);
  await run(`INSERT INTO largest_positions (taken_at, rank, status, wallet, token_id, size)
    SELECT now64(3) - intDiv(number, 30000), number % 30000 + 1, intDiv(number % 30000, 10000), ${hex(40, 'number')}, 90000 + number % 40000,
      30000 - number % 30000 FROM numbers(120000)`);
  // One part per partition, like a server after its merges.
  for (const table of [
    'fills',
    'fills_by_wallet',
    'fills_by_token',
    'fills_by_builder',
    'wallet_events',
    'wallet_activity',
    'tokens',
    'markets',
    'positions',
    'positions_by_token',
    'pnl_events',
    'wallet_days',
    'combo_events',
    'combo_markets',
    'token_quotes',
    'chain_tokens',
    'token_settlements',
    'resolutions',
    'last_prices',
  ])
    await run(`OPTIMIZE TABLE ${table} FINAL`);
  // The watermarks are read once.
  await api.ok(`/v3/tokens/${token(5)}`, key);
}, 300_000);
afterAll(async () => {
  await counting.close();
  await api.stop();
});

/** Rows that the engine has read from tables so far. The summary of a response of the embedded engine counts result rows instead. */
async function selectedRows(): Promise<number> {
  const reply = await counting.query({
    query: `SELECT value FROM system.events WHERE event = 'SelectedRows'`,
    format: 'JSONEachRow',
  });
  const [row] = await reply.json<{ value: string }>();
  return Number(row?.value ?? 0);
}

/** Rows read from tables for a request. */
async function rowsRead(path: string): Promise<number> {
  // No response may come from a cache.
  api.clock.nowMs += 3_700_000;
  const before = await selectedRows();
  const ownRows = (await selectedRows()) - before;
  api.statements.length = 0;
  const startRows = await selectedRows();
  await api.ok(path, key);
  const rows = (await selectedRows()) - startRows - ownRows;
  expect(api.statements.length, path).toBeGreaterThan(0);
  return rows;
}

const GRANULE = 8_192;
/** First and last granule of a key range, and one further granule of a page. */
const RANGE = 3 * GRANULE;
/** Titles of a page of 100 rows: a granule of 256 of tokens and of markets each, twice if conditions are looked up too. */
const TITLES = 100 * 256 * 2;
/** Tokens of 100 conditions that the chain names. */
const CHAIN_TOKENS = 100 * 256;
/** Prices of a wallet's 300 positions: a granule of 256 each, and the newest fills of all tokens. */
const PRICE_ROWS = 300 * 256 + 2_000;
/** Metadata of 300 positions, spread over all 40,000 tokens, each small table once per statement: tokens, quotes, settlements, conditions. */
const METADATA_ROWS = 8.5 * 2 * MARKETS;
/** Candles of both outcomes of 300 positions: a granule of 1024 each. */
const CANDLE_ROWS = 100 * 1_024;
const W = wallet(7);
const C = condition(3);
const COMBO = ((3n << 248n) + (17n << 120n)).toString();

it('readRows counts the rows that a statement reads', async () => {
  const before = await selectedRows();
  await (await counting.query({ query: 'SELECT max(usdc) FROM fills', format: 'JSONEachRow' })).text();
  expect((await selectedRows()) - before).toBeGreaterThanOrEqual(FILLS);
});

it.each<[string, number]>([
  ['/v3/trades', RANGE + TITLES],
  [`/v3/trades?after=${T + 200_000}&before=${T + 200_010}`, 2 * RANGE + TITLES],
  [`/v3/trades?order_hash=${id(64, 7_000_000 + 100_000)}`, 2 * RANGE + TITLES],
  [`/v3/trades?token_id=${token(5)}`, RANGE + TITLES],
  ['/v3/trades?event_slug=event-3', 10 * RANGE + TITLES],
  [`/v3/trades?builder=${id(64, 3_000_010)}`, RANGE + TITLES],
  [`/v3/wallets/${W}/trades`, RANGE + TITLES],
  [`/v3/wallets/${W}/trades?group_by=user_trade`, 2 * RANGE + TITLES],
  [`/v3/wallets/${W}/trades?include_combos=true`, 2 * RANGE + TITLES],
  [`/v3/wallets/${W}/combos/trades`, RANGE],
  [`/v3/markets/${token(5)}/trades`, RANGE + TITLES],
  [`/v3/markets/${token(5)}/trades?group_by=order_hash`, 2 * RANGE + TITLES],
  ['/v3/markets/slug/market-3/trades', 3 * RANGE + TITLES],
  [`/v3/builders/${id(64, 3_000_010)}/trades`, RANGE + TITLES],
  [`/v3/wallets/${W}/splits`, RANGE],
  [`/v3/wallets/${W}/merges`, RANGE],
  [`/v3/wallets/${W}/nrc`, RANGE + TITLES],
  [`/v3/wallets/${W}/activity`, 4 * RANGE],
  [`/v3/wallets/${W}/redemptions`, RANGE + TITLES + CHAIN_TOKENS],
  [`/v3/wallets/${W}/fees-paid`, RANGE + TITLES],
  [`/v3/wallets/${W}/polyusd-flows`, 2 * RANGE],
  [`/v3/markets/condition/${C}`, RANGE],
  ['/v3/markets/slug/market-3', RANGE],
  [`/v3/markets/${token(5)}`, RANGE],
  [`/v3/markets/${token(5)}/price`, RANGE],
  [`/v3/markets/${token(5)}/candles`, 2 * RANGE],
  ['/v3/markets/slug/market-3/candles?resolution=1m', 3 * RANGE],
  [`/v3/tokens/${token(5)}`, RANGE],
  [`/v3/conditions/${C}`, 2 * RANGE],
  ['/v3/resolutions', RANGE + 2 * TITLES],
  [`/v3/wallets/${W}`, RANGE + PRICE_ROWS],
  [`/v3/wallets/${W}/combos/positions`, RANGE],
  [`/v3/wallets/${W}/combos/summary`, RANGE + PRICE_ROWS],
  [`/v3/wallets/${W}/combos/activity`, RANGE],
  [`/v3/wallets/${W}/combos/redemptions`, RANGE],
  ['/v3/positions?market_slug=market-3', 4 * RANGE],
  ['/v3/leaderboard?offset=9000', 2 * RANGE],
  ['/v3/leaderboard?market_slug=market-3&limit=10', 2 * RANGE + 20 * 1_024 + PRICE_ROWS],
  ['/v3/tags/tag-3/leaderboard?limit=10', MARKETS + 3 * RANGE + 20 * 1_024 + PRICE_ROWS],
  ['/v3/stats', RANGE],
  // No trade in the last 24 hours.
  ['/v3/markets/trending', RANGE],
  ['/v3/leaderboard/day', RANGE],
  ['/v3/combos/activity', RANGE],
  [`/v3/combos/activity?cursor=${cursorWith('/v3/combos/activity', '', 5000, 0, 0, 'x')}`, RANGE],
  [`/v3/combos/activity?after=${T + 3_000_000}&before=${T + 3_086_400}`, RANGE],
  // About ten events, in as many granules.
  [`/v3/combos/activity?position_id=${COMBO}`, RANGE],
  // One of fifty.
  ['/v3/combos/redemptions', 2 * RANGE],
  [`/v3/combos/redemptions?tx_hash=${id(64, 5_000)}`, RANGE],
  [`/v3/markets/condition/${C}/positions`, 4 * RANGE],
  ['/v3/markets/slug/market-3/positions', 4 * RANGE],
  [`/v3/markets/${token(5)}/positions`, 3 * RANGE],
  [`/v3/wallets/${W}?include_accounting_summary=true`, 2 * RANGE + PRICE_ROWS],
  [`/v3/wallets/${W}/pnl?market_slug=market-3`, 2 * RANGE],
  [`/v3/wallets/${W}/pnl?period=30d&include_unrealized=true`, 2 * RANGE + PRICE_ROWS],
  [`/v3/wallets/${W}/pnl/events`, RANGE + PRICE_ROWS],
  [`/v3/wallets/${W}/pnl/events?after=1`, 2 * RANGE],
  [`/v3/wallets/${W}/pnl/events?after=1&group=hour`, 2 * RANGE],
  [`/v2/onchain/wallets/${W}/trades`, RANGE + TITLES],
  [`/v2/onchain/wallets/${W}/redemptions`, RANGE + TITLES + CHAIN_TOKENS],
  [`/v2/onchain/wallets/${W}/activity`, 3 * RANGE + TITLES],
  [`/v2/onchain/markets/${token(5)}/trades`, RANGE + TITLES],
  [`/v2/onchain/markets/${token(5)}/volume`, RANGE],
  [`/v2/onchain/trades?wallet=${W}`, RANGE + TITLES],
  ['/clobv2/trades', RANGE + TITLES],
  [`/clobv2/trades?condition_id=${C}`, 3 * RANGE + TITLES],
  [`/clobv2/wallets/${W}/trades`, RANGE + TITLES],
  [`/clobv2/markets/${token(5)}/trades`, RANGE + TITLES],
  [`/clobv2/markets/${token(5)}/volume`, RANGE],
  [`/clobv2/markets/${token(5)}/orderbook`, RANGE],
  [`/clobv2/candles/${token(5)}`, 2 * RANGE + TITLES],
  ['/clobv2/volume/hourly', RANGE],
  ['/clobv2/builders', RANGE],
  ['/clobv2/positions?offset=9000', 2 * RANGE + TITLES],
  // At most the snapshot: 10,000 positions of each status.
  ['/clobv2/positions?status=closed&min_size=1&offset=9000', 2 * RANGE + TITLES],
  [`/clobv2/neg-risk/events/${id(64, 256 * 3)}/children`, RANGE],
  [`/v1/wallets/${W}/trades`, RANGE + TITLES],
  [`/v1/wallets/trades?wallets=${W},${wallet(8)}`, 2 * (RANGE + TITLES)],
  ['/v1/markets/market-3/trades', 3 * RANGE + TITLES],
  [`/v1/markets/${C}/trades?user=${W},${wallet(9)}`, 3 * RANGE + TITLES],
  [`/v1/resolve/${W}`, 2 * 6 * RANGE],
  [`/v1/wallets/${W}/summary`, 9 * RANGE + PRICE_ROWS],
  ['/v2/onchain/positions', RANGE + (7 * TITLES) / 2],
  [`/v2/onchain/positions?order=asc&pagination_key=${W}-5`, RANGE + (7 * TITLES) / 2],
  [`/v2/onchain/positions?token_id=${token(5)}`, RANGE],
  [`/v2/onchain/positions?condition_id=${C}`, RANGE],
  [`/v2/onchain/markets/${C}/oi`, RANGE],
  [`/v2/onchain/candles/${token(5)}`, 2 * RANGE],
  [`/v2/onchain/candles?token_id=${token(5)}&resolution=1m`, 2 * RANGE],
  [`/v2/onchain/wallets/${W}/trades/all`, 2 * RANGE],
  [`/v2/onchain/markets/${token(5)}/trades/all`, RANGE],
  ['/v1/markets/market-3/positions', 2 * RANGE],
  // The events of each of 15 holders.
  ['/v1/markets/market-3/positions?includeTrades=true', 2 * RANGE + 15 * GRANULE],
])('%s reads its key range only', async (path, most) => {
  const rows = await rowsRead(path);
  expect(rows).toBeLessThanOrEqual(most);
  expect(rows).toBeLessThan(FILLS / 2);
});

it('change feed reads changed rows only', async () => {
  const path = `/v1/markets/${C}/trades`;
  await api.ok(path, key);
  api.clock.nowMs += 6_000;
  api.statements.length = 0;
  await api.ok(path, key);
  const [requested] = api.statements.filter(({ params }) => 'token_settlements' in params);
  const before = await selectedRows();
  const ownRows = (await selectedRows()) - before;
  const startRows = await selectedRows();
  const reply = await counting.query({
    query: requested?.text ?? '',
    query_params: { ...requested?.params },
    format: 'JSONEachRow',
  });
  expect(await reply.json()).toEqual([]);
  expect((await selectedRows()) - startRows - ownRows).toBe(0);
});

// A wallet's positions are spread over the catalogue; positions and events of other wallets are not read.
it.each<[string, number]>([
  [`/v3/wallets/${W}/positions`, RANGE + METADATA_ROWS + 3.5 * TITLES],
  [`/v1/wallets/${W}/positions`, RANGE + METADATA_ROWS],
  [`/v1/trader/${W}/pnl?period=1W`, 2 * RANGE + METADATA_ROWS / 2 + CANDLE_ROWS],
  [`/v2/trader/${W}/equity`, RANGE + METADATA_ROWS],
  [`/v2/wallets/${W}/positions/onchain`, RANGE + METADATA_ROWS],
  [`/v2/wallets/${W}/closed-positions`, RANGE + METADATA_ROWS],
])('%s reads its positions and their metadata only', async (path, most) => {
  expect(await rowsRead(path)).toBeLessThanOrEqual(most);
});

// Requests over the whole catalogue read it at most once per 30 s, for all callers.
it.each<[string, number]>([
  ['/v3/markets/search?q=question%203', 2 * MARKETS + TITLES],
  ['/v3/tags', 2 * MARKETS],
  ['/v3/tags/tag-3', 2 * MARKETS + TITLES],
  ['/v2/onchain/tags', 2 * MARKETS],
  ['/v3/builders', RANGE],
  // 10,000 combos, and metadata of those of a page.
  ['/v3/combos/markets', 10_000 + 100 * 1_024],
  ['/v3/combos/markets?sort=volume', 2 * 10_000 + 100 * 1_024],
  ['/clobv2/neg-risk/events', 2 * MARKETS],
  ['/v1/events/search?q=event', 2 * MARKETS],
])('%s reads the catalogue and no fills', async (path, most) => {
  expect(await rowsRead(path)).toBeLessThanOrEqual(most);
});
