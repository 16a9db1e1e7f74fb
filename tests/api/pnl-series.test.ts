import { afterAll, beforeAll, expect, it } from 'vitest';
import { createResponseCache } from '../../api/cache/response-cache.js';
import type { Period } from '../../api/pnl-series/series.js';
import { createReaders, type Readers } from '../../api/readers.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { activityOf, insertAccounts } from '../support/positions.js';
import { address, fillRow, hex32, insertFills, marketRow, tokenRows } from '../support/rows.js';
import { comboYes } from '../support/venue.js';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** Twenty minutes past an hour. */
const T = 1_790_000_400;

let engine: TestClickHouse;
let nowMs = T * 1000;
let readers: Readers;

beforeAll(async () => {
  engine = await startMigratedClickHouse();
  const tables = createClickHouseTables(engine.client);
  readers = createReaders({
    tables,
    cache: createResponseCache({ nowMs: () => nowMs }),
    nowMs: () => nowMs,
    cachedMarkets: 1_000,
  });
  await insertVenue();
  await insertLarge();
});
afterAll(() => engine.stop());

// Wallets of many positions: one share of each token for 0.40 USD, bought within the hour from T on; quotes of 0.50 now.

/** More rows of holdings than one slice. */
const TOKENS = 60_000;
const sizes = [1, 1_000, TOKENS];
const largeWallet = (positions: number) => `0x${String(positions).padStart(40, '0')}`;

async function insertLarge(): Promise<void> {
  for (const positions of sizes) {
    await engine.client.command(`INSERT INTO pnl_events (wallet, token_id, id, leg, block_number, log_index, timestamp, action, shares, usdc, cash, cost, size_after, cost_after, _offset)
      SELECT '${largeWallet(positions)}', number + 1000, toString(number), 0, 100 + intDiv(number, 1000), number % 1000, toDateTime(${T} + number % ${HOUR_S}, 'UTC'), 'BUY',
        1000000, 400000, -400000, 400000, 1000000, 400000, number FROM numbers(${positions})`);
    await engine.client.command(`INSERT INTO positions (wallet, token_id, size, cost, _offset)
      SELECT '${largeWallet(positions)}', number + 1000, 1000000, 400000, number FROM numbers(${positions})`);
  }
  await engine.client.command(`INSERT INTO token_quotes (token_id, price, updated_at, _offset)
    SELECT number + 1000, 0.5, toDateTime64(${T}, 3, 'UTC'), number FROM numbers(${TOKENS})`);
}

it.each(sizes)('PnL series of %s positions is complete for any wallet size', async (positions) => {
  nowMs = (T + 3 * HOUR_S) * 1000;
  // 0; at cost, since no price of that time is known; at the quotes.
  expect(await readers.pnlSeries(largeWallet(positions), { stepS: 2 * HOUR_S, points: 3 }, 'account')).toEqual([
    { atS: T - HOUR_S, pnl: 0n },
    { atS: T + HOUR_S, pnl: 0n },
    { atS: T + 3 * HOUR_S, pnl: BigInt(positions) * 100_000n },
  ]);
});

// A small venue; expected series are computed from its trades.

const pairs = [
  ['71', '72'],
  ['73', '74'],
] as const;
/** The last token is not in the catalogue. */
const traded = [...pairs.flat(), '75'];
const conditionOf = (pair: number) => hex32(0xc0 + pair);
const SETTLED_S = T - 3 * DAY_S - 777;
const FIRST_S = T - 40 * DAY_S;
const LAST_S = T + 100;

interface Trade {
  readonly wallet: string;
  readonly token: string;
  readonly atS: number;
  readonly action: 'BUY' | 'SELL';
  readonly shares: bigint;
  /** 1e-2 USD. */
  readonly cents: bigint;
  readonly fee: bigint;
}

const active = address(0xa1);
const quiet = address(0xb2);
const trades: Trade[] = [];
/** Park and Miller's minimal generator. */
let seed = 20_260_101;
const upTo = (limit: number): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % limit;
};

/** Random trades of a wallet in time order, except for buys that arrive late. */
function trade(wallet: string, token: string, atS: number, isLate = false): void {
  const position = trades
    .filter((one) => one.wallet === wallet && one.token === token)
    .reduce((sum, one) => (one.action === 'BUY' ? sum + one.shares : sum - one.shares), 0n);
  const wanted = BigInt(1 + upTo(50)) * 1_000_100n;
  const sells = !isLate && position > 0n && upTo(3) === 0;
  const shares = sells && wanted > position ? position : wanted;
  const cents = BigInt(2 + upTo(96));
  trades.push({ wallet, token, atS, action: sells ? 'SELL' : 'BUY', shares, cents, fee: BigInt(upTo(2) * 12_345) });
}

