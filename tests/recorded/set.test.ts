import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRecording } from '../../ingest/shared/recorded/index.js';
import { conditionId, tokenPair } from '../../schemas/primitives/ids.js';

const SET = path.join(import.meta.dirname, 'set');
const recording = openRecording(SET);

type Total = readonly [rows: number, shares: number, usdc: number];
type Totals = Readonly<Record<string, Readonly<Record<string, Total>>>>;

/**
 * Rows, net shares and USDC per wallet (for the venue slice: all wallets) in base units. Computed from the source files by a separate
 * program in another language, with decimal arithmetic and half-up rounding per row.
 */
const SOURCE_TOTALS: Totals = {
  'six_wallets 0x61276aba49117fd9299707d5d573652949d5c977': {
    BUY: [39975, 1052676663259, 514251081372],
    MERGE: [501, 332702340321, 332702340321],
    REDEEM: [479, 187402217413, 187402217413],
  },
  'six_wallets 0xd111ced402bac802f74606deca83bbf6a1eaaf32': {
    BUY: [40993, 822015837761, 407222016897],
    MERGE: [344, 244577591394, 244577591394],
    REDEEM: [427, 162012726692, 162012726692],
  },
  'six_wallets 0x52f8784a81d967a3afb74d2e1608503ff5e261b9': {
    BUY: [31682, 649339924387, 318693016031],
    MERGE: [320, 208632079246, 208632079246],
    REDEEM: [337, 115516879162, 115516879162],
  },
  'six_wallets 0xa84edaf1a562eabb463dc6cf4c3e9c407a5edbeb': {
    BUY: [49908, 1474137367197, 714574271929],
    MERGE: [717, 525452262461, 525452262461],
    REDEEM: [674, 195712619303, 195712619303],
  },
  'six_wallets 0xf539c942036cc7633a1e0015209a1343e9b2dda9': {
    BUY: [1484, 19653888040, 5440807703],
    MERGE: [43, 30100000000, 30100000000],
    REDEEM: [90, 30370499320, 30370499320],
    SELL: [1879, 26999140000, 7139840700],
  },
  'six_wallets 0x37c94ea1b44e01b18a1ce3ab6f8002bd6b9d7e6d': {
    BUY: [5950, 127563504234, 46481040307],
    MERGE: [358, 358000000000, 358000000000],
    REDEEM: [358, 348736738364, 348736738364],
    SELL: [8482, 164244590000, 54976990010],
  },
  'galindrast 0xeebde7a0e019a63e6b476eb425505b7b3e6eba30': {
    BUY: [3299, 130494944594, 81853163734],
    MERGE: [24, 33212963948, 33212963948],
    REDEEM: [24, 37773777061, 37773777061],
    SELL: [153, 6608267389, 939034613],
  },
  'wallet_d0d6 0xd0d6053c3c37e727402d84c14069780d360993aa': {
    BUY: [2972, 69758186712, 27841584857],
    REDEEM: [56, 23014045079, 23014045079],
    SELL: [472, 11255426226, 2699331273],
  },
  venue_slice: { BUY: [429, 42280509360, 18753187315], SELL: [71, 2054210000, 1359944790] },
};

/** Net shares and USDC per source wallet and kind, from the committed columns. */
function totalsOfSet(): Map<string, [shares: number, usdc: number]> {
  const c = recording.chain();
  const totals = new Map<string, [number, number]>();
  let action = 0;
  let match = 0;
  let leg = 0;
  let known = 0;
  let user = 0;
  for (let tx = 0; tx < c.timeS.length; tx++) {
    const source = recording.meta.sources[c.source[tx]!]!;
    const add = (wallet: number, kind: string, shares: number, usdc: number) => {
      const key = source === 'venue_slice' ? `${source} ${kind}` : `${source} ${c.wallets[wallet]} ${kind}`;
      const total = totals.get(key) ?? [0, 0];
      totals.set(key, [total[0] + shares, total[1] + usdc]);
    };
    for (let i = 0; i < c.actions[tx]!; i++, action++) {
      if (c.kind[action] !== 0) {
        add(c.userWallet[user]!, c.kind[action] === 1 ? 'MERGE' : 'REDEEM', c.userAmount[user]!, c.userAmount[user]!);
        user += 1;
        continue;
      }
      if (c.takerWallet[match] !== 0) {
        const buys = c.takerBits[known]! >> 1 === 0;
        const fee = c.takerFee[known]!;
        const shares = c.takerShares[known]! - (buys ? fee : 0);
        const usdc = c.takerUsdc[known]! - (buys ? 0 : fee);
        add(c.takerWallet[match]! - 1, buys ? 'BUY' : 'SELL', shares, usdc);
        known += 1;
      }
      for (let j = 0; j < c.makers[match]!; j++, leg++) {
        if (c.legWallet[leg] === 0) continue;
        add(c.legWallet[leg]! - 1, c.legBits[leg]! >> 1 === 0 ? 'BUY' : 'SELL', c.legShares[leg]!, c.legUsdc[leg]!);
      }
      match += 1;
    }
  }
  return totals;
}

