import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addresses } from '../contracts.js';
import type { Hex } from '../source.js';
import { hash, wallet } from './build.fixture.js';
import { calldata, OPERATOR, orderV1, orderV2, type TestOrder, transaction } from './orders.fixture.js';
import { decodePending } from './pending.js';

const usd = (amount: number): bigint => BigInt(Math.round(amount * 1e6));
const CONDITION = hash('c0');

const taker: TestOrder = {
  maker: wallet('aa'),
  signer: wallet('a1'),
  tokenId: 111n,
  makerAmount: usd(60),
  takerAmount: usd(100),
  side: 0,
  signatureType: 2,
};
/** Sells 50 at 0.55. */
const seller: TestOrder = {
  maker: wallet('bb'),
  signer: wallet('b1'),
  tokenId: 111n,
  makerAmount: usd(50),
  takerAmount: usd(27.5),
  side: 1,
  signatureType: 1,
};
/** Buys 50 of the opposite token at 0.40. */
const opposite: TestOrder = {
  maker: wallet('cc'),
  signer: wallet('cc'),
  tokenId: 222n,
  makerAmount: usd(20),
  takerAmount: usd(50),
  side: 0,
  signatureType: 0,
};

function settlement(to: Hex, input: Hex) {
  const result = decodePending(transaction(to, input), 1_790_000_000_123);
  if (result === null || !('settlement' in result)) throw new Error(`not a settlement: ${JSON.stringify(result)}`);
  return result.settlement;
}

function problem(to: Hex, input: Hex): string {
  const result = decodePending(transaction(to, input), 0);
  if (result === null || !('problem' in result)) throw new Error('not a problem');
  return result.problem;
}

const v2Call = (takerOrder: TestOrder, makers: TestOrder[], fill: bigint, fills: bigint[], fee = 0n, fees?: bigint[]) =>
  calldata('matchOrdersV2', [
    CONDITION,
    orderV2(takerOrder),
    makers.map(orderV2),
    fill,
    fills,
    fee,
    fees ?? fills.map(() => 0n),
  ]);

