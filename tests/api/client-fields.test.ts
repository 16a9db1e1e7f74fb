import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { activityOf, insertAccounts, insertVenueAccounts } from '../support/positions.js';
import { eventRow } from '../support/rows.js';
import { alice, builder, carol, comboYes, insertVenue, snow, snowYes, T } from '../support/venue.js';

/** Fields that clients of the contract read, with their types; independent of the schemas of the routes. */
const types = {
  integer: (value: unknown) => Number.isSafeInteger(value),
  number: (value: unknown) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value: unknown) => typeof value === 'boolean',
  string: (value: unknown) => typeof value === 'string' && value !== '',
  /** Whole number as text, of any length. */
  digits: (value: unknown) => typeof value === 'string' && /^\d+$/.test(value),
  decimal: (value: unknown) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value),
  iso: (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  hash: (value: unknown) => typeof value === 'string' && /^0x[0-9a-f]{62,64}$/.test(value),
  list: (value: unknown) => Array.isArray(value),
  object: (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
  null: (value: unknown) => value === null,
};
type Type = keyof typeof types;
/** `integer?`: may be null; the field must be present. */
type Fields = Readonly<Record<string, Type | `${Type}?`>>;

const fits = (value: unknown, type: Type | `${Type}?`): boolean =>
  type.endsWith('?')
    ? value === null || types[type.slice(0, -1) as Type](value)
    : value !== undefined && types[type as Type](value);

let api: ApiHarness;
let key: string;
const units = (usd: number) => BigInt(Math.round(usd * 1e6));

beforeAll(async () => {
  api = await startApi({ nowMs: (T + 100) * 1000 });
  key = await api.key('enterprise');
  await insertVenue(api.clickhouse);
  await insertVenueAccounts(api.clickhouse);
  const combo = { wallet: carol, tokens: [comboYes], exchange_version: 3 };
  await insertAccounts(api.clickhouse, [
    activityOf({ ...combo, block_number: 104, action: 'BUY', amounts: [units(80)], usdc: units(10) }),
    activityOf({ ...combo, block_number: 106, action: 'SELL', amounts: [units(30)], usdc: units(6) }),
  ]);
  // Derived id of a recorded event without a numeric id.
  const seriesId = 'r-suns';
  await api.clickhouse.insertRows('events', [
    eventRow({
      id: 'r-sun',
      slug: 'sun',
      title: 'Sun?',
      conditionIds: [snow.conditionId],
      seriesId,
      seriesSlug: 'suns',
    }),
  ]);
  const suns = { slug: 'suns', title: 'Suns', recurrence: 'daily', active: true, closed: false };
  await api.clickhouse.insertRows('series', [{ id: seriesId, ...suns, event_count: null, _offset: 1 }]);
});
afterAll(() => api.stop());

const status: Fields = {
  node_connected: 'boolean',
  uptime_seconds: 'integer',
  stream_length: 'integer',
  events_stream_length: 'integer',
  pending_txs: 'integer',
  ws_subscribers: 'integer',
  firehose_connections: 'integer',
  redis_memory: 'string',
  state: 'object',
  metadata_observability: 'object',
  'metadata_observability.connected': 'boolean',
  'metadata_observability.traded_tokens': 'integer',
  'metadata_observability.described_tokens': 'integer',
  'metadata_observability.ws_settlement_missing_full': 'integer',
  'metadata_observability.ws_settlement_missing_title': 'integer',
  'metadata_observability.ws_status_missing_full': 'integer',
  'metadata_observability.ws_status_missing_title': 'integer',
  'metadata_observability.hydration_queued': 'integer',
  'metadata_observability.hydration_retries': 'integer',
  'metadata_observability.hydration_failures': 'integer',
  'metadata_observability.gamma_hydration_success': 'integer',
  'metadata_observability.gamma_hydration_no_markets': 'integer',
  'metadata_observability.gamma_hydration_unusable': 'integer',
  'metadata_observability.gamma_hydration_request_errors': 'integer',
  'metadata_observability.gamma_hydration_status_errors': 'integer',
  'metadata_observability.gamma_hydration_parse_errors': 'integer',
};

const candle: Fields = {
  'candles.0.time': 'integer',
  'candles.0.open': 'decimal',
  'candles.0.high': 'decimal',
  'candles.0.low': 'decimal',
  'candles.0.close': 'decimal',
  'candles.0.volume_buy': 'decimal',
  'candles.0.volume_sell': 'decimal',
  'candles.0.trades': 'integer',
  'candles.0.vwap': 'decimal',
  pagination: 'object',
  'pagination.limit': 'integer',
  'pagination.has_more': 'boolean',
  'pagination.older_end_ts': 'integer?',
  'pagination.newer_start_ts': 'integer?',
  question: 'string',
  outcome: 'string',
  condition_id: 'hash',
  image: 'string?',
};

const orderbook: Fields = {
  token_id: 'digits',
  source: 'string',
  found: 'boolean',
  total_trades: 'digits',
  buys: 'digits',
  sells: 'digits',
  volume_usdc: 'decimal',
  buy_volume_usdc: 'decimal',
  sell_volume_usdc: 'decimal',
  volume_shares: 'decimal',
  trades_quantity: 'digits',
  buys_quantity: 'digits',
  sells_quantity: 'digits',
  collateral_volume: 'digits',
  scaled_collateral_volume: 'decimal',
  collateral_buy_volume: 'digits',
  scaled_collateral_buy_volume: 'decimal',
  collateral_sell_volume: 'digits',
  scaled_collateral_sell_volume: 'decimal',
  market: 'string',
  slug: 'string',
  outcome: 'string',
  image: 'string?',
  condition_id: 'hash',
};

const builderFields: Fields = {
  builder: 'hash',
  builder_code: 'hash',
  builder_name: 'string?',
  builder_logo: 'string?',
  builder_verified: 'boolean?',
  fill_count: 'integer',
  first_fill: 'digits',
  last_fill: 'digits',
  rank: 'integer',
  source: 'string',
  total_fees: 'digits',
  total_fees_usdc: 'number',
  total_maker_volume: 'digits',
  total_maker_volume_usdc: 'number',
  total_taker_volume: 'digits',
  total_taker_volume_usdc: 'number',
  volume: 'decimal',
  volume_e6: 'digits',
  volume_usdc: 'decimal',
  buy_volume: 'decimal',
  buy_volume_e6: 'digits',
  buy_volume_usdc: 'decimal',
  sell_volume: 'decimal',
  sell_volume_e6: 'digits',
  sell_volume_usdc: 'decimal',
  volume_scope: 'string',
  volume_semantics: 'string',
  external_rank: 'integer?',
  external_volume: 'string?',
  external_active_users: 'integer?',
  stats_refreshed_at: 'iso?',
  stats_checked_at: 'iso?',
  stats_pending: 'boolean',
};

const comboPosition: Fields = {
  position_type: 'string',
  combo_condition_id: 'hash',
  condition_id: 'hash',
  position_id: 'digits',
  combo_position_id: 'digits',
  token_id: 'digits',
  leg_count: 'integer',
  outcome: 'string',
  outcome_label: 'string',
  outcome_index: 'integer',
  opposite_asset: 'digits',
  size: 'decimal',
  avg_price: 'decimal',
  realized_pnl: 'decimal',
  unrealized_pnl: 'decimal',
  total_pnl: 'decimal',
  current_price: 'decimal',
  total_bought: 'decimal',
  initial_value: 'decimal',
  redeemable_payout: 'decimal',
  resolved: 'boolean',
  price_source: 'string?',
  status: 'string',
  market_status: 'string',
  winning_outcome_index: 'integer?',
  won: 'boolean?',
  last_trade_at: 'digits?',
  last_activity_at: 'digits',
};

const position: Fields = {
  token_id: 'digits',
  size: 'number',
  avg_price: 'number',
  realized_pnl: 'number',
  unrealized_pnl: 'number',
  total_pnl: 'number',
  current_price: 'number',
  total_bought: 'number',
  resolved: 'boolean',
  status: 'string',
  market: 'string?',
  slug: 'string?',
  outcome: 'string?',
  outcome_index: 'integer?',
  image: 'string?',
  condition_id: 'hash?',
  neg_risk: 'boolean',
};

const clobPosition: Fields = {
  wallet: 'string',
  token_id: 'digits',
  condition_id: 'hash?',
  size: 'decimal',
  avg_price: 'decimal?',
  total_bought_usdc: 'decimal',
  realized_pnl_usdc: 'decimal',
  status: 'string',
  question: 'string?',
  event_title: 'string?',
  slug: 'string?',
  image: 'string?',
  outcome: 'string?',
};

const onchainCandle: Fields = {
  'candles.0.time': 'integer',
  'candles.0.volume': 'number',
  'candles.0.volume_shares': 'number',
  'candles.0.volume_buy': 'number',
  'candles.0.volume_sell': 'number',
  'candles.0.vwap': 'number?',
  'pagination.older_end_ts': 'integer?',
  'pagination.newer_start_ts': 'integer?',
  question: 'string?',
  condition_id: 'hash?',
};

const comboMarket: Fields = { condition_id: 'hash', position_ids: 'list', outcomes: 'list', volume: 'decimal' };

/** Path, position in its response (of a list: the first element), and the required fields. */
const table: readonly (readonly [path: string, place: string, fields: Fields])[] = [
  ['/v1/status', '', status],
  ['/v1/event/sun', '', { id: 'digits', slug: 'string', 'series.id': 'digits', similarMarkets: 'integer' }],
  ['/v1/events/search?q=sun', 'events.0', { id: 'digits', slug: 'string', markets: 'list' }],
  [`/clobv2/candles/${snowYes}`, '', candle],
  [`/clobv2/markets/${snowYes}/orderbook`, '', orderbook],
  ['/clobv2/markets/4/orderbook', '', { token_id: 'digits', source: 'string', found: 'boolean' }],
  ['/clobv2/positions?status=all', '', { count: 'integer', positions: 'list', 'pagination.has_more': 'boolean' }],
  [`/clobv2/positions?wallet=${alice}&status=all&order=asc`, 'positions.0', clobPosition],
  [`/clobv2/positions?token_id=${snowYes}`, 'positions.0', clobPosition],
  [`/clobv2/positions?condition_id=${snow.conditionId}`, 'positions.0', clobPosition],
  ['/v3/builders', 'builders.0', builderFields],
  [`/v3/builders/${builder}`, '', { ...builderFields, elapsed_ms: 'integer' }],
  [`/v3/wallets/${carol}/combos/positions`, 'positions.0', comboPosition],
  [`/v3/wallets/${carol}/positions?include_combos=true`, 'positions.2', comboPosition],
  [`/v3/wallets/${alice}/positions?status=all`, 'positions.0', position],
  [`/v3/wallets/${alice}/positions?status=redeemed`, 'positions.0', position],
  [`/v3/wallets/${alice}/positions?minSize=1`, 'positions.0', position],
  ['/v3/positions', 'positions.0', { wallet: 'string', ...position }],
  ['/v3/positions?status=redeemed', 'positions.0', { wallet: 'string', ...position }],
  ['/v3/positions?status=redeemable', '', { positions: 'list', has_more: 'boolean' }],
  [`/v2/onchain/candles?token_id=${snowYes}&condition_id=${snow.conditionId}`, '', onchainCandle],
  [`/v2/onchain/candles/${snowYes}?market_slug=${snow.slug}`, '', onchainCandle],
  ['/v3/combos/markets?status=all', 'markets.0', comboMarket],
  [`/v3/combos/activity?wallet=${carol}`, 'activity.0', { wallet: 'string', event_kind: 'string', size: 'decimal' }],
  [`/v3/combos/redemptions?wallet=${carol}`, '', { redemptions: 'list', has_more: 'boolean' }],
  [
    `/v1/markets/${snow.conditionId}/positions?sortBy=TOTAL_VALUE`,
    '',
    { condition_id: 'hash', market_title: 'string' },
  ],
];

const at = (value: unknown, path: string): unknown =>
  path === ''
    ? value
    : path.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], value);

