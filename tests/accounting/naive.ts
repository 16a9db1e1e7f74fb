import { Fraction, HALF, min, ONE, sum, ZERO } from './fraction.js';

/** Of a share, and of a dollar. */
const UNITS = Fraction.of(1_000_000);

/**
 * Accounting as one would do it on paper, from the rules alone: exact fractions of whole shares and dollars, every position kept as a list of what
 * ever happened to it, replayed from the beginning whenever it is asked for. Shares nothing with the code it checks.
 */
type Entry =
  | { kind: 'in'; shares: Fraction; price: Fraction; lostToFee: Fraction }
  | { kind: 'out'; shares: Fraction; price: Fraction | 'at cost' | 'given away' }
  | { kind: 'gift'; shares: Fraction };

export interface Sheet {
  readonly held: Fraction;
  readonly untrackedShares: Fraction;
  readonly average: Fraction;
  readonly costOfHeld: Fraction;
  readonly realized: Fraction;
  /** Cost of shares that went as fees, and of those given away. */
  readonly feeLoss: Fraction;
  readonly givenAway: Fraction;
  readonly bought: Fraction;
  /** Dollars in less dollars out, of shares whose buying is known. */
  readonly cash: Fraction;
}

/** Replays one position's entries. */
function sheetOf(entries: readonly Entry[]): Sheet {
  let held = ZERO;
  let untrackedShares = ZERO;
  // The average is over everything bought, the shares kept as a fee included.
  let counted = ZERO;
  let average = ZERO;
  let realized = ZERO;
  let feeLoss = ZERO;
  let givenAway = ZERO;
  let bought = ZERO;
  let cash = ZERO;
  for (const entry of entries) {
    if (entry.kind === 'gift') {
      untrackedShares = untrackedShares.plus(entry.shares);
      continue;
    }
    if (entry.kind === 'in') {
      const before = counted.times(average);
      counted = counted.plus(entry.shares);
      if (!counted.isZero()) average = before.plus(entry.shares.times(entry.price)).over(counted);
      held = held.plus(entry.shares).minus(entry.lostToFee);
      bought = bought.plus(entry.shares);
      cash = cash.minus(entry.shares.times(entry.price));
      continue;
    }
    // What is given away goes from the gifts first, what is sold from what was bought.
    let rest = entry.shares;
    if (entry.price === 'given away') {
      const fromGifts = min(rest, untrackedShares);
      untrackedShares = untrackedShares.minus(fromGifts);
      rest = rest.minus(fromGifts);
    }
    const own = min(rest, held);
    untrackedShares = untrackedShares.minus(min(rest.minus(own), untrackedShares));
    if (own.isZero()) continue;
    if (entry.price === 'given away') givenAway = givenAway.plus(own.times(average));
    else if (entry.price !== 'at cost') {
      realized = realized.plus(own.times(entry.price.minus(average)));
      cash = cash.plus(own.times(entry.price));
    }
    held = held.minus(own);
    counted = counted.minus(own);
    if (held.isZero()) {
      feeLoss = feeLoss.plus(counted.times(average));
      counted = ZERO;
    }
  }
  return {
    held,
    untrackedShares,
    average,
    costOfHeld: counted.times(average),
    realized,
    feeLoss,
    givenAway,
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
    const made: Entry[] = [];
    this.entries.set(key, made);
    return made;
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

  /** `shares` null: everything. The contract pays whole base units per outcome and keeps the rest. */
  redeem(wallet: string, token: string, shares: Fraction | null, ratio: Fraction): void {
    const sheet = this.sheet(wallet, token);
    const given = shares ?? sheet.held.plus(sheet.untrackedShares);
    if (given.isZero()) return;
    const exact = given.times(ratio).times(UNITS);
    const paid = Fraction.of(exact.n / exact.d).over(UNITS);
    this.list(wallet, token).push({ kind: 'out', shares: given, price: paid.over(given) });
  }

  send(wallet: string, token: string, shares: Fraction): void {
    this.list(wallet, token).push({ kind: 'out', shares, price: 'given away' });
  }

  receive(wallet: string, token: string, shares: Fraction): void {
    this.list(wallet, token).push({ kind: 'gift', shares });
  }

  /**
   * NO given of n questions, YES of all others made. `shares`: per question; `fee`: so much less is handed out and paid, of sets with a known cost their
   * part of it. Returns the dollars that belong to sets with a known cost.
   */
  convert(wallet: string, given: readonly string[], made: readonly string[], shares: Fraction, fee = ZERO): Fraction {
    const sheets = given.map((token) => this.sheet(wallet, token));
    const known = sheets.reduce((least, sheet) => min(least, sheet.held), shares);
    const n = Fraction.of(given.length);
    const average = sum(sheets.map((sheet) => sheet.average)).over(n);
    const released = n.minus(ONE);
    const handed = shares.minus(fee);
    const exact = known.times(handed).over(shares).times(UNITS);
    const handedKnown = Fraction.of(exact.n / exact.d).over(UNITS);
    for (const token of given) {
      if (made.length > 0 || known.isZero())
        this.list(wallet, token).push({ kind: 'out', shares: known, price: 'at cost' });
      else {
        const price = released.times(handedKnown).over(n.times(known));
        this.list(wallet, token).push({ kind: 'out', shares: known, price });
      }
      const rest = shares.minus(known);
      if (!rest.isZero()) {
        // The rest goes unpriced, bought shares before gifts.
        const left = this.sheet(wallet, token);
        const own = min(rest, left.held);
        const list = this.list(wallet, token);
        if (!own.isZero()) list.push(...giveAwayTrackedShares(left.untrackedShares, own));
        if (!rest.minus(own).isZero()) list.push({ kind: 'out', shares: rest.minus(own), price: 'given away' });
      }
    }
    const paid = average.times(n).times(known).minus(released.times(handedKnown));
    for (const token of made) {
      if (!handedKnown.isZero()) {
        const price = paid.over(handedKnown.times(Fraction.of(made.length)));
        this.list(wallet, token).push({ kind: 'in', shares: handedKnown, price, lostToFee: ZERO });
      }
      if (!handed.minus(handedKnown).isZero()) this.receive(wallet, token, handed.minus(handedKnown));
    }
    return handedKnown.times(released);
  }
}

/** Bought shares given away while gifts stay: the gifts are put aside and back. */
function giveAwayTrackedShares(gifts: Fraction, own: Fraction): Entry[] {
  if (gifts.isZero()) return [{ kind: 'out', shares: own, price: 'given away' }];
  return [
    { kind: 'out', shares: gifts.plus(own), price: 'given away' },
    { kind: 'gift', shares: gifts },
  ];
}