const usdcOf = ({ shares, cents }: Trade): bigint => (shares * cents) / 100n;
let insertedTrades = 0;
/** All trades by time. */
let ordered: readonly Trade[] = [];
/** Inserts trades that are not in the tables yet, and the resulting positions, as the sinks do: offsets only grow. */
async function insertNewTrades(): Promise<void> {
  const { client } = engine;
  ordered = [...trades].sort((a, b) => a.atS - b.atS);
  const fresh = new Set(trades.slice(insertedTrades));
  const rows = ordered.flatMap((one, n) =>
    fresh.has(one)
      ? [
          {
            ...fillRow({
              block: one.atS,
              logIndex: n,
              timestampS: one.atS,
              orderHash: hex32(n),
              txHash: hex32(n),
              side: one.action,
              tokenId: one.token,
              usdc: usdcOf(one),
              shares: one.shares,
              maker: one.wallet,
            }),
            _offset: 1_000_000 + insertedTrades * 1_000 + n,
          },
        ]
      : [],
  );
  insertedTrades = trades.length;
  await insertFills(client, rows);
  for (const table of ['positions', 'pnl_events'])
    await client.command(`DELETE FROM ${table} WHERE wallet IN ('${active}', '${quiet}')`);
  await insertAccounts(
    client,
    ordered.map((one) =>
      activityOf({
        wallet: one.wallet,
        block_number: one.atS,
        timestamp_ms: one.atS * 1000,
        action: one.action,
        tokens: [one.token],
        amounts: [one.shares],
        usdc: usdcOf(one),
        fee: one.fee,
      }),
    ),
  );
}

async function insertVenue(): Promise<void> {
  const { client } = engine;
  for (const [n, tokenIds] of pairs.entries()) {
    const market = { conditionId: conditionOf(n), id: `m${n}`, slug: `m-${n}`, question: `M ${n}?`, tokenIds };
    await client.insertRows('markets', [marketRow(market)]);
    await client.insertRows('tokens', tokenRows(market));
  }
  await client.command(`INSERT INTO resolutions (condition_id, block_number, log_index, timestamp, payout_numerators, _offset)
    VALUES ('${conditionOf(1)}', 5, 0, ${SETTLED_S}, [1, 3], 1)`);
  await client.command(`INSERT INTO token_settlements (token_id, condition_id, outcome_index, numerator, denominator, timestamp, _offset)
    SELECT toUInt256(73 + number), '${conditionOf(1)}', number, if(number = 0, 1, 3), 4, ${SETTLED_S}, number FROM numbers(2)`);
  await client.command(`INSERT INTO token_quotes (token_id, price, updated_at, _offset)
    SELECT toUInt256(71 + number), if(number = 0, 0.31, 0.69), toDateTime64(${T}, 3, 'UTC'), number FROM numbers(2)`);
  // Half of them in the last two days.
  const times = Array.from({ length: 400 }, () =>
    upTo(2) === 0 ? FIRST_S + upTo(LAST_S - FIRST_S) : LAST_S - upTo(2 * DAY_S),
  ).sort((a, b) => a - b);
  for (const [n, atS] of times.entries())
    trade(n % 9 === 0 ? quiet : active, traded[upTo(traded.length)] as string, atS);
  await insertNewTrades();
}

const halfUp = (amount: bigint, one: bigint): bigint => (amount * 2n + one) / (one * 2n);

/** Price of a token at a time, 1e-6 USD; null before the end of the first hour in which it or its complement traded. */
function valueAt(token: string, atS: number, isNow: boolean): bigint | null {
  const pair = pairs.findIndex((tokens) => (tokens as readonly string[]).includes(token));
  if (pair === 1 && SETTLED_S <= atS) return token === '73' ? 250_000n : 750_000n;
  if (isNow && pair === 0) return token === '71' ? 310_000n : 690_000n;
  const overS = isNow ? Number.POSITIVE_INFINITY : Math.floor(atS / HOUR_S) * HOUR_S;
  const either: readonly string[] = pairs[pair] ?? [token];
  const last = ordered.findLast((one) => one.atS < overS && either.includes(one.token));
  if (last === undefined) return null;
  const price = halfUp(usdcOf(last) * 1_000_000n, last.shares);
  return last.token === token ? price : 1_000_000n - price;
}

