import type { CatalogEvent, CatalogMarket, CatalogSeries, CatalogTag } from '../../schemas/types.gen.js';
import {
  booleanOf,
  FieldError,
  isObject,
  type JsonObject,
  optionalHash,
  optionalNumber,
  optionalText,
  optionalTime,
  remainingFields,
  requiredText,
  textList,
} from './fields.js';
import type { CatalogRow } from './source.js';
import { parseUpDownSlug } from './up-down.js';

/** A row, or a part of a row, that could not be decoded. */
export interface InvalidRow {
  readonly reason: string;
  readonly raw: unknown;
}

/** Rows of one event object: its tags, its series, the event and its markets, in this order. */
export interface DecodedEvent {
  readonly rows: readonly CatalogRow[];
  readonly invalid: readonly InvalidRow[];
  /** Number of markets without a condition id: they are not deployed yet and cannot be traded. */
  readonly withoutCondition: number;
}

const eventFields = new Set([
  ...['id', 'slug', 'title', 'description', 'image', 'icon', 'active', 'closed', 'archived', 'negRisk'],
  ...['negRiskMarketID', 'volume', 'volume24hr', 'liquidity', 'openInterest', 'startDate', 'endDate'],
  ...['creationDate', 'createdAt', 'series', 'seriesSlug', 'tags', 'markets'],
]);
const marketFields = new Set([
  ...['id', 'conditionId', 'questionID', 'slug', 'question', 'description', 'image', 'icon', 'outcomes'],
  ...['clobTokenIds', 'outcomePrices', 'active', 'closed', 'archived', 'negRisk', 'negRiskMarketID'],
  ...['negRiskRequestID', 'groupItemTitle', 'orderPriceMinTickSize', 'orderMinSize', 'takerBaseFee', 'volume'],
  ...['volumeNum', 'volume24hr', 'liquidity', 'liquidityNum', 'bestBid', 'bestAsk', 'lastTradePrice'],
  ...['startDate', 'endDate', 'eventStartTime', 'createdAt', 'closedTime', 'resolutionSource', 'tags', 'events'],
]);

/** Maximum length of a list of an event; the largest events have some hundreds of markets. */
const MAX_PARTS = 10_000;

/** Fields of the event that its markets repeat. */
type EventContext = Pick<CatalogEvent, 'id' | 'slug' | 'title' | 'tag_slugs'>;

/**
 * Decodes one event object of the catalog service with its nested objects. Unknown members go to `raw`. An invalid market, tag or series is
 * reported and the rest is decoded; an invalid event drops its markets too. Never throws.
 */
export function decodeEvent(input: unknown): DecodedEvent {
  const invalid: InvalidRow[] = [];
  const attempt = <T>(raw: unknown, what: string, read: (row: JsonObject) => T): T | null => {
    try {
      if (!isObject(raw)) throw new FieldError('not an object');
      return read(raw);
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      invalid.push({ reason: `${what}: ${error.message}`, raw });
      return null;
    }
  };
  const listOf = (value: unknown, what: string): readonly unknown[] => {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value) && value.length <= MAX_PARTS) return value;
    if (Array.isArray(value)) invalid.push({ reason: `${what} has more than ${MAX_PARTS} entries`, raw: input });
    else invalid.push({ reason: `${what} is not a list`, raw: value });
    return [];
  };

  const whole = attempt(input, 'event', (row) => row);
  if (whole === null) return { rows: [], invalid, withoutCondition: 0 };
  const tags = listOf(whole.tags, 'event tags').flatMap((raw) => attempt(raw, 'tag', decodeTag) ?? []);
  const series = listOf(whole.series, 'event series').flatMap((raw) => attempt(raw, 'series', decodeSeries) ?? []);
  const context = attempt(whole, 'event', (row) => ({
    id: requiredText(row, 'id'),
    slug: requiredText(row, 'slug'),
    title: optionalText(row.title) ?? '',
    tag_slugs: tags.map((tag) => tag.slug),
  }));
  if (context === null) return { rows: [], invalid, withoutCondition: 0 };

  let withoutCondition = 0;
  const markets: CatalogMarket[] = [];
  for (const raw of listOf(whole.markets, 'event markets')) {
    const market = attempt(raw, `market of event ${context.id}`, (row) => {
      if (optionalText(row.conditionId) === null) {
        withoutCondition++;
        return null;
      }
      return decodeMarket(row, context);
    });
    if (market !== null) markets.push(market);
  }
  const event = attempt(whole, 'event', (row) => decodeEventRow(row, context, series[0] ?? null, markets));
  const rows: CatalogRow[] = [
    ...tags.map((value) => ({ kind: 'catalog_tag', value }) as const),
    ...series.map((value) => ({ kind: 'catalog_series', value }) as const),
    ...(event === null ? [] : [{ kind: 'catalog_event', value: event } as const]),
    ...markets.map((value) => ({ kind: 'catalog_market', value }) as const),
  ];
  return { rows, invalid, withoutCondition };
}