describe('the recorded set', () => {
  it('stays below 15 MB, every file below 2 MB', () => {
    const sizes = readdirSync(import.meta.dirname, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(path.join(entry.parentPath, entry.name)).size);
    expect(Math.max(...sizes)).toBeLessThan(2_000_000);
    expect(sizes.reduce((a, b) => a + b, 0)).toBeLessThan(15_000_000);
  });

  it('contains every row of the sources except the four without a market', () => {
    const counts = recording.meta.counts as { rows: Record<string, number>; rows_left_out: number };
    expect(counts.rows).toEqual({ six_wallets: 185_001, galindrast: 3500, wallet_d0d6: 3500, venue_slice: 500 });
    expect(counts.rows_left_out).toBe(4);
  });

  it('preserves shares and USDC of every wallet', () => {
    const added = recording.meta.counts.usdc_added_by_wallet as Record<string, number>;
    const { wallets } = recording.chain();
    const totals = totalsOfSet();
    const expected = new Map<string, [number, number]>();
    for (const [owner, kinds] of Object.entries(SOURCE_TOTALS)) {
      const index = wallets.findIndex((wallet) => owner === `six_wallets ${wallet}`);
      // The USDC of a buy with known makers is the amount that they received: the source multiplies by a size net of the share fee.
      for (const [kind, [, shares, usdc]] of Object.entries(kinds))
        expected.set(`${owner} ${kind}`, [shares, usdc + (kind === 'BUY' ? (added[index] ?? 0) : 0)]);
    }
    // The six wallets' rows do not distinguish merges from redemptions, so the sources have only their sum.
    const withoutSide = (sums: ReadonlyMap<string, readonly [number, number]>) => {
      const merged = new Map<string, [number, number]>();
      for (const [name, [shares, usdc]] of sums) {
        const kind = name.startsWith('six_wallets') ? name.replace(/ (MERGE|REDEEM)$/, ' MERGE or REDEEM') : name;
        const [a, b] = merged.get(kind) ?? [0, 0];
        merged.set(kind, [a + shares, b + usdc]);
      }
      return Object.fromEntries(merged);
    };
    expect(withoutSide(totals)).toEqual(withoutSide(expected));
  });

  it('contains every transaction once', () => {
    const { hashes, timeS } = recording.chain();
    const seen = new Set(
      Array.from({ length: timeS.length }, (_, i) => hashes.toString('latin1', i * 32, i * 32 + 32)),
    );
    expect(seen.size).toBe(timeS.length);
    expect(timeS.every((time, i) => i === 0 || time >= timeS[i - 1]!)).toBe(true);
  });

  it('has condition and token ids that match on every market', () => {
    for (const market of recording.markets) {
      const collateral = market.negRisk
        ? '0x3a3bd7bb9528e159577f7c2e685cc81a765002e2'
        : '0x2791bca1f2de4661ed88a30c99a7a9449aa84174';
      const oracle = market.negRisk
        ? '0xd91e80cf2e7be2e162c6513ced06f1dd0da35296'
        : '0x58e1745bedda7312c4cddb72618923da1b90efde';
      expect(tokenPair(collateral, market.conditionId)).toEqual(market.tokenIds);
      if (market.questionId !== null)
        expect(conditionId({ oracle, questionId: market.questionId })).toBe(market.conditionId);
    }
    expect(recording.markets.filter((market) => market.negRisk).length).toBeGreaterThan(2);
  });
});

describe('ticks and windows of the recorded day', () => {
  const prices = new Map([...recording.ticks()].map((tick) => [tick.timestampMs / 1000, tick.priceE18]));
  const day = recording.markets.slice(0, recording.meta.day.markets);

  it('contain every tick at full precision', () => {
    expect(prices.size).toBe(78_515);
    let sum = 0n;
    let seconds = 0;
    for (const [second, price] of prices) {
      sum += price;
      seconds += second;
    }
    // Sums computed from the source file by another program.
    expect(sum).toBe(5076099149941574926475000000n);
    expect(seconds).toBe(140140998487437);
    expect(prices.get(1784851200)).toBe(65048078902260626000000n);
  });

  it('open every window with the tick at its start if both are recorded', () => {
    const both = day.filter((market) => market.strikeE18 !== null && prices.has(market.startS!));
    expect(both).toHaveLength(271);
    for (const market of both) expect(prices.get(market.startS!)).toBe(market.strikeE18);
    expect(day.filter((market) => market.strikeE18 === null)).toHaveLength(18);
  });

  it('resolve every window by its closing tick, except for the documented gaps', () => {
    const withStrike = day.filter((market) => market.strikeE18 !== null);
    const closed = withStrike.filter((market) => prices.has(market.endS!));
    expect(withStrike.length - closed.length).toBe(17);
    expect(closed).toHaveLength(257);
    for (const market of closed) {
      expect(market.outcomeFrom).toBe('recorded');
      expect(market.outcome).toBe(prices.get(market.endS!)! >= market.strikeE18! ? 0 : 1);
    }
  });

  it('cover the day without a gap', () => {
    const starts = day.map((market) => market.startS!);
    expect(starts).toEqual(Array.from({ length: 292 }, (_, i) => 1784850900 + i * 300));
  });
});