describe('fields that clients of the contract read', () => {
  it.each(table)('are in %s, %s, with the expected types', async (path, position, fields) => {
    const found = at(await api.ok(path, key), position);
    expect([path, found]).toEqual([path, expect.any(Object)]);
    const wrong = Object.entries(fields).filter(([name, type]) => !fits(at(found, name), type));
    expect(wrong.map(([name, type]) => [name, type, at(found, name)])).toEqual([]);
  });

  it('/v1/status reports the counts of the catalog source and of the stream processor', async () => {
    await api.reportSource({
      source: 'catalog',
      metadata: {
        hydration_queued: 120,
        hydration_retries: 2,
        hydration_failures: 3,
        gamma_hydration_success: 31,
        gamma_hydration_no_markets: 5,
        gamma_hydration_unusable: 6,
        gamma_hydration_request_errors: 7,
        gamma_hydration_status_errors: 8,
        gamma_hydration_parse_errors: 9,
      },
    });
    await api.reportStream({
      settlement_missing_full: 14,
      settlement_missing_title: 13,
      status_missing_full: 12,
      status_missing_title: 11,
      updated_at_ms: (T + 100) * 1000,
      epoch: null,
      last_event_ms: (T + 99) * 1000,
      ...{ last_seq: 1, last_block: null, last_chain_event_ms: null, last_tick_ms: null },
    });
    const body = await api.ok<{ stream: unknown; metadata_observability: unknown; sources: { source: string }[] }>(
      '/v1/status',
      key,
    );
    expect(body.metadata_observability).toMatchObject({
      ws_settlement_missing_full: 14,
      ws_settlement_missing_title: 13,
      ws_status_missing_full: 12,
      ws_status_missing_title: 11,
      hydration_queued: 120,
      hydration_retries: 2,
      hydration_failures: 3,
      gamma_hydration_success: 31,
      gamma_hydration_no_markets: 5,
      gamma_hydration_unusable: 6,
      gamma_hydration_request_errors: 7,
      gamma_hydration_status_errors: 8,
      gamma_hydration_parse_errors: 9,
    });
    const last_event_at = new Date((T + 99) * 1000).toISOString().replace('.000Z', 'Z');
    expect(body.stream).toEqual({ last_event_at, stale: null, stale_since: null });
    // The stream processor is not a source.
    expect(body.sources.map(({ source }) => source)).toEqual(['catalog']);
  });

  it('are reported if missing or of another type', () => {
    expect([fits(undefined, 'integer?'), fits(1.5, 'integer'), fits('1', 'number'), fits(1, 'digits')]).toEqual(
      Array.from({ length: 4 }, () => false),
    );
    expect([fits(null, 'hash?'), fits('12', 'digits'), fits('-0.5', 'decimal')]).toEqual([true, true, true]);
  });
});
