import { Fraction, HALF, min, ONE, sum, ZERO } from './fraction.js';

/** Base units per share, and per dollar. */
const UNITS = Fraction.of(1_000_000);

/**
 * Independent reference implementation of the accounting, from the rules alone: exact fractions of whole shares and dollars. Each position is a list of
 * entries that is replayed from the start at every read. It shares no code with the implementation under test.
 */
type Entry =
  | { kind: 'in'; shares: Fraction; price: Fraction; lostToFee: Fraction }
  | { kind: 'out'; shares: Fraction; price: Fraction | 'at cost' | 'sent' }
  | { kind: 'untracked'; shares: Fraction };

export interface Sheet {
  readonly trackedShares: Fraction;
  readonly untrackedShares: Fraction;
  readonly average: Fraction;
  readonly cost: Fraction;
  readonly realized: Fraction;
  /** Cost of shares paid as fees. */
  readonly feeCost: Fraction;
  /** Cost of shares sent away. */
  readonly sentCost: Fraction;
  readonly bought: Fraction;
  /** Dollars received minus dollars paid, for tracked shares. */
  readonly cash: Fraction;
}

/** Replays one position's entries. */
function sheetOf(entries: readonly Entry[]): Sheet {
  let trackedShares = ZERO;
  let untrackedShares = ZERO;
  // The average refers to all bought shares, including those paid as fees.
  let counted = ZERO;
  let average = ZERO;
  let realized = ZERO;
  let feeCost = ZERO;
  let sentCost = ZERO;
  let bought = ZERO;
  let cash = ZERO;
  for (const entry of entries) {
    if (entry.kind === 'untracked') {
      untrackedShares = untrackedShares.plus(entry.shares);
      continue;
    }
    if (entry.kind === 'in') {
      const before = counted.times(average);
      counted = counted.plus(entry.shares);
      if (!counted.isZero()) average = before.plus(entry.shares.times(entry.price)).over(counted);
      trackedShares = trackedShares.plus(entry.shares).minus(entry.lostToFee);
      bought = bought.plus(entry.shares);
      cash = cash.minus(entry.shares.times(entry.price));
      continue;
    }
    // Sent shares leave the untracked shares first, sold shares the tracked ones.
    let rest = entry.shares;
    if (entry.price === 'sent') {
      const fromUntracked = min(rest, untrackedShares);
      untrackedShares = untrackedShares.minus(fromUntracked);
      rest = rest.minus(fromUntracked);
    }
    const own = min(rest, trackedShares);
    untrackedShares = untrackedShares.minus(min(rest.minus(own), untrackedShares));
    if (own.isZero()) continue;
    if (entry.price === 'sent') sentCost = sentCost.plus(own.times(average));
    else if (entry.price !== 'at cost') {
      realized = realized.plus(own.times(entry.price.minus(average)));
      cash = cash.plus(own.times(entry.price));
    }
    trackedShares = trackedShares.minus(own);
    counted = counted.minus(own);
    if (trackedShares.isZero()) {
      feeCost = feeCost.plus(counted.times(average));
      counted = ZERO;
    }
  }
  return {
    trackedShares,
    untrackedShares,
    average,
    cost: counted.times(average),
    realized,
    feeCost,
    sentCost,
    bought,
    cash,
  };
}

/** Wallets' positions as lists of entries; shares and dollars are whole units. */
export class NaiveLedger {
  readonly entries = new Map<string, Entry[]>();
  readonly fees = new Map<string, Fraction>();

  private list(wallet: string, token: string): Entry[] {
    const key = `${wallet} ${token}`;
    const found = this.entries.get(key);
    if (found !== undefined) return found;
    const created: Entry[] = [];
    this.entries.set(key, created);
    return created;
  }

  sheet(wallet: string, token: string): Sheet {
    return sheetOf(this.entries.get(`${wallet} ${token}`) ?? []);
  }

  fee(wallet: string, dollars: Fraction): void {
    this.fees.set(wallet, (this.fees.get(wallet) ?? ZERO).plus(dollars));
  }

  buy(wallet: string, token: string, shares: Fraction, dollars: Fraction, lostToFee: Fraction): void {
    this.list(wallet, token).push({ kind: 'in', shares, price: dollars.over(shares), lostToFee });
  }

