import type { AnyEvent } from '../../schemas/codec.js';
import { comboPositions } from '../../schemas/primitives/combo-ids.js';
import { conditionId, negRiskQuestionId, tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import type { Trade } from '../../schemas/types.gen.js';
import { Fraction, ZERO } from './fraction.js';
import { NaiveLedger } from './naive.js';

/**
 * Simulation of a small exchange, driven by generated steps: it moves balances as the contracts would, emits the chain events, and enters the same steps
 * into the naive ledger. Chain events and ledger share nothing else.
 */
export interface Market {
  readonly condition: string;
  readonly collateral: string;
  readonly tokens: readonly [string, string];
  /** Payout numerators over 2, or null while open. */
  payouts: readonly [bigint, bigint] | null;
  /** True if the log contains the resolution. */
  readonly resolutionLogged: boolean;
  readonly negRisk: boolean;
  /** True for a combo: its positions are traded and sent, but never resolved here. */
  readonly combo?: boolean;
}

const UNIT = 1_000_000n;
const shares = (base: bigint): Fraction => Fraction.of(base, UNIT);

const exchanges = {
  1: [addresses.exchangeV1, addresses.exchangeV1NegRisk],
  2: [addresses.exchangeV2, addresses.exchangeV2NegRiskA],
} as const;

const hex = (value: number, bytes: number): string => `0x${value.toString(16).padStart(bytes * 2, '0')}`;
const walletOf = (n: number): string => hex(0xa000 + n, 20);
const ORACLE = hex(0x0f, 20);
const GROUP = `${hex(0x77, 31)}00`;

export interface Maker {
  readonly wallet: number;
  readonly shares: bigint;
  /** Price of the maker's token, 1e-2 dollars. */
  readonly cents: bigint;
  /** True: the maker trades the opposite outcome, by mint or merge. */
  readonly opposite: boolean;
}

export class ScriptedVenue {
  readonly ledger = new NaiveLedger();
  readonly blocks: AnyEvent[][] = [];
  readonly markets: Market[] = [];
  readonly wallets: string[];
  /** Balances according to the contracts. */
  readonly balances = new Map<string, bigint>();
  readonly cash = new Map<string, bigint>();
  readonly collateral = new Map<string, bigint>();
  volume = 0n;
  steps = 0;
  private readonly countLogged: boolean;
  private readonly feeBips: number;
  private block: AnyEvent[] = [];
  private logIndex = 0;
  private number = 1;
  private tx = 0;

  /** strict: no wallet sends more shares than it has. */
  constructor(
    readonly strict: boolean,
    options: {
      wallets: number;
      plain: number;
      questions: number;
      combos?: number;
      /** Fee of conversions. */
      feeBips?: number;
      unlogged?: boolean;
      countLogged?: boolean;
    },
  ) {
    this.countLogged = options.countLogged !== false;
    this.feeBips = options.feeBips ?? 0;
    this.wallets = Array.from({ length: options.wallets }, (_, i) => walletOf(i));
    for (let i = 0; i < options.plain; i++) {
      const condition = conditionId({ oracle: ORACLE, questionId: hex(100 + i, 32) });
      this.prepare(ORACLE, hex(100 + i, 32), condition, options.unlogged === true && i === 0, false, true);
    }
    if (this.countLogged && options.questions > 0)
      this.emit('neg_risk_market', { market_id: GROUP, oracle: ORACLE, fee_bips: this.feeBips });
    for (let i = 0; i < options.questions; i++) {
      const questionId = negRiskQuestionId(GROUP, i);
      const condition = conditionId({ oracle: addresses.negRiskAdapter, questionId });
      this.prepare(addresses.negRiskAdapter, questionId, condition, false, true, this.countLogged);
    }
    for (let i = 0; i < (options.combos ?? 0); i++) {
      const condition = `0x03${(0xc0 + i).toString(16).padStart(32, '0')}0002${'0'.repeat(24)}`;
      const tokens = comboPositions(condition);
      const common = { payouts: null, resolutionLogged: false, negRisk: false, combo: true };
      this.markets.push({ condition, collateral: addresses.usdcE, tokens, ...common });
    }
  }

  private prepare(
    oracle: string,
    question_id: string,
    condition: string,
    unlogged: boolean,
    negRisk: boolean,
    logged: boolean,
  ): void {
    const collateral = negRisk ? addresses.wrappedCollateral : addresses.usdcE;
    const tokens = tokenPair(collateral, condition);
    this.markets.push({
      condition,
      collateral,
      tokens,
      payouts: null,
      resolutionLogged: !unlogged,
      negRisk,
      combo: false,
    });
    if (!logged) return;
    this.emit('condition_prepared', { condition_id: condition, oracle, question_id, outcome_slot_count: 2 });
  }

  get group(): readonly Market[] {
    return this.markets.filter((market) => market.negRisk);
  }

  private logPosition() {
    return {
      id: `${hex(this.tx, 32)}-${this.logIndex}`,
      block_number: this.number,
      block_hash: hex(this.number, 32),
      timestamp_ms: 1_700_000_000_000 + this.number * 2000,
      tx_hash: hex(this.tx, 32),
      log_index: this.logIndex++,
    };
  }

  private emit(kind: AnyEvent['kind'], rest: object): void {
    this.block.push({ kind, value: { ...this.logPosition(), ...rest } } as AnyEvent);
  }

  endTransaction(): void {
    this.tx += 1;
    this.steps += 1;
  }

  endBlock(): void {
    this.blocks.push(this.block);
    this.block = [];
    this.logIndex = 0;
    this.number += 1;
  }

  balance(wallet: string, token: string): bigint {
    return this.balances.get(`${wallet} ${token}`) ?? 0n;
  }

  private move(wallet: string, token: string, amount: bigint): void {
    const key = `${wallet} ${token}`;
    const after = (this.balances.get(key) ?? 0n) + amount;
    this.balances.set(key, this.strict && after < 0n ? this.broken(key) : after > 0n ? after : 0n);
  }

  private broken(what: string): never {
    throw new Error(`balance below zero: ${what}`);
  }

  private pay(wallet: string, dollars: bigint): void {
    this.cash.set(wallet, (this.cash.get(wallet) ?? 0n) + dollars);
  }

  private lock(condition: string, dollars: bigint): void {
    this.collateral.set(condition, (this.collateral.get(condition) ?? 0n) + dollars);
  }

  private can(wallet: string, token: string, amount: bigint): boolean {
    return !this.strict || this.balance(wallet, token) >= amount;
  }

  private fill(
    market: Market,
    rest: Pick<
      Trade,
      'maker' | 'taker' | 'side' | 'token_id' | 'usdc' | 'shares' | 'fee' | 'fee_shares' | 'exchange_version'
    >,
  ): void {
    const generation = rest.exchange_version as 1 | 2;
    const exchange = exchanges[generation][market.negRisk ? 1 : 0];
    const buy = rest.side === 'BUY';
    this.emit('trade', {
      exchange,
      neg_risk: market.negRisk,
      order_hash: hex(this.logIndex + 1, 32),
      is_taker_order: rest.taker === exchange,
      maker_asset_id: buy ? '0' : rest.token_id,
      taker_asset_id: buy ? rest.token_id : '0',
      maker_amount: buy ? rest.usdc : rest.shares,
      taker_amount: buy ? rest.shares : rest.usdc,
      builder: null,
      ...rest,
    });
  }

  /** One taker order against several makers. `leftover`: amount offered by the taker's order and returned. */
  match(of: {
    market: number;
    outcome: 0 | 1;
    taker: number;
    side: 'BUY' | 'SELL';
    makers: readonly Maker[];
    generation: 1 | 2;
    feeBps: bigint;
    leftover: bigint;
    /** True: without a taker order; the taker fills the maker's order by its own call. */
    direct?: boolean;
  }): void {
    const market = this.markets[of.market % this.markets.length] as Market;
    const taker = this.wallets[of.taker % this.wallets.length] as string;
    const token = market.tokens[of.outcome];
    const other = market.tokens[1 - of.outcome] as string;
    const exchange = exchanges[of.generation][market.negRisk ? 1 : 0];
    const buying = of.side === 'BUY';
    let gave = 0n;
    let got = 0n;
    const filled: { wallet: string; token: string; side: 'BUY' | 'SELL'; usdc: bigint; amount: bigint }[] = [];
    for (const maker of of.direct === true ? of.makers.slice(0, 1) : of.makers) {
      const wallet = this.wallets[maker.wallet % this.wallets.length] as string;
      if (wallet === taker) continue;
      const opposite = maker.opposite && of.direct !== true;
      const side = opposite ? of.side : buying ? 'SELL' : 'BUY';
      const traded = opposite ? other : token;
      const sold = filled
        .filter((one) => one.wallet === wallet && one.token === traded && one.side === 'SELL')
        .reduce((sum, one) => sum + one.amount, 0n);
      if (side === 'SELL' && !this.can(wallet, traded, maker.shares + sold)) continue;
      if (!buying && !this.can(taker, token, filled.reduce((sum, one) => sum + one.amount, 0n) + maker.shares))
        continue;
      const usdc = (maker.shares * maker.cents) / 100n;
      const takerUsdc = opposite ? maker.shares - usdc : usdc;
      filled.push({ wallet, token: traded, side, usdc, amount: maker.shares });
      gave += buying ? takerUsdc : maker.shares;
      got += buying ? maker.shares : takerUsdc;
    }
    if (filled.length === 0) return;
    for (const one of filled) {
      const { wallet, side, usdc, amount } = one;
      const sign = side === 'BUY' ? 1n : -1n;
      this.fill(market, {
        maker: wallet,
        taker,
        side,
        token_id: one.token,
        usdc,
        shares: amount,
        fee: 0n,
        fee_shares: 0n,
        exchange_version: of.generation,
      });
      this.move(wallet, one.token, sign * amount);
      this.pay(wallet, -sign * usdc);
      this.volume += usdc;
      if (side === 'BUY') this.ledger.buy(wallet, one.token, shares(amount), shares(usdc), ZERO);
      else this.ledger.sell(wallet, one.token, shares(amount), shares(usdc));
      if (one.token === other) this.lock(market.condition, sign * amount);
    }
    const [usdc, amount] = buying ? [gave, got] : [got, gave];
    const charged = of.direct === true ? 0n : (buying && of.generation === 1 ? amount : usdc) * of.feeBps;
    const fee = charged / 10_000n;
    const shareFee = buying && of.generation === 1 ? fee : 0n;
    if (of.direct !== true) {
      this.fill(market, {
        maker: taker,
        taker: exchange,
        side: of.side,
        token_id: token,
        usdc: buying ? usdc + of.leftover : usdc,
        shares: buying ? amount : amount + of.leftover,
        fee: shareFee > 0n ? (shareFee * usdc) / amount : fee,
        fee_shares: shareFee,
        exchange_version: of.generation,
      });
    }
    this.move(taker, token, buying ? amount - shareFee : -amount);
    this.pay(taker, (buying ? -usdc : usdc) - (shareFee > 0n ? 0n : fee));
    if (shareFee === 0n) this.ledger.fee(taker, shares(fee));
    if (buying) this.ledger.buy(taker, token, shares(amount), shares(usdc), shares(shareFee));
    else this.ledger.sell(taker, token, shares(amount), shares(usdc));
  }

  set(kind: 'split' | 'merge', marketIndex: number, who: number, amount: bigint): void {
    const market = this.markets[marketIndex % this.markets.length] as Market;
    const wallet = this.wallets[who % this.wallets.length] as string;
    if (market.combo === true) return;
    if (kind === 'merge' && !market.tokens.every((token) => this.can(wallet, token, amount))) return;
    this.emit(kind === 'split' ? 'position_split' : 'position_merge', {
      stakeholder: wallet,
      collateral_token: market.collateral,
      condition_id: market.condition,
      amount,
    });
    const sign = kind === 'split' ? 1n : -1n;
    for (const token of market.tokens) this.move(wallet, token, sign * amount);
    this.pay(wallet, -sign * amount);
    this.lock(market.condition, sign * amount);
    this.ledger[kind](wallet, market.tokens, shares(amount));
  }

  resolve(marketIndex: number, first: bigint): void {
    const market = this.markets[marketIndex % this.markets.length] as Market;
    if (market.payouts !== null || market.combo === true) return;
    market.payouts = [first, 2n - first];
    if (!market.resolutionLogged) return;
    this.emit('condition_resolved', {
      condition_id: market.condition,
      oracle: market.negRisk ? addresses.negRiskAdapter : ORACLE,
      question_id: hex(1, 32),
      outcome_slot_count: 2,
      payout_numerators: market.payouts.map(String),
    });
  }

  /** Redeems all shares of both outcomes. `amountsLogged`: the log contains the amounts. */
  redeem(marketIndex: number, who: number, amountsLogged: boolean): void {
    const market = this.markets[marketIndex % this.markets.length] as Market;
    const wallet = this.wallets[who % this.wallets.length] as string;
    const { payouts, tokens } = market;
    if (payouts === null) return;
    const amounts = tokens.map((token) => this.balance(wallet, token)) as [bigint, bigint];
    const payout = amounts.reduce((sum, amount, i) => sum + (amount * (payouts[i] as bigint)) / 2n, 0n);
    this.emit('redemption', {
      redeemer: wallet,
      collateral_token: market.collateral,
      condition_id: market.condition,
      index_sets: [1, 2],
      amounts: amountsLogged ? amounts : null,
      payout,
      source: null,
    });
    for (const [i, token] of tokens.entries()) this.move(wallet, token, -(amounts[i] as bigint));
    this.pay(wallet, payout);
    this.lock(market.condition, -payout);
    const given = amounts.filter((amount) => amount > 0n).length;
    const solvable = payout === 0n || (amountsLogged && (given === 1 || amounts[0] !== amounts[1]));
    for (const [i, token] of tokens.entries()) {
      const amount = amountsLogged ? shares(amounts[i] as bigint) : null;
      if (market.resolutionLogged || solvable)
        this.ledger.redeem(wallet, token, amount, Fraction.of(payouts[i] as bigint, 2));
      else {
        const sheet = this.ledger.sheet(wallet, token);
        const all = amount ?? sheet.trackedShares.plus(sheet.untrackedShares);
        if (!all.isZero()) this.ledger.send(wallet, token, all);
      }
    }
  }

  /** Converts the NO tokens of the questions in `mask`. `termsLogged`: the logs of the transaction contain the number of questions and the fee. */
  convert(mask: number, who: number, amount: bigint, termsLogged: boolean): void {
    const { group } = this;
    const wallet = this.wallets[who % this.wallets.length] as string;
    const given = group.filter((_market, i) => (mask >> i) & 1);
    if (given.length === 0 || !given.every((market) => this.can(wallet, market.tokens[1], amount))) return;
    const created = group.filter((market) => !given.includes(market));
    const fee = (amount * BigInt(this.feeBips)) / 10_000n;
    this.emit('positions_converted', {
      stakeholder: wallet,
      market_id: GROUP,
      index_set: `0x${(mask & ((1 << group.length) - 1)).toString(16)}`,
      amount,
      question_count: termsLogged ? group.length : null,
      fee: termsLogged ? fee : null,
    });
    for (const market of given) this.move(wallet, market.tokens[1], -amount);
    for (const market of created) this.move(wallet, market.tokens[0], amount - fee);
    const times = BigInt(given.length - 1);
    const released = amount * times;
    this.pay(wallet, (amount - fee) * times);
    const each = released / BigInt(given.length);
    given.forEach((market, i) => {
      this.lock(market.condition, -(i < Number(released % BigInt(given.length)) ? each + 1n : each));
    });
    if (!this.countLogged && !termsLogged) {
      for (const market of given) this.ledger.send(wallet, market.tokens[1], shares(amount));
      return;
    }
    this.ledger.convert(
      wallet,
      given.map((market) => market.tokens[1]),
      created.map((market) => market.tokens[0]),
      shares(amount),
      shares(fee),
    );
  }

  transfer(marketIndex: number, outcome: 0 | 1, from: number, to: number, amount: bigint): void {
    const { tokens, combo } = this.markets[marketIndex % this.markets.length] as Market;
    const token = tokens[outcome];
    const [a, b] = [from, to].map((n) => this.wallets[n % this.wallets.length] as string) as [string, string];
    if (a === b || !this.can(a, token, amount)) return;
    if (combo === true)
      this.emit('combo_lifecycle', {
        action: 'Transfer',
        user: a,
        recipient: b,
        condition_ids: [],
        event_ids: [],
        source_position_ids: [token],
        destination_position_ids: [token],
        legs: null,
        amount,
        payout: null,
      });
    else
      this.emit('position_change', {
        operator: a,
        from: a,
        to: b,
        token_id: token,
        amount,
        transfer_type: 'single',
        batch_index: 0,
      });
    this.move(a, token, -amount);
    this.move(b, token, amount);
    this.ledger.send(a, token, shares(amount));
    this.ledger.receive(b, token, shares(amount));
  }
}
