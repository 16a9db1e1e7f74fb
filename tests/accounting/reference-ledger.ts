import type { AnyEvent } from '../../schemas/codec.js';
import type { Address } from '../../schemas/primitives/address.js';
import { tokenPair } from '../../schemas/primitives/ids.js';
import { addresses, isVenueContract } from '../../schemas/primitives/venue.js';
import type { CatalogMarket, Redemption, Trade } from '../../schemas/types.gen.js';
import type { RecordedHistory } from '../support/recorded-tables.js';
import { Fraction, ZERO } from './fraction.js';
import { NaiveLedger } from './naive.js';

const UNIT = 1_000_000n;
const HOUR_S = 3_600;
const units = (base: bigint): Fraction => Fraction.of(base, UNIT);

/** Sums of the fills of a wallet's own orders, base units. */
export interface Traded {
  usdc: bigint;
  boughtUsdc: bigint;
  /** Fees in USDC. */
  fees: bigint;
  /** Fees in USDC, and fees in shares at the price of their fill. */
  feesAtPrice: bigint;
}

/** Reference accounting of a recorded history, from its trades, merges, redemptions and resolutions alone. */
export interface ReferenceLedger {
  readonly ledger: NaiveLedger;
  readonly traded: ReadonlyMap<string, Traded>;
  /** 1e-6 USD per share; null without a price. */
  readonly priceOf: (tokenId: string) => bigint | null;
  /**
   * The same at a time that is over, Unix seconds: the payout since the resolution, else the last trade of the full hours before on either outcome of
   * the market, null without one. Quotes of the past are kept nowhere.
   */
  readonly pastPriceOf: (tokenId: string, atS: number) => bigint | null;
  readonly settled: ReadonlySet<string>;
  /** Tokens by condition. */
  readonly pairs: ReadonlyMap<string, readonly string[]>;
  /** Collateral received minus collateral paid per wallet according to the logs, before fees. */
  readonly cash: ReadonlyMap<string, bigint>;
}

/** Nearest integer, halves away from zero. */
const nearest = (n: bigint, d: bigint): bigint => (n < 0n ? -((-2n * n + d) / (2n * d)) : (2n * n + d) / (2n * d));

/** Decimal text as base units; null for other text. */
function parsePrice(text: string | undefined): bigint | null {
  const value = Number(text ?? Number.NaN);
  return text === undefined || text.trim() === '' || !Number.isFinite(value) ? null : BigInt(Math.round(value * 1e6));
}

/** Quote of each outcome in the catalogue; null for the placeholders that it publishes before the first quote. */
function quotesOf(market: CatalogMarket): readonly (bigint | null)[] {
  const prices = market.token_ids.map((_token, i) => parsePrice(market.outcome_prices[i]));
  const even = market.outcome_prices.every((price) => Number(price) === 0.5);
  const isUnquoted = even && market.volume === 0 && market.liquidity === 0;
  const { best_bid: bid, best_ask: ask } = market;
  const hasOrderBook = !market.closed && bid !== null && ask !== null && bid > 0 && ask < 1 && bid <= ask;
  const mid = hasOrderBook ? BigInt(Math.round(((bid + ask) / 2) * 1e6)) : null;
  const middles = [mid, mid === null ? null : UNIT - mid];
  return prices.map((price, i) => (isUnquoted ? null : price) ?? middles[i] ?? null);
}