function decodeEventRow(
  row: JsonObject,
  context: EventContext,
  series: CatalogSeries | null,
  markets: readonly CatalogMarket[],
): CatalogEvent {
  return {
    ...context,
    description: optionalText(row.description) ?? '',
    image: optionalText(row.image),
    icon: optionalText(row.icon),
    active: booleanOf(row.active),
    closed: booleanOf(row.closed),
    archived: booleanOf(row.archived),
    neg_risk: booleanOf(row.negRisk),
    neg_risk_market_id: optionalHash(row, 'negRiskMarketID'),
    volume: optionalNumber(row.volume) ?? 0,
    volume_24h: optionalNumber(row.volume24hr) ?? 0,
    liquidity: optionalNumber(row.liquidity) ?? 0,
    open_interest: optionalNumber(row.openInterest) ?? 0,
    start_ms: optionalTime(row.startDate),
    end_ms: optionalTime(row.endDate),
    created_ms: optionalTime(row.creationDate) ?? optionalTime(row.createdAt),
    series_id: series?.id ?? null,
    series_slug: optionalText(row.seriesSlug) ?? series?.slug ?? null,
    market_condition_ids: markets.map((market) => market.condition_id),
    raw: remainingFields(row, eventFields),
  };
}

/** Decodes a market object; `event` is null when the object has no event. Throws FieldError. */
export function decodeMarket(row: JsonObject, event: EventContext | null): CatalogMarket {
  const conditionId = optionalHash(row, 'conditionId');
  if (conditionId === null) throw new FieldError('conditionId is missing');
  const slug = requiredText(row, 'slug');
  const outcomes = textList(row, 'outcomes');
  const tokenIds = textList(row, 'clobTokenIds');
  const outcomePrices = textList(row, 'outcomePrices');
  if (!tokenIds.every(isTokenId)) throw new FieldError('clobTokenIds contains values that are not token ids');
  if (!outcomePrices.every(isPrice)) {
    throw new FieldError('outcomePrices contains values that are not prices');
  }
  if (tokenIds.length > 0 && tokenIds.length !== outcomes.length) {
    throw new FieldError('clobTokenIds and outcomes differ in length');
  }
  if (outcomePrices.length > 0 && outcomePrices.length !== outcomes.length) {
    throw new FieldError('outcomePrices and outcomes differ in length');
  }
  const shortForm = parseUpDownSlug(slug);
  const config = isObject(row.cryptoMarketConfig) ? row.cryptoMarketConfig : {};
  const schedule = isObject(row.feeSchedule) ? row.feeSchedule : {};
  const windowStartMs = shortForm?.windowStartS === null ? null : (shortForm?.windowStartS ?? 0) * 1000 || null;
  const ownTags = Array.isArray(row.tags)
    ? row.tags.filter(isObject).flatMap((tag) => optionalText(tag.slug) ?? [])
    : [];
  const lookback = optionalNumber(config.twapLookbackSeconds);
  return {
    id: requiredText(row, 'id'),
    condition_id: conditionId,
    question_id: optionalHash(row, 'questionID'),
    slug,
    question: optionalText(row.question) ?? '',
    description: optionalText(row.description) ?? '',
    image: optionalText(row.image),
    icon: optionalText(row.icon),
    event_id: event?.id ?? null,
    event_slug: event?.slug ?? null,
    event_title: event?.title ?? null,
    outcomes,
    token_ids: tokenIds,
    outcome_prices: outcomePrices,
    active: booleanOf(row.active),
    closed: booleanOf(row.closed),
    archived: booleanOf(row.archived),
    neg_risk: booleanOf(row.negRisk),
    neg_risk_market_id: optionalHash(row, 'negRiskMarketID'),
    neg_risk_request_id: optionalHash(row, 'negRiskRequestID'),
    group_item_title: optionalText(row.groupItemTitle),
    tick_size: optionalNumber(row.orderPriceMinTickSize),
    min_order_size: optionalNumber(row.orderMinSize),
    taker_base_fee: optionalNumber(row.takerBaseFee),
    fee_rate: optionalNumber(schedule.rate),
    volume: optionalNumber(row.volumeNum) ?? optionalNumber(row.volume) ?? 0,
    volume_24h: optionalNumber(row.volume24hr) ?? 0,
    liquidity: optionalNumber(row.liquidityNum) ?? optionalNumber(row.liquidity) ?? 0,
    best_bid: optionalNumber(row.bestBid),
    best_ask: optionalNumber(row.bestAsk),
    last_trade_price: optionalNumber(row.lastTradePrice),
    start_ms: optionalTime(row.startDate),
    end_ms: optionalTime(row.endDate),
    event_start_ms: optionalTime(row.eventStartTime) ?? windowStartMs,
    created_ms: optionalTime(row.createdAt),
    closed_ms: optionalTime(row.closedTime),
    resolution_source: optionalText(row.resolutionSource),
    crypto_asset: optionalText(config.asset)?.toLowerCase() ?? shortForm?.coin ?? null,
    crypto_duration: optionalText(config.duration) ?? shortForm?.duration ?? null,
    twap_enabled: booleanOf(config.twapEnabled),
    twap_lookback_s:
      lookback !== null && Number.isInteger(lookback) && lookback >= 0 && lookback < 2 ** 16 ? lookback : null,
    tag_slugs: [...new Set([...(event?.tag_slugs ?? []), ...ownTags])],
    raw: remainingFields(row, marketFields),
  };
}