function pnlAt(wallet: string, atS: number, isNow: boolean): bigint {
  let pnl = 0n;
  for (const token of traded) {
    let [size, cost] = [0n, 0n];
    for (const one of ordered) {
      if (one.wallet !== wallet || one.token !== token || one.atS > atS) continue;
      pnl += (one.action === 'BUY' ? -usdcOf(one) : usdcOf(one)) - one.fee;
      if (one.action === 'BUY') cost += usdcOf(one);
      else cost -= halfUp(cost * one.shares, size);
      size += one.action === 'BUY' ? one.shares : -one.shares;
    }
    const price = valueAt(token, atS, isNow);
    pnl += price === null ? cost : halfUp(size * price, 1_000_000n);
  }
  return pnl;
}

const periods: readonly Period[] = [
  { stepS: HOUR_S, points: 25 },
  { stepS: 3 * HOUR_S, points: 57 },
  { stepS: 18 * HOUR_S, points: 41 },
  { stepS: 12 * HOUR_S, points: null },
];

/** Realized PnL and cost are rounded once per position. */
const ROUNDING_TOLERANCE = BigInt(traded.length);
async function expectCorrectSeries(wallet: string, period: Period): Promise<void> {
  const series = (await readers.pnlSeries(wallet, period, 'account')) ?? [];
  const endS = Math.floor(nowMs / 60_000) * 60;
  const firstS = Math.min(...trades.filter((one) => one.wallet === wallet).map((one) => one.atS));
  const points = period.points ?? Math.floor((endS - firstS) / period.stepS) + 1;
  expect(series.map(({ atS }) => atS)).toEqual(
    Array.from({ length: points }, (_, n) => endS - (points - 1 - n) * period.stepS),
  );
  for (const [n, { atS, pnl }] of series.entries()) {
    const isNow = n === points - 1;
    const expected = pnlAt(wallet, isNow ? Number.POSITIVE_INFINITY : atS, isNow);
    const off = pnl - expected;
    expect(
      off <= ROUNDING_TOLERANCE && off >= -ROUNDING_TOLERANCE,
      `${wallet} ${period.stepS} ${n} of ${points}: ${pnl} v ${expected}`,
    ).toBe(true);
  }
}

it('PnL series at every minute equals the PnL of the trades so far', async () => {
  for (const minutes of [1, 2, 17, 39, 40, 41, 63, 99, 100, 119, 160, 161, 220, 400]) {
    nowMs = (T + 600 + minutes * 60) * 1000 + 7;
    for (const wallet of [active, quiet]) for (const period of periods) await expectCorrectSeries(wallet, period);
  }
});

it('PnL series includes late events', async () => {
  const [, , month, all] = periods as [Period, Period, Period, Period];
  nowMs = (T + 23 * DAY_S + 700) * 1000;
  for (const period of [month, all]) await expectCorrectSeries(active, period);
  // A late trade of another wallet changes prices, a late trade of this wallet its positions.
  trade(quiet, '71', T - 2 * DAY_S + 11, true);
  await insertNewTrades();
  nowMs += 6_000;
  for (const period of [month, all]) await expectCorrectSeries(active, period);
  trade(active, '72', T - 5 * DAY_S - 40, true);
  await insertNewTrades();
  nowMs += 6_000;
  for (const period of [month, all]) await expectCorrectSeries(active, period);
});

it('PnL series prices past points by the last trade of either outcome in full hours, the newest point by the current price', async () => {
  const [yes, no] = ['81', '82'] as const;
  const holder = address(0xc3);
  const market = { conditionId: conditionOf(7), id: 'm7', slug: 'm-7', question: 'M 7?', tokenIds: [yes, no] as const };
  await engine.client.insertRows('markets', [marketRow(market)]);
  await engine.client.insertRows('tokens', tokenRows(market));
  // T is twenty minutes past an hour.
  const hourS = T - 1_200;
  const fill = (n: number, atS: number, tokenId: string, cents: number) => ({
    ...fillRow({
      block: 900 + n,
      logIndex: 0,
      timestampS: atS,
      orderHash: hex32(900 + n),
      txHash: hex32(900 + n),
      side: 'BUY',
      tokenId,
      usdc: BigInt(cents) * 10_000n,
      shares: 1_000_000n,
      maker: address(0xc4),
    }),
    _offset: 9_000_000 + n,
  });
  await insertFills(engine.client, [
    fill(1, hourS - 5 * HOUR_S + 60, yes, 40),
    fill(2, hourS - 3 * HOUR_S + 60, no, 30),
    fill(3, hourS + 60, yes, 90),
  ]);
  await engine.client.insertRows('token_quotes', [
    {
      token_id: yes,
      condition_id: market.conditionId,
      outcome_index: 0,
      price: 0.55,
      updated_at: (T + 60) * 1000,
      _offset: 1,
    },
  ]);
  // 10 shares for 4 USD.
  await insertAccounts(engine.client, [
    activityOf({
      wallet: holder,
      block_number: 890,
      timestamp_ms: (hourS - 6 * HOUR_S) * 1000,
      action: 'BUY',
      tokens: [yes],
      amounts: [10_000_000n],
      usdc: 4_000_000n,
    }),
  ]);
  nowMs = T * 1000;
  const series = await readers.pnlSeries(holder, { stepS: HOUR_S, points: 8 }, 'account');
  expect(series?.map(({ pnl }) => pnl)).toEqual([
    // Not yet bought; twice at cost, as no hour with a trade was over; twice at 40 cents.
    0n,
    0n,
    0n,
    0n,
    0n,
    // Its complement traded at 30 cents: 70. The trade of this hour does not count until the hour is over.
    3_000_000n,
    3_000_000n,
    // The quote of now, which is newer than every trade.
    1_500_000n,
  ]);
});