export function createReferenceLedger({ blocks, catalog }: RecordedHistory): ReferenceLedger {
  const ledger = new NaiveLedger();
  const traded = new Map<string, Traded>();
  const cash = new Map<string, bigint>();
  const payouts = new Map<string, readonly bigint[]>();
  const pairs = new Map<string, readonly string[]>();
  const lastPrice = new Map<string, bigint>();
  /** Trades of a token in chain order. */
  const prices = new Map<string, { readonly atS: number; readonly order: number; readonly price: bigint }[]>();
  const resolvedAtS = new Map<string, number>();
  const pay = (wallet: string, change: bigint) => cash.set(wallet, (cash.get(wallet) ?? 0n) + change);
  const pairOf = (collateral: string, condition: string): readonly string[] => {
    const pair = tokenPair(collateral as Address, condition);
    pairs.set(condition, pair);
    return pair;
  };

  const trade = (wallet: string, side: Trade['side'], fill: Trade, usdc: bigint, shares: bigint, isOwn: boolean) => {
    if (isVenueContract(wallet)) return;
    const sum = traded.get(wallet) ?? { usdc: 0n, boughtUsdc: 0n, fees: 0n, feesAtPrice: 0n };
    const shareFee = isOwn ? fill.fee_shares : 0n;
    const fee = isOwn && shareFee === 0n ? fill.fee : 0n;
    sum.usdc += usdc;
    if (side === 'BUY') sum.boughtUsdc += usdc;
    sum.fees += fee;
    if (isOwn) sum.feesAtPrice += fill.fee;
    traded.set(wallet, sum);
    ledger.fee(wallet, units(fee));
    pay(wallet, side === 'BUY' ? -usdc : usdc);
    if (side === 'BUY') ledger.buy(wallet, fill.token_id, units(shares), units(usdc), units(shareFee));
    else ledger.sell(wallet, fill.token_id, units(shares), units(usdc));
  };

  /** Books a match: the makers' fills, then the taker's order. The part of the taker's amount that the makers did not use is returned. */
  const match = (fills: readonly Trade[]) => {
    let makers: Trade[] = [];
    for (const fill of fills) {
      if (!fill.is_taker_order) {
        trade(fill.maker, fill.side, fill, fill.usdc, fill.shares, true);
        if (fill.shares > 0n) {
          const price = nearest(fill.usdc * UNIT, fill.shares);
          lastPrice.set(fill.token_id, price);
          const list = prices.get(fill.token_id) ?? [];
          prices.set(fill.token_id, list);
          const order = fill.block_number * 1e6 + fill.log_index;
          list.push({ atS: fill.timestamp_ms / 1000, order, price });
        }
        makers.push(fill);
        continue;
      }
      const own = makers.filter(({ taker, exchange }) => taker === fill.maker && exchange === fill.exchange);
      makers = makers.filter((one) => !own.includes(one));
      let [usdc, shares] = [0n, 0n];
      for (const maker of own) {
        usdc += maker.token_id === fill.token_id ? maker.usdc : maker.shares - maker.usdc;
        shares += maker.shares;
      }
      const isBuy = fill.side === 'BUY';
      const paid = isBuy && own.length > 0 && usdc < fill.usdc ? usdc : fill.usdc;
      const given = !isBuy && own.length > 0 && shares < fill.shares ? shares : fill.shares;
      trade(fill.maker, fill.side, fill, paid, given, true);
    }
    // Without a taker order, the taker filled the makers' orders by its own call.
    for (const fill of makers) {
      const opposite = fill.side === 'BUY' ? 'SELL' : 'BUY';
      trade(fill.taker, opposite, fill, fill.usdc, fill.shares, false);
    }
  };

  /** Divides the payout over the outcomes by the value of their shares; an excess was paid for shares that the history does not contain. */
  const redeem = ({ redeemer, condition_id, collateral_token, payout, amounts }: Redemption) => {
    if (isVenueContract(redeemer)) return;
    pay(redeemer, payout);
    const pair = pairOf(collateral_token, condition_id);
    const sheets = pair.map((token) => ledger.sheet(redeemer, token));
    const shares = sheets.map((sheet, i) => {
      const all = sheet.trackedShares.plus(sheet.untrackedShares);
      return amounts?.[i] ?? (all.n * UNIT) / all.d;
    });
    const numerators = payouts.get(condition_id) ?? (payout === 0n ? pair.map(() => 0n) : null);
    if (amounts !== null) throw new Error('redemptions of the recording have no amounts');
    const isKnown = (token: string): boolean => ledger.entries.has(`${redeemer} ${token}`);
    if (numerators === null) {
      pair.forEach((token, i) => {
        if ((shares[i] as bigint) > 0n) ledger.send(redeemer, token, units(shares[i] as bigint));
      });
      if (!pair.some(isKnown)) ledger.send(redeemer, pair[0] as string, ZERO);
      return;
    }
    const whole = numerators.reduce((sum, one) => sum + one, 0n) || 1n;
    const worth = shares.map((amount, i) => (amount * (numerators[i] as bigint)) / whole);
    const all = worth.reduce((sum, one) => sum + one, 0n);
    // Shares that the history does not contain leave an empty position.
    const best = numerators[1] !== undefined && numerators[1] > (numerators[0] as bigint) ? 1 : 0;
    if (payout > all && !isKnown(pair[best] as string)) ledger.send(redeemer, pair[best] as string, ZERO);
    let [left, rest] = [payout, all];
    pair.forEach((token, i) => {
      const due = worth[i] as bigint;
      const paid = payout >= all ? due : rest === 0n ? 0n : (left * due) / rest;
      left -= paid;
      rest -= due;
      if ((shares[i] as bigint) > 0n) ledger.sell(redeemer, token, units(shares[i] as bigint), units(paid));
    });
  };

  const read = (event: AnyEvent) => {
    if (event.kind === 'condition_prepared') {
      const { oracle, condition_id } = event.value;
      pairOf(oracle === addresses.negRiskAdapter ? addresses.wrappedCollateral : addresses.usdcE, condition_id);
    } else if (event.kind === 'condition_resolved') {
      const { oracle, condition_id, payout_numerators } = event.value;
      pairOf(oracle === addresses.negRiskAdapter ? addresses.wrappedCollateral : addresses.usdcE, condition_id);
      payouts.set(condition_id, payout_numerators.map(BigInt));
      resolvedAtS.set(condition_id, event.value.timestamp_ms / 1000);
    } else if (event.kind === 'position_merge') {
      const { stakeholder, collateral_token, condition_id, amount } = event.value;
      if (isVenueContract(stakeholder)) return;
      ledger.merge(stakeholder, pairOf(collateral_token, condition_id) as [string, string], units(amount));
      pay(stakeholder, amount);
    } else if (event.kind === 'redemption') redeem(event.value);
    else if (
      event.kind === 'position_split' ||
      event.kind === 'positions_converted' ||
      event.kind === 'position_change'
    )
      throw new Error(`the recording has no ${event.kind}`);
  };

  for (const events of blocks) {
    // A match is booked at the position of its first fill.
    const matches = new Map<string, Trade[]>();
    for (const event of events)
      if (event.kind === 'trade')
        matches.set(event.value.tx_hash, [...(matches.get(event.value.tx_hash) ?? []), event.value]);
    for (const event of events) {
      if (event.kind !== 'trade') read(event);
      else {
        const fills = matches.get(event.value.tx_hash);
        if (fills === undefined) continue;
        matches.delete(event.value.tx_hash);
        match(fills);
      }
    }
  }

  const quotes = new Map<string, bigint | null>();
  for (const event of catalog) {
    if (event.kind !== 'catalog_market') continue;
    const market = event.value;
    const quoted = quotesOf(market);
    market.token_ids.forEach((token, i) => void quotes.set(token, quoted[i] ?? null));
    if (!pairs.has(market.condition_id)) pairs.set(market.condition_id, market.token_ids);
  }
  const settlements = new Map<string, bigint>();
  const settledAtS = new Map<string, number>();
  const other = new Map([...pairs.values()].flatMap(([a, b]) => (a && b ? [[a, b] as const, [b, a] as const] : [])));
  for (const [condition, numerators] of payouts) {
    const whole = numerators.reduce((sum, one) => sum + one, 0n);
    (pairs.get(condition) ?? []).forEach((token, i) => {
      settlements.set(token, nearest((numerators[i] as bigint) * UNIT, whole));
      settledAtS.set(token, resolvedAtS.get(condition) as number);
    });
  }
  const lastOf = (token: string | undefined, atS: number) =>
    prices.get(token ?? '')?.findLast((one) => (Math.floor(one.atS / HOUR_S) + 1) * HOUR_S <= atS);
  const pastPriceOf = (token: string, atS: number): bigint | null => {
    if ((settledAtS.get(token) ?? Number.POSITIVE_INFINITY) <= atS) return settlements.get(token) ?? null;
    const [own, opposite] = [lastOf(token, atS), lastOf(other.get(token), atS)];
    if (opposite === undefined || (own !== undefined && own.order > opposite.order)) return own?.price ?? null;
    return opposite.price < UNIT ? UNIT - opposite.price : 0n;
  };
  return {
    pastPriceOf,
    ledger,
    traded,
    cash,
    pairs,
    settled: new Set(settlements.keys()),
    priceOf: (token) => settlements.get(token) ?? lastPrice.get(token) ?? quotes.get(token) ?? null,
  };
}