  sell(wallet: string, token: string, shares: Fraction, dollars: Fraction): void {
    this.list(wallet, token).push({ kind: 'out', shares, price: dollars.over(shares) });
  }

  split(wallet: string, tokens: readonly [string, string], sets: Fraction): void {
    for (const token of tokens) this.buy(wallet, token, sets, sets.times(HALF), ZERO);
  }

  merge(wallet: string, tokens: readonly [string, string], sets: Fraction): void {
    for (const token of tokens) this.sell(wallet, token, sets, sets.times(HALF));
  }

  /** `shares` null: all shares. The contract pays whole base units per outcome and keeps the remainder. */
  redeem(wallet: string, token: string, shares: Fraction | null, ratio: Fraction): void {
    const sheet = this.sheet(wallet, token);
    const redeemed = shares ?? sheet.trackedShares.plus(sheet.untrackedShares);
    if (redeemed.isZero()) return;
    const exact = redeemed.times(ratio).times(UNITS);
    const paid = Fraction.of(exact.n / exact.d).over(UNITS);
    this.list(wallet, token).push({ kind: 'out', shares: redeemed, price: paid.over(redeemed) });
  }

  send(wallet: string, token: string, shares: Fraction): void {
    this.list(wallet, token).push({ kind: 'out', shares, price: 'sent' });
  }

  receive(wallet: string, token: string, shares: Fraction): void {
    this.list(wallet, token).push({ kind: 'untracked', shares });
  }

  /**
   * Converts the NO tokens `given` of n questions to the YES tokens `created` of all other questions. `shares`: per question. `fee`: reduces the created
   * shares and the payment; sets with a known cost bear their share of it. Returns the dollars paid for sets with a known cost.
   */
  convert(
    wallet: string,
    given: readonly string[],
    created: readonly string[],
    shares: Fraction,
    fee = ZERO,
  ): Fraction {
    const sheets = given.map((token) => this.sheet(wallet, token));
    const known = sheets.reduce((least, sheet) => min(least, sheet.trackedShares), shares);
    const n = Fraction.of(given.length);
    const average = sum(sheets.map((sheet) => sheet.average)).over(n);
    const released = n.minus(ONE);
    const createdShares = shares.minus(fee);
    const exact = known.times(createdShares).over(shares).times(UNITS);
    const createdKnown = Fraction.of(exact.n / exact.d).over(UNITS);
    for (const token of given) {
      if (created.length > 0 || known.isZero())
        this.list(wallet, token).push({ kind: 'out', shares: known, price: 'at cost' });
      else {
        const price = released.times(createdKnown).over(n.times(known));
        this.list(wallet, token).push({ kind: 'out', shares: known, price });
      }
      const rest = shares.minus(known);
      if (!rest.isZero()) {
        // The remaining shares leave without a price, tracked shares first.
        const left = this.sheet(wallet, token);
        const own = min(rest, left.trackedShares);
        const list = this.list(wallet, token);
        if (!own.isZero()) list.push(...sendTrackedShares(left.untrackedShares, own));
        if (!rest.minus(own).isZero()) list.push({ kind: 'out', shares: rest.minus(own), price: 'sent' });
      }
    }
    const paid = average.times(n).times(known).minus(released.times(createdKnown));
    for (const token of created) {
      if (!createdKnown.isZero()) {
        const price = paid.over(createdKnown.times(Fraction.of(created.length)));
        this.list(wallet, token).push({ kind: 'in', shares: createdKnown, price, lostToFee: ZERO });
      }
      if (!createdShares.minus(createdKnown).isZero()) this.receive(wallet, token, createdShares.minus(createdKnown));
    }
    return createdKnown.times(released);
  }
}

/** Entries that send tracked shares but keep the untracked ones: all untracked shares are removed and added again. */
function sendTrackedShares(untracked: Fraction, own: Fraction): Entry[] {
  if (untracked.isZero()) return [{ kind: 'out', shares: own, price: 'sent' }];
  return [
    { kind: 'out', shares: untracked.plus(own), price: 'sent' },
    { kind: 'untracked', shares: untracked },
  ];
}