it('PnL series counts received shares as 0, fee shares once all is sold, and shares sent away as sold at their cost', async () => {
  const token = '91';
  const wallet = address(0xd4);
  // T is twenty minutes past an hour; the token trades at 50 cents in the hour before the first event.
  const firstS = T - 1_200 - 8 * HOUR_S;
  await insertFills(engine.client, [
    {
      ...fillRow({
        block: 950,
        logIndex: 0,
        timestampS: firstS - HOUR_S + 60,
        orderHash: hex32(950),
        txHash: hex32(950),
        side: 'BUY',
        tokenId: token,
        usdc: 500_000n,
        shares: 1_000_000n,
        maker: address(0xd5),
      }),
      _offset: 9_100_000,
    },
  ]);
  const usd = 1_000_000n;
  const events: readonly Pick<Parameters<typeof activityOf>[0], 'action' | 'amounts' | 'usdc' | 'fee_shares'>[] = [
    { action: 'BUY', amounts: [100n * usd], usdc: 40n * usd, fee_shares: 1n * usd },
    { action: 'RECEIVE', amounts: [10n * usd] },
    { action: 'SELL', amounts: [99n * usd], usdc: 59_400_000n },
    { action: 'SELL', amounts: [10n * usd], usdc: 6n * usd },
    { action: 'BUY', amounts: [10n * usd], usdc: 3n * usd },
    { action: 'SEND', amounts: [10n * usd] },
  ];
  await insertAccounts(
    engine.client,
    events.map((event, n) =>
      activityOf({
        wallet,
        block_number: 960 + n,
        timestamp_ms: (firstS + n * HOUR_S) * 1000,
        tokens: [token],
        ...event,
      }),
    ),
  );
  nowMs = T * 1000;
  const series = await readers.pnlSeries(wallet, { stepS: HOUR_S, points: 9 }, 'account');
  expect(series?.map(({ pnl }) => Number(pnl) / 1e6)).toEqual([
    // Paid 40, 99 shares at 0.50; the received shares add nothing.
    9.5, 9.5,
    // Paid 40, received 59.40; the last sale is of shares without a cost.
    19.4, 19.4,
    // Paid 3 for 10 shares at 0.50, then sent away.
    21.4, 19.4, 19.4, 19.4, 19.4,
  ]);
});

it('returns null for a wallet without events', async () => {
  for (const period of periods) expect(await readers.pnlSeries(address(0x99), period, 'account')).toBeNull();
});

it('PnL series and equity curve of a wallet with combos are those of its markets', async () => {
  const mixed = address(0xe5);
  const buy = (atS: number, token: string, usdc: bigint) =>
    activityOf({
      wallet: mixed,
      block_number: atS,
      timestamp_ms: atS * 1000,
      action: 'BUY',
      tokens: [token],
      amounts: [10_000_000n],
      usdc,
    });
  const sell = { ...buy(T - 400, comboYes, 1_000_000n), action: 'SELL' as const };
  await insertAccounts(engine.client, [
    buy(T - 30 * DAY_S, comboYes, 5_000_000n),
    buy(T - 500, '71', 4_000_000n),
    sell,
  ]);
  nowMs = T * 1000;
  // 10 shares for 4 USD, worth 31 cents each.
  expect(await readers.pnlSeries(mixed, { stepS: 60, points: null }, 'account')).toMatchObject({
    length: 9,
    8: { pnl: -900_000n },
  });
  const filter = { fromS: null, toS: null, maxMarkets: null, includeUnrealized: false };
  expect(await readers.equity(mixed, filter)).toMatchObject({ positions: 1, raw: [{ pnl: 0n }] });
});