/** Decodes a series object; its id may be a number. Throws FieldError. */
export function decodeSeries(row: JsonObject): CatalogSeries {
  const count = optionalNumber(row.eventCount);
  return {
    id: requiredText(row, 'id'),
    slug: requiredText(row, 'slug'),
    title: optionalText(row.title) ?? '',
    recurrence: optionalText(row.recurrence) ?? '',
    active: booleanOf(row.active),
    closed: booleanOf(row.closed),
    event_count: count !== null && Number.isInteger(count) && count >= 0 && count < 2 ** 31 ? count : null,
  };
}

/** Decodes a tag object. Throws FieldError. */
export function decodeTag(row: JsonObject): CatalogTag {
  return {
    id: requiredText(row, 'id'),
    slug: requiredText(row, 'slug'),
    label: optionalText(row.label) ?? '',
  };
}

const TOKEN_IDS = 2n ** 256n;
/** A double has at most 17 significant digits; the limit leaves a margin. */
const MOST_PRICE_TEXT = 64;

function isTokenId(text: string): boolean {
  return /^\d{1,78}$/.test(text) && BigInt(text) < TOKEN_IDS;
}

/** From 0 to 1, as the venue writes it. */
function isPrice(text: string): boolean {
  return text.length <= MOST_PRICE_TEXT && /^\d+(\.\d+)?(e-\d+)?$/i.test(text) && Number(text) <= 1;
}
