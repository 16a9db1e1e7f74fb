import { describe, expect, it } from 'vitest';
import { averagePrice, createHolding, type Holding } from '../../schemas/accounting/holding.js';
import { problems } from '../../schemas/primitives/problems.js';
import type { PnlEvent, WalletActivity } from '../../schemas/types.gen.js';
import { applyActivity } from './apply-activity.js';

const [YES, NO] = ['11', '12'];
const EXACT = 10n ** 12n;

/** Applies activity of one wallet in order; amounts are integer USD. */
function account() {
  const holdings = new Map<string, Holding>();
  let logIndex = 0;
  const run = (fields: Partial<WalletActivity>): PnlEvent[] =>
    applyActivity(
      {
        id: `0x1-${logIndex}`,
        wallet: '0xa',
        block_number: 1,
        log_index: logIndex++,
        timestamp_ms: 1,
        action: 'REDEEM',
        exchange_version: 2,
        is_taker: false,
        subject: '',
        tokens: [YES, NO],
        amounts: null,
        usdc: 0n,
        fee: 0n,
        fee_shares: 0n,
        minted: 0n,
        numerators: ['1', '0'],
        denominator: '1',
        created: [],
        question_count: null,
        fee_unknown: false,
        ...fields,
      },
      {
        get: (token) => holdings.get(token),
        getOrCreate(token) {
          const found = holdings.get(token) ?? createHolding('0xa', token, 1);
          holdings.set(token, found);
          return found;
        },
      },
    );
  return {
    buy: (token: string, shares: bigint, usdc: bigint) =>
      run({ action: 'BUY', tokens: [token], amounts: [shares], usdc, numerators: null }),
    sell: (token: string, shares: bigint, usdc: bigint) =>
      run({ action: 'SELL', tokens: [token], amounts: [shares], usdc, numerators: null }),
    holding: (token: string) => holdings.get(token) as Holding,
    /** Per leg: token, shares, cash and profit in base units, problem. */
    redeem: (usdc: bigint, over: Partial<WalletActivity> = {}) =>
      run({ usdc, ...over }).map((leg) => [
        leg.token_id,
        leg.shares,
        (leg.cash * EXACT) / 10n ** 24n,
        (leg.realized * EXACT) / 10n ** 24n,
        leg.problem,
      ]),
  };
}

describe('a redemption', () => {
  it('pays the winning shares, and nothing for losing shares', () => {
    const wallet = account();
    wallet.buy(YES, 100n, 60n);
    wallet.buy(NO, 40n, 10n);
    expect(wallet.redeem(100n)).toEqual([
      [YES, -100n, 100n, 40n, null],
      [NO, -40n, 0n, -10n, null],
    ]);
  });

  it('does not touch a position whose shares were sold before', () => {
    const wallet = account();
    wallet.buy(YES, 100n, 60n);
    wallet.sell(YES, 100n, 70n);
    wallet.buy(NO, 40n, 10n);
    expect(wallet.redeem(40n, { numerators: ['0', '1'], timestamp_ms: 9 })).toEqual([[NO, -40n, 40n, 30n, null]]);
    expect(wallet.holding(YES)).toMatchObject({ last_ms: 1, last_redeem_ms: null });
    expect(wallet.holding(NO)).toMatchObject({ last_ms: 9, last_redeem_ms: 9 });
  });

  it('that paid less than the known shares records the paid amount and a problem', () => {
    const wallet = account();
    wallet.buy(YES, 100n, 60n);
    expect(wallet.redeem(70n)).toEqual([[YES, -100n, 70n, 10n, problems.payoutDisagrees]]);
  });

  it('that paid more records all cash, but profit of the known shares only', () => {
    const wallet = account();
    wallet.buy(YES, 100n, 60n);
    expect(wallet.redeem(130n)).toEqual([[YES, -100n, 130n, 40n, problems.payoutDisagrees]]);
  });

  it('of shares without recorded inflow creates a row with the cash', () => {
    expect(account().redeem(25n)).toEqual([[YES, 0n, 25n, 0n, problems.unknownShares]]);
    expect(account().redeem(0n)).toEqual([]);
  });

  it('without a resolution and with ambiguous amounts records the payout with the first outcome', () => {
    const wallet = account();
    wallet.buy(YES, 100n, 60n);
    wallet.buy(NO, 100n, 30n);
    expect(wallet.redeem(100n, { numerators: null })).toEqual([
      [YES, -100n, 100n, 0n, problems.unknownRatio],
      [NO, -100n, 0n, 0n, problems.unknownRatio],
    ]);
  });
});

describe('the average price', () => {
  it('is that of the current shares; of a closed position total paid / total bought', () => {
    const wallet = account();
    const average = () => Number(averagePrice(wallet.holding(YES))) / 1e18;
    wallet.buy(YES, 10n, 4n);
    wallet.sell(YES, 10n, 5n);
    expect(average()).toBe(0.4);
    wallet.buy(YES, 30n, 24n);
    expect(average()).toBe(0.8);
    wallet.sell(YES, 30n, 20n);
    // 28 USD paid for 40 shares.
    expect(average()).toBe(0.7);
  });

  it('of a position from before the sum was recorded is the last average', () => {
    const wallet = account();
    wallet.buy(YES, 10n, 4n);
    wallet.holding(YES).bought_cost = null;
    wallet.buy(YES, 10n, 8n);
    wallet.sell(YES, 20n, 20n);
    expect(Number(averagePrice(wallet.holding(YES))) / 1e18).toBe(0.6);
  });
});
