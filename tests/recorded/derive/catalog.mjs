// Markets of every source, one record per slug, with recorded ids or ids derived by rule.
import path from 'node:path';
import {
  CRYPTO_ORACLE,
  conditionId,
  NEG_RISK_ADAPTER,
  questionIdOfSlug,
  tokenIds,
  USDC_E,
  WRAPPED_COLLATERAL,
} from './ids.mjs';
import { readCsv, readJson, readJsonLines } from './read.mjs';

const DURATIONS = { '5m': 300, '15m': 900, '4h': 14_400 };
const COINS = {
  bitcoin: 'btc',
  ethereum: 'eth',
  solana: 'sol',
  xrp: 'xrp',
  bnb: 'bnb',
  dogecoin: 'doge',
  hyperliquid: 'hype',
};
const MONTHS = 'january february march april may june july august september october november december'.split(' ');
/** US Eastern daylight time: every hourly slug of the sources lies between 2026-03-08 and 2026-11-01. */
const EDT_OFFSET_S = 4 * 3600;

const assert = (condition, text) => {
  if (!condition) throw new Error(`recorded input does not hold what the rules assume: ${text}`);
};

/** Coin and window of a short-form slug; null for other markets. */
function windowOfSlug(slug) {
  const grid = /^([a-z]+)-updown-(5m|15m|4h)-(\d+)$/.exec(slug);
  if (grid !== null) {
    const startS = Number(grid[3]);
    return { coin: grid[1], duration: grid[2], startS, endS: startS + DURATIONS[grid[2]] };
  }
  const hourly = /^([a-z]+)-up-or-down-([a-z]+)-(\d+)(?:-(2026))?-(\d+)(am|pm)-et$/.exec(slug);
  if (hourly === null || COINS[hourly[1]] === undefined) return null;
  const hour = (Number(hourly[5]) % 12) + (hourly[6] === 'pm' ? 12 : 0);
  const startS = Date.UTC(2026, MONTHS.indexOf(hourly[2]), Number(hourly[3]), hour) / 1000 + EDT_OFFSET_S;
  return { coin: COINS[hourly[1]], duration: '1h', startS, endS: startS + 3600 };
}

function blank(slug, title) {
  const window = windowOfSlug(slug);
  return {
    slug,
    title,
    conditionId: null,
    questionId: null,
    tokenIds: null,
    idsFrom: null,
    negRisk: false,
    outcomes: ['Up', 'Down'],
    coin: window?.coin ?? null,
    duration: window?.duration ?? null,
    startS: window?.startS ?? null,
    endS: window?.endS ?? null,
    createdS: window === null ? null : window.startS - 86_400,
    resolvedS: null,
    outcome: null,
    outcomeFrom: null,
    lastPrice: null,
    eventSlug: slug,
    eventId: null,
    icon: null,
  };
}

function fromTextTime(text) {
  return Date.parse(text.replace(' ', 'T').replace(/\+00$/, 'Z')) / 1000;
}

function dayMarkets(source) {
  const lines = readJsonLines(path.join(source, 'polymarket-data-samples-btc/BTC-5m-markets-2026-07-24.jsonl.gz'));
  const constants = {};
  for (const [key, value] of Object.entries(lines[0].raw)) {
    const text = JSON.stringify(value);
    if (lines.every((line) => JSON.stringify(line.raw[key]) === text)) constants[key] = value;
  }
  const markets = lines.map((line) => {
    const market = blank(line.slug, line.raw.question);
    assert(market.startS === line.start_sec && market.endS === line.end_sec, `window of ${line.slug}`);
    assert(conditionId(CRYPTO_ORACLE, line.raw.questionID) === line.condition_id, `condition id of ${line.slug}`);
    assert(tokenIds(line.condition_id, USDC_E).join() === line.token_ids.join(), `token ids of ${line.slug}`);
    const raw = Object.fromEntries(Object.entries(line.raw).filter(([key]) => !(key in constants)));
    return {
      ...market,
      conditionId: line.condition_id,
      questionId: line.raw.questionID,
      tokenIds: line.token_ids,
      idsFrom: 'gamma',
      createdS: Math.floor(Date.parse(line.raw.createdAt) / 1000),
      resolvedS: fromTextTime(line.raw.closedTime),
      outcome: line.outcome_prices.indexOf('1'),
      outcomeFrom: 'recorded',
      icon: line.raw.icon,
      strikeE18: line.strike_value,
      raw,
    };
  });
  return { constants, markets };
}