describe('pending settlements of exchange V2', () => {
  it('a buyer against a seller and, by a mint, a buyer of the other token', () => {
    const input = v2Call(taker, [seller, opposite], usd(36), [usd(40), usd(8)], 12_340n, [0n, 7n]);
    const found = settlement(addresses.exchangeV2NegRiskA, input);
    expect(found).toMatchObject({
      id: `settlement-0x${'9d'.repeat(32)}`,
      detected_at_ms: 1_790_000_000_123,
      exchange: addresses.exchangeV2NegRiskA,
      exchange_version: 2,
      neg_risk: true,
      condition_id: CONDITION,
      taker_wallet: wallet('aa'),
      taker_token: '111',
      taker_side: 'BUY',
      // 40 from the seller for 22, 20 minted of which the other buyer pays 8.
      taker_shares: usd(60),
      taker_usdc: usd(34),
      taker_fee: 12_340n,
    });
    const { trades } = found;
    expect(trades).toHaveLength(3);
    expect(trades[0]).toMatchObject({
      maker: wallet('bb'),
      signer: wallet('b1'),
      taker: wallet('aa'),
      token_id: '111',
      side: 'SELL',
      usdc: usd(22),
      shares: usd(40),
      maker_amount: usd(40),
      taker_amount: usd(22),
      fee: 0n,
    });
    expect(trades[1]).toMatchObject({
      maker: wallet('cc'),
      signer: wallet('cc'),
      token_id: '222',
      side: 'BUY',
      usdc: usd(8),
      shares: usd(20),
      maker_amount: usd(8),
      taker_amount: usd(20),
      fee: 7n,
    });
    // The log repeats the whole fill amount, refund included.
    expect(trades[2]).toMatchObject({
      maker: wallet('aa'),
      signer: wallet('a1'),
      taker: wallet('aa'),
      token_id: '111',
      side: 'BUY',
      usdc: usd(34),
      shares: usd(60),
      maker_amount: usd(36),
      taker_amount: usd(60),
      fee: 12_340n,
    });
  });

  it('a buyer against sellers only: the log shows the computed sum', () => {
    const found = settlement(addresses.exchangeV2, v2Call(taker, [seller], usd(24), [usd(40)]));
    expect(found.trades.at(-1)).toMatchObject({ usdc: usd(22), maker_amount: usd(22), taker_amount: usd(40) });
    expect(found.neg_risk).toBe(false);
  });

  it('a seller against buyers only: shares are what they take', () => {
    const selling = { ...taker, side: 1, makerAmount: usd(100), takerAmount: usd(50) } as const;
    const buyer = { ...opposite, tokenId: 111n, makerAmount: usd(20), takerAmount: usd(30) } as const;
    const found = settlement(addresses.exchangeV2, v2Call(selling, [buyer], usd(16), [usd(10)]));
    expect(found).toMatchObject({ taker_side: 'SELL', taker_usdc: usd(10), taker_shares: usd(15) });
    expect(found.trades.at(-1)).toMatchObject({ maker_amount: usd(15), taker_amount: usd(10) });
  });

  it('a seller against a seller of the other token, by a merge: gets the remainder of each full set', () => {
    const selling = { ...taker, side: 1, makerAmount: usd(100), takerAmount: usd(30) } as const;
    const other = { ...seller, tokenId: 222n, makerAmount: usd(50), takerAmount: usd(30) } as const;
    const found = settlement(addresses.exchangeV2, v2Call(selling, [other], usd(25), [usd(25)]));
    // The other seller takes 15 of 25.
    expect(found).toMatchObject({ taker_usdc: usd(10), taker_shares: usd(25) });
    expect(found.trades[0]).toMatchObject({ usdc: usd(15), shares: usd(25), side: 'SELL' });
    expect(found.trades[1]).toMatchObject({ maker_amount: usd(25), taker_amount: usd(10) });
  });

  it('rounds the received amount of a maker down', () => {
    const third = { ...seller, makerAmount: 3n, takerAmount: 2n };
    const found = settlement(addresses.exchangeV2, v2Call(taker, [third], usd(1), [2n]));
    expect(found.trades[0]).toMatchObject({ shares: 2n, usdc: 1n });
  });

  it('has the order hash of the deployed exchange, and the signer by signature type', () => {
    // Values of an order whose hash is published; its maker signs for itself, its type 2 form names an owner.
    const order = { ...taker, maker: wallet('22'), signer: wallet('11'), tokenId: 777n, makerAmount: usd(30) } as const;
    const known: TestOrder = { ...order, takerAmount: usd(50), side: 0, signatureType: 2 };
    const found = settlement(addresses.exchangeV2, v2Call(known, [seller], usd(1), [usd(1)]));
    expect(found.trades.at(-1)).toMatchObject({
      order_hash: '0xd4df801d473c3e61d43ab9e63906e8dd1bfd8ff48d4a019de57b3c8ac87cdcce',
      signer: wallet('11'),
    });
    for (const [signatureType, signer] of [
      [0, wallet('22')],
      [1, wallet('11')],
      [3, wallet('22')],
    ] as const) {
      const call = v2Call({ ...known, signatureType }, [seller], usd(1), [usd(1)]);
      expect(settlement(addresses.exchangeV2, call).trades.at(-1)?.signer).toBe(signer);
    }
  });
});

