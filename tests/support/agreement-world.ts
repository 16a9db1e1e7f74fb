import fc from 'fast-check';
import { chainSink } from '../../processors/chain/sink.js';
import { fillsSink } from '../../processors/fills/sink.js';
import type { AnyEvent } from '../../schemas/codec.js';
import { tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import type { Trade } from '../../schemas/types.gen.js';
import { history, play } from '../accounting/steps.js';
import { type Market, ScriptedVenue } from '../accounting/world.js';
import { type ApiHarness, startApi } from './api.js';
import { ALWAYS_FRESH_S, insertAccountsOfBlocks, insertRecords } from './positions.js';
import { marketRow, tokenRows } from './rows.js';
import { comboYes } from './venue.js';

/** Two fixed seeds, and one that differs per run; test names contain the seed. */
export const agreementSeeds = [77, 2026, Date.now() % 1_000_000];

export const WORLD_TAG = 'agreed';

/** Kinds of quotes of a market in the catalogue. */
const quoteKinds = ['none', 'fresh book', 'newer price', 'older price', 'newer book'] as const;
type QuoteKind = (typeof quoteKinds)[number];

interface Traits {
  readonly isCatalogued: boolean;
  /** True if the history contains the preparation of its condition. */
  readonly isPrepared: boolean;
  readonly quote: QuoteKind;
}
const traits: fc.Arbitrary<Traits> = fc.record({
  isCatalogued: fc.boolean(),
  isPrepared: fc.boolean(),
  quote: fc.constantFrom(...quoteKinds),
});

/** Expected values of a token, derived from the steps of the world without the product's code. */
export interface Expectation {
  readonly market: Market;
  readonly index: 0 | 1;
  /** USD per share; null without a price. */
  readonly price: number | null;
  readonly source: string | null;
  /** Unix seconds. */
  readonly updatedAtS: number | null;
  /** True if a log other than a fill names its condition, or if it is in the catalogue. */
  readonly isNamed: boolean;
}

export interface AgreementWorld {
  readonly api: ApiHarness;
  readonly key: string;
  readonly venue: ScriptedVenue;
  readonly trades: readonly Trade[];
  readonly expectations: ReadonlyMap<string, Expectation>;
  traitsOf(market: Market): Traits;
  /** False if a conversion had an unknown number of questions, so that the created YES tokens are unknown. */
  hasKnownBalances(market: Market): boolean;
  slugOf(market: Market): string;
}

const START_S = 1_700_000_000;
const DAY_S = 86_400;
/** After the last block of the world. */
const NOW_MS = (START_S + DAY_S) * 1000;
const NEWER_S = START_S + DAY_S / 2;
const OLDER_S = START_S - DAY_S;
const book = { bid: [0.2, 0.7], ask: [0.3, 0.8], mid: [0.25, 0.75] } as const;
const price = [0.31, 0.69] as const;

function quoteRow(kind: Exclude<QuoteKind, 'none'>, market: Market, index: 0 | 1): object {
  const isPriced = kind === 'newer price' || kind === 'older price';
  const at = kind === 'fresh book' ? ALWAYS_FRESH_S : kind === 'older price' ? OLDER_S : NEWER_S;
  return {
    token_id: market.tokens[index],
    condition_id: market.condition,
    outcome_index: index,
    price: isPriced ? price[index] : kind === 'fresh book' ? 0.5 : null,
    bid: isPriced ? null : book.bid[index],
    ask: isPriced ? null : book.ask[index],
    updated_at: at * 1000,
    _offset: 1,
  };
}

const decided = (value: number, source: string, updatedAtS: number) => ({ price: value, source, updatedAtS });
const nothing = { price: null, source: null, updatedAtS: null };

/** Expected current price of a token that is not settled. */
function openPrice(quote: QuoteKind, index: 0 | 1, last: Trade | undefined) {
  if (quote === 'fresh book') return decided(book.mid[index], 'clob_mid', ALWAYS_FRESH_S);
  if (quote === 'newer price') return decided(price[index], 'v1_condition', NEWER_S);
  if (quote === 'newer book') return decided(book.mid[index], 'v1_condition', NEWER_S);
  if (last !== undefined) {
    return decided(Number(last.usdc) / Number(last.shares), 'last_fill', Math.floor(last.timestamp_ms / 1000));
  }
  return quote === 'older price' ? decided(price[index], 'v1_condition', OLDER_S) : nothing;
}

/** Conditions that are named by a log other than a fill; a conversion with a number of questions names all of them. */
function namedConditions(venue: ScriptedVenue, events: readonly AnyEvent[]): ReadonlySet<unknown> {
  return new Set(
    events.flatMap((event): unknown[] => {
      if (event.kind !== 'positions_converted') return [(event.value as { condition_id?: string }).condition_id];
      const { index_set, question_count } = event.value;
      const count = question_count ?? 0;
      return venue.group
        .filter((_market, i) => i < count || (Number(index_set) >> i) & 1)
        .map(({ condition }) => condition);
    }),
  );
}

function expectationsOf(
  venue: ScriptedVenue,
  events: readonly AnyEvent[],
  trades: readonly Trade[],
  traitsOf: (market: Market) => Traits,
): ReadonlyMap<string, Expectation> {
  const named = namedConditions(venue, events);
  const resolvedAtS = new Map(
    events.flatMap((event) =>
      event.kind === 'condition_resolved'
        ? [[event.value.condition_id, Math.floor(event.value.timestamp_ms / 1000)] as const]
        : [],
    ),
  );
  const found = new Map<string, Expectation>();
  for (const market of venue.markets) {
    const { isCatalogued, quote } = traitsOf(market);
    for (const index of [0, 1] as const) {
      const token = market.tokens[index];
      const last = trades.findLast((trade) => trade.token_id === token && !trade.is_taker_order);
      const settledAtS = resolvedAtS.get(market.condition);
      const priced =
        settledAtS !== undefined && market.payouts !== null
          ? decided(Number(market.payouts[index]) / 2, 'settlement', settledAtS)
          : openPrice(isCatalogued ? quote : 'none', index, last);
      found.set(token, { market, index, isNamed: isCatalogued || named.has(market.condition), ...priced });
    }
  }
  return found;
}

const unnamedTraits: Traits = { isCatalogued: false, isPrepared: false, quote: 'none' };
const UNNAMED_CONDITION = `0x${'ee'.repeat(32)}`;
/** A neg-risk market with two fills, whose condition is not named anywhere. */
function addUnnamedMarket(venue: ScriptedVenue): void {
  const tokens = tokenPair(addresses.wrappedCollateral, UNNAMED_CONDITION);
  const rest = { collateral: addresses.wrappedCollateral, payouts: null, resolutionLogged: false, negRisk: true };
  venue.markets.push({ condition: UNNAMED_CONDITION, tokens, ...rest });
  venue.match({
    market: venue.markets.length - 1,
    outcome: 0,
    taker: 0,
    side: 'BUY',
    makers: [{ wallet: 1, shares: 20_000_000n, cents: 35n, opposite: true }],
    generation: 2,
    feeBps: 0n,
    leftover: 0n,
  });
  venue.endTransaction();
  venue.endBlock();
}

/** A drawn history in the tables behind the real API: some of its markets catalogued, prepared, settled or quoted, some neither. */
export async function startAgreementWorld(seed: number): Promise<AgreementWorld> {
  const steps = fc.sample(history(true), { numRuns: 40, seed }).flat();
  const venue = play(new ScriptedVenue(true, { wallets: 6, plain: 5, questions: 4 }), steps);
  const drawn = fc.sample(traits, { numRuns: venue.markets.length, seed });
  addUnnamedMarket(venue);
  const traitsOf = (market: Market) => drawn[venue.markets.indexOf(market)] ?? unnamedTraits;
  const slugOf = (market: Market) => `market-${venue.markets.indexOf(market)}`;

  const unprepared = new Set(venue.markets.filter((market) => !traitsOf(market).isPrepared).map((m) => m.condition));
  const blocks = venue.blocks.map((facts) =>
    facts.filter((fact) => fact.kind !== 'condition_prepared' || !unprepared.has(fact.value.condition_id)),
  );
  const events = blocks.flat();
  const trades = events.flatMap((event) => (event.kind === 'trade' ? [event.value] : []));

  const isGroupUncertain =
    events.some((event) => event.kind === 'positions_converted' && event.value.question_count === null) &&
    venue.group.some((market) => !traitsOf(market).isPrepared && market.condition !== UNNAMED_CONDITION);
  const hasKnownBalances = ({ negRisk }: Market) => !(negRisk && isGroupUncertain);

  const api = await startApi({ nowMs: NOW_MS, cacheBytes: 0 });
  await insertAccountsOfBlocks(api.clickhouse, blocks);
  const first = trades[0] as Trade;
  const combo: Trade = {
    ...first,
    id: `${first.tx_hash}-9000`,
    log_index: 9000,
    token_id: comboYes,
    exchange_version: 3,
    neg_risk: false,
    usdc: 3_000_000n,
    shares: 12_000_000n,
    is_taker_order: false,
  };
  await insertRecords(api.clickhouse, fillsSink, [...events, { kind: 'trade', value: combo }]);
  await insertRecords(api.clickhouse, chainSink, events);
  const catalogued = venue.markets.filter((market) => traitsOf(market).isCatalogued);
  const listed = catalogued.map((market) => ({
    conditionId: market.condition,
    id: slugOf(market),
    slug: slugOf(market),
    question: `${slugOf(market)}?`,
    tokenIds: market.tokens,
    negRiskMarketId: market.negRisk ? `0x${'77'.repeat(32)}` : null,
    tags: [WORLD_TAG],
  }));
  await api.clickhouse.insertRows('markets', listed.map(marketRow));
  await api.clickhouse.insertRows('tokens', listed.flatMap(tokenRows));
  const quotes = catalogued.flatMap((market) => {
    const { quote } = traitsOf(market);
    return quote === 'none' ? [] : [quoteRow(quote, market, 0), quoteRow(quote, market, 1)];
  });
  await api.clickhouse.insertRows('token_quotes', quotes);
  const expectations = expectationsOf(venue, events, trades, traitsOf);
  return { api, key: await api.key('enterprise'), venue, trades, expectations, traitsOf, hasKnownBalances, slugOf };
}