/** Data-api rows: the condition id is real and the tokens are derived from it; they have no question id. */
function addApiMarket(markets, row) {
  const slug = row.slug;
  let market = markets.get(slug);
  if (market === undefined) {
    market = blank(slug, row.title);
    market.conditionId = row.conditionId;
    market.idsFrom = 'data-api';
    market.eventSlug = row.eventSlug;
    market.icon = row.icon || null;
    if (row.outcomes) market.outcomes = row.outcomes;
    markets.set(slug, market);
  }
  assert(market.conditionId === row.conditionId, `one condition per slug: ${slug}`);
  if (row.asset) {
    const plain = tokenIds(row.conditionId, USDC_E);
    const negRisk = plain[row.outcomeIndex] !== row.asset;
    const tokens = negRisk ? tokenIds(row.conditionId, WRAPPED_COLLATERAL) : plain;
    assert(tokens[row.outcomeIndex] === row.asset, `token id of ${slug}`);
    market.tokenIds = tokens;
    market.negRisk = negRisk;
    if (!row.outcomes) market.outcomes[row.outcomeIndex] = row.outcome;
  }
  market.tokenIds ??= tokenIds(row.conditionId, USDC_E);
}

function gammaMarket(raw, extra) {
  const collateral = raw.negRisk ? WRAPPED_COLLATERAL : USDC_E;
  const oracle = raw.negRisk ? NEG_RISK_ADAPTER : CRYPTO_ORACLE;
  const tokens = JSON.parse(raw.clobTokenIds);
  assert(conditionId(oracle, raw.questionID) === raw.conditionId, `condition id of ${raw.slug}`);
  assert(tokenIds(raw.conditionId, collateral).join() === tokens.join(), `token ids of ${raw.slug}`);
  return {
    ...blank(raw.slug, raw.question),
    conditionId: raw.conditionId,
    questionId: raw.questionID,
    tokenIds: tokens,
    idsFrom: 'gamma',
    negRisk: raw.negRisk,
    outcomes: JSON.parse(raw.outcomes),
    createdS: Math.floor(Date.parse(raw.startDate) / 1000),
    raw,
    ...extra,
  };
}

/** All markets of the catalogue; `chain.mjs` adds outcomes and resolution times of the traded windows. */
export function deriveCatalog(source) {
  const day = dayMarkets(source);
  const markets = new Map(day.markets.map((market) => [market.slug, market]));
  const api = path.join(source, 'polybotanalysis-dataapi-json');
  const apiRows = ['galindrast_trades', 'trades_24h_0xd0d6'].flatMap((name) =>
    readJson(path.join(api, `${name}.json.gz`)),
  );
  const venueRows = readJsonLines(path.join(source, 'polynode-cache-trades/recent_trades_299_wallets.jsonl.gz'));
  const positions = readJson(path.join(api, 'galindrast_positions.json.gz'));
  for (const row of [...apiRows, ...venueRows, ...positions]) addApiMarket(markets, row);
  for (const row of positions) {
    const market = markets.get(row.slug);
    market.eventId = row.eventId;
    if (row.redeemable && (row.curPrice === 0 || row.curPrice === 1)) {
      market.outcome = row.curPrice === 1 ? row.outcomeIndex : 1 - row.outcomeIndex;
      market.outcomeFrom = 'positions';
    }
  }
  const icons = new Map([...markets.values()].filter((m) => m.coin && m.icon).map((m) => [m.coin, m.icon]));
  const titles = new Map();
  for (const row of readCsv(path.join(source, 'polybotanalysis-wallet-activity/title_to_slug.csv.gz'))) {
    titles.set(row.title, row.slug);
    if (markets.has(row.slug)) continue;
    const market = blank(row.slug, row.title);
    assert(market.startS === Number(row.start_ts) && market.endS === Number(row.end_ts), `window of ${row.slug}`);
    market.questionId = questionIdOfSlug(row.slug);
    market.conditionId = conditionId(CRYPTO_ORACLE, market.questionId);
    market.tokenIds = tokenIds(market.conditionId, USDC_E);
    market.idsFrom = 'derived';
    market.icon = icons.get(market.coin) ?? null;
    markets.set(row.slug, market);
  }
  const fixtures = path.join(source, 'gamma-and-rtds-fixtures');
  const twap = readJson(path.join(fixtures, 'gamma_market_crypto_twap.json'));
  markets.set(twap.slug, gammaMarket(twap, {}));
  const gammaEvents = readJson(path.join(fixtures, 'gamma_event_negrisk_trimmed.json')).map((event) => {
    for (const raw of event.markets) {
      markets.set(raw.slug, gammaMarket(raw, { eventSlug: event.slug, eventId: event.id }));
    }
    return { ...event, markets: undefined };
  });
  const daySlugs = new Set(day.markets.map((market) => market.slug));
  const list = [
    ...day.markets,
    ...[...markets.values()].filter((m) => !daySlugs.has(m.slug)).sort((a, b) => (a.slug < b.slug ? -1 : 1)),
  ];
  return {
    dayConstants: day.constants,
    dayCount: day.markets.length,
    markets: list,
    titles,
    gammaEvents,
    apiRows: { galindrast: apiRows.slice(0, 3500), d0d6: apiRows.slice(3500) },
    venueRows,
  };
}