describe('pending settlements of exchange V1', () => {
  it('through the FeeModule: fees of buyers are shares, shown in USDC', () => {
    const input = calldata('matchOrdersFeeModule', [
      orderV1(taker),
      [orderV1(seller), orderV1(opposite)],
      usd(36),
      usd(60),
      [usd(40), usd(8)],
      usd(0.6),
      [usd(0.25), usd(0.5)],
    ]);
    const found = settlement(addresses.feeModule, input);
    expect(found).toMatchObject({ exchange: addresses.exchangeV1, exchange_version: 1, condition_id: null });
    // 0.6 shares at 34/60 = 0.34 USDC; the seller's 0.25 is USDC; 0.5 shares at 8/20 = 0.20 USDC.
    expect(found.taker_fee).toBe(usd(0.34));
    expect(found.trades.map((trade) => trade.fee)).toEqual([usd(0.25), usd(0.2), usd(0.34)]);
    expect(found.trades.at(-1)).toMatchObject({ maker_amount: usd(36), taker_amount: usd(60), usdc: usd(34) });
  });

  it('hashes against the exchange, not the FeeModule', () => {
    const known: TestOrder = {
      maker: wallet('22'),
      signer: wallet('11'),
      tokenId: 777n,
      makerAmount: usd(30),
      takerAmount: usd(50),
      side: 0,
      signatureType: 2,
    };
    const input = calldata('matchOrdersFeeModuleOld', [orderV1(known), [orderV1(seller)], 5n, [usd(1)], 0n, [0n]]);
    expect(settlement(addresses.feeModuleOld, input).trades.at(-1)?.order_hash).toBe(
      '0x8dc0398cf2b728b08f145fab83b3573b13677654369b6fe1d01a4df4681d8447',
    );
    expect(settlement(addresses.feeModuleOldNegRisk, input)).toMatchObject({
      exchange: addresses.exchangeV1NegRisk,
      neg_risk: true,
    });
  });

  it('through the oldest FeeModule: makers pay the given rate, the taker its own', () => {
    const input = calldata('matchOrdersFeeModuleRate', [
      orderV1({ ...taker, feeRateBps: 100n }),
      [orderV1({ ...seller, feeRateBps: 1000n })],
      usd(22),
      [usd(40)],
      200n,
    ]);
    const found = settlement(addresses.feeModuleOld, input);
    // Maker: 0.02 x min(0.55, 0.45) x 40 = 0.36. Taker at 22/40 = 0.55: 0.01 x 0.45 x 40 / 0.55 shares x 0.55 = 0.18, less rounding.
    expect(found.trades[0]?.fee).toBe(usd(0.36));
    expect(usd(0.18) - found.taker_fee).toBeLessThanOrEqual(1n);
    expect(found.taker_fee).toBeLessThanOrEqual(usd(0.18));
  });

  it('sent to the exchange: each order pays its own rate', () => {
    const selling = { ...taker, side: 1, makerAmount: usd(100), takerAmount: usd(30) } as const;
    const buyer = { ...opposite, tokenId: 111n, makerAmount: usd(20), takerAmount: usd(50), feeRateBps: 0n } as const;
    const input = calldata('matchOrdersV1', [
      orderV1({ ...selling, feeRateBps: 100n }),
      [orderV1(buyer)],
      usd(26),
      [usd(10)],
    ]);
    const found = settlement(addresses.exchangeV1, input);
    // V1 logs the whole fill amount; fee 0.01 x min(10/26, 16/26) x 26 = 0.10.
    expect(found).toMatchObject({ taker_shares: usd(26), taker_usdc: usd(10) });
    expect(usd(0.1) - found.taker_fee).toBeLessThanOrEqual(1n);
    expect(found.trades[0]?.fee).toBe(0n);
  });

  it('fillOrder(s): the caller is the taker of every order and has no row', () => {
    const one = settlement(addresses.exchangeV1, calldata('fillOrderV1', [orderV1(seller), usd(40)]));
    expect(one).toMatchObject({
      taker_wallet: OPERATOR,
      taker_side: 'BUY',
      taker_usdc: usd(22),
      taker_shares: usd(40),
    });
    expect(one.trades).toHaveLength(1);
    expect(one.trades[0]).toMatchObject({ maker: wallet('bb'), taker: OPERATOR, side: 'SELL' });
    const two = settlement(
      addresses.exchangeV1,
      calldata('fillOrdersV1', [
        [orderV1(seller), orderV1(seller)],
        [usd(40), usd(2)],
      ]),
    );
    expect(two).toMatchObject({ taker_usdc: usd(23.1), taker_shares: usd(42) });
    expect(two.trades).toHaveLength(2);
  });
});

describe('pending settlements of exchange V3', () => {
  const position = (0x03n << 248n) | (0xabcdefn << 120n) | 1n;
  const combo = { ...taker, tokenId: position };
  const amounts = { takerFillAmount: usd(36), takerReceiveAmount: usd(60), takerFeeAmount: 5n };
  const args = [
    orderV2(combo),
    [orderV2({ ...seller, tokenId: position }), orderV2(opposite)],
    [usd(40), usd(8)],
    [0n, 0n],
    amounts,
  ];

  it.each([
    ['matchOrdersV3', args],
    ['matchOrdersAndPrepareCombinatorialV3', [...args, [7n, 8n, 9n]]],
  ] as const)('%s', (name, given) => {
    const found = settlement(addresses.exchangeV3, calldata(name, given));
    expect(found).toMatchObject({
      exchange_version: 3,
      condition_id: `0x${position.toString(16).padStart(64, '0').slice(0, 62)}`,
      taker_usdc: usd(34),
      taker_shares: usd(60),
      taker_fee: 5n,
    });
    // What is refunded is taken off the logged amount.
    expect(found.trades.at(-1)).toMatchObject({ maker_amount: usd(34), taker_amount: usd(60) });
  });
});