/** A position of the reference ledger, in base units, rounded once. */
export interface ReferencePosition {
  readonly wallet: string;
  readonly tokenId: string;
  readonly size: bigint;
  /** Part of the size that was bought. */
  readonly tracked: bigint;
  readonly bought: bigint;
  readonly realized: bigint;
  /** Cost of the tracked shares in the position. */
  readonly cost: bigint;
  /** Cost including shares that were paid as fees. */
  readonly costWithFees: bigint;
  readonly feeCost: bigint;
  readonly price: bigint | null;
  readonly value: bigint;
  readonly unrealized: bigint;
}

/** Value of shares at a price in 1e-6 USD. */
export const worthOf = (shares: bigint, price: bigint): bigint => nearest(shares * price, UNIT);
const toBase = (dollars: Fraction): bigint => nearest(dollars.n * UNIT, dollars.d);
const exactUnits = (amount: Fraction): bigint => (amount.n * UNIT) / amount.d;

/** All positions of the ledger, by `wallet token`. */
export function referencePositions({ ledger, priceOf }: ReferenceLedger): ReadonlyMap<string, ReferencePosition> {
  const found = new Map<string, ReferencePosition>();
  for (const key of ledger.entries.keys()) {
    const [wallet = '', tokenId = ''] = key.split(' ');
    const sheet = ledger.sheet(wallet, tokenId);
    const price = priceOf(tokenId);
    const size = exactUnits(sheet.trackedShares.plus(sheet.untrackedShares));
    const tracked = exactUnits(sheet.trackedShares);
    const cost = toBase(sheet.trackedShares.isZero() ? ZERO : sheet.trackedShares.times(sheet.average));
    const value = price === null ? 0n : worthOf(size, price);
    const unrealized = price === null ? 0n : worthOf(tracked, price) - cost;
    found.set(key, {
      wallet,
      tokenId,
      size,
      tracked,
      bought: exactUnits(sheet.bought),
      realized: toBase(sheet.realized),
      cost,
      costWithFees: toBase(sheet.cost),
      feeCost: toBase(sheet.feeCost),
      price,
      value,
      unrealized,
    });
  }
  return found;
}