describe('calldata that is not a settlement', () => {
  const input = v2Call(taker, [seller], usd(24), [usd(40)]);

  it('is detected by recipient before selector', () => {
    expect(decodePending(transaction(wallet('ee'), input), 0)).toBeNull();
    expect(decodePending(transaction(addresses.exchangeV1, input), 0)).toBeNull();
    expect(decodePending(transaction(addresses.feeModule, input), 0)).toBeNull();
    expect(decodePending(transaction(addresses.exchangeV3, input), 0)).toBeNull();
    expect(decodePending(transaction(addresses.exchangeV2, '0xe3a5ced5'), 0)).toBeNull();
    expect(decodePending(transaction(addresses.exchangeV2, '0x'), 0)).toBeNull();
    expect(decodePending({ ...transaction(addresses.exchangeV2, input), to: null }, 0)).toBeNull();
  });

  it.each([
    ['no makers', v2Call(taker, [], usd(1), []), 'no maker orders'],
    ['too few fills', v2Call(taker, [seller, seller], usd(1), [usd(1)], 0n, [0n, 0n]), 'differ in length'],
    ['too few fees', v2Call(taker, [seller], usd(1), [usd(1)], 0n, []), 'differ in length'],
    ['a fill beyond the order', v2Call(taker, [seller], usd(1), [usd(51)]), 'exceeds the order'],
    ['a taker fill exceeds the order', v2Call(taker, [seller], usd(61), [usd(1)]), 'exceeds the order'],
    ['an empty order', v2Call(taker, [{ ...seller, makerAmount: 0n }], usd(1), [0n]), 'zero'],
    ['an absurd price', v2Call(taker, [{ ...opposite, takerAmount: 1n }], usd(1), [usd(8)]), 'full set'],
    ['no shares', v2Call(taker, [seller], usd(1), [0n]), 'without shares'],
    [
      'amounts beyond 64 bits',
      v2Call({ ...taker, makerAmount: 2n ** 200n }, [{ ...seller, makerAmount: 2n ** 65n }], 1n, [2n ** 64n]),
      '64 bits',
    ],
    [
      'an unknown signature type',
      v2Call({ ...taker, signatureType: 4 as never }, [seller], 1n, [usd(1)]),
      'signature type',
    ],
    ['a third side', v2Call({ ...taker, side: 2 as never }, [seller], 1n, [usd(1)]), 'side'],
    ['half a byte', `${v2Call(taker, [seller], 1n, [usd(1)])}0` as Hex, 'odd number of hex digits'],
  ])('is a problem: %s', (_name, call, reason) => {
    expect(problem(addresses.exchangeV2, call)).toContain(reason);
  });

  it('never throws on truncated or overwritten calldata or wrong offsets', () => {
    const whole = v2Call(taker, [seller, opposite, seller], usd(24), [usd(4), usd(1), usd(4)]);
    const words = (whole.length - 10) / 64;
    const evil = fc.oneof(
      fc.constant('f'.repeat(64)),
      fc.nat({ max: words * 32 }).map((n) => n.toString(16).padStart(64, '0')),
      fc.nat().map((n) => n.toString(16).padStart(64, '0')),
      fc.constant('g'.repeat(64)),
      fc.constant('ffffffff'.padStart(64, '0')),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: words - 1 }), evil), { maxLength: 5 }),
        fc.nat({ max: whole.length }),
        fc.boolean(),
        (changes, cut, cutting) => {
          let text: string = whole;
          for (const [index, value] of changes) {
            const start = 10 + index * 64;
            text = text.slice(0, start) + value + text.slice(start + 64);
          }
          const input = (cutting ? text.slice(0, Math.max(10, cut)) : text) as Hex;
          const result = decodePending(transaction(addresses.exchangeV2, input), 0);
          expect(result).not.toBeNull();
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('bounds the work for arrays whose items all refer to one order', () => {
    const many = Array.from({ length: 501 }, () => seller);
    expect(
      problem(
        addresses.exchangeV2,
        v2Call(
          taker,
          many,
          1n,
          many.map(() => 1n),
        ),
      ),
    ).toContain('more than 500');
  });
});
