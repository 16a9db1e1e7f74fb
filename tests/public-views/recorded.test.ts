import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRecording } from '../../ingest/shared/recorded/index.js';
import { publicViews } from '../../processors/public-views/views.js';
import { type ChainSums, chainSums } from '../support/chain-sums.js';
import type { Product } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, startLoaded } from '../support/reference-run.js';
import { describeDocument } from './document-suite.js';
import { describeHistory } from './history-suite.js';

let product: Product;
let log: ChainSums;
beforeAll(async () => {
  product = await startLoaded();
  log = await chainSums(product.dataDir);
}, REFERENCE_RUN_TIMEOUT_MS);
afterAll(async () => {
  await product?.dispose();
});

/** Rows as the analyst reads them. */
async function rowsOf<T = Record<string, string>>(sql: string): Promise<T[]> {
  const response = await fetch(`${product.clickhouse}/?default_format=JSONEachRow`, { method: 'POST', body: sql });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** Decimal text with `digits` places at most, in units of the last. */
function units(text: string | undefined, digits = 6): bigint {
  const [whole = '0', fraction = ''] = (text ?? '').split('.');
  return BigInt(whole + fraction.padEnd(digits, '0'));
}

/**
 * Taken from the recording's sources by a separate program in another language: rows and USDC (base units) of wallets whose rows bear no fee, so that a row is
 * a fill of one order and its USDC is exact.
 */
const SOURCE: Readonly<Record<string, readonly [fills: number, usdc: bigint]>> = {
  '0xf539c942036cc7633a1e0015209a1343e9b2dda9 BUY': [1484, 5_440_807_703n],
  '0xf539c942036cc7633a1e0015209a1343e9b2dda9 SELL': [1879, 7_139_840_700n],
};

describe('the public views of the recorded history', () => {
  it('return the same rows when analysts change settings of the meaning of SQL', async () => {
    const settings = `SETTINGS ${['join_use_nulls', 'group_by_use_nulls', 'aggregate_functions_null_for_empty', 'transform_null_in', 'prefer_column_name_to_alias', 'cast_keep_nullable'].map((name) => `${name} = 1`).join(', ')}`;
    for (const { name } of publicViews) {
      const one = await rowsOf(`SELECT * FROM ${name} LIMIT 1`);
      expect(await rowsOf(`SELECT * FROM ${name} LIMIT 1 ${settings}`), name).toHaveLength(one.length);
    }
    // Days without records are known by the defaults of a join.
    const days = 'SELECT day, source, state, why FROM coverage ORDER BY day, source, why';
    const plain = await rowsOf(days);
    expect(plain.map(({ state }) => state)).toContain('missing');
    expect(await rowsOf(`${days} ${settings}`)).toEqual(plain);
  });

  it('count the volume of each day once per match and once per party, as the log does', async () => {
    const rows = await rowsOf(
      'SELECT day, matches, toString(match_usd) AS usd, parties, toString(party_usd) AS both, toString(fee_usd) AS fee FROM volume_days',
    );
    const found = new Map(
      rows.map((row) => [
        row.day,
        {
          matches: Number(row.matches),
          usdc: units(row.usd),
          parties: Number(row.parties),
          partyUsdc: units(row.both),
          fee: units(row.fee),
        },
      ]),
    );
    expect(found.size).toBe(7);
    expect(found).toEqual(log.days);
    const totals = await rowsOf(
      'SELECT (SELECT toString(sum(match_usd)) FROM trades) AS matched, (SELECT toString(sum(party_usd)) FROM trade_parties) AS traded, (SELECT count() FROM trades) AS n',
    );
    const days = [...log.days.values()];
    expect(units(totals[0]?.matched)).toBe(days.reduce((sum, { usdc }) => sum + usdc, 0n));
    expect(units(totals[0]?.traded)).toBe(days.reduce((sum, { partyUsdc }) => sum + partyUsdc, 0n));
    expect(Number(totals[0]?.n)).toBe(days.reduce((sum, { matches }) => sum + matches, 0));
  });

  it('give every wallet its fills, shares, USD and fees by side and role', async () => {
    const rows = await rowsOf(
      `SELECT concat(wallet, ' ', side, if(is_taker, ' taker', ' maker')) AS who, count() AS n, toString(sum(party_usd)) AS usd, toString(sum(shares)) AS amount,
         toString(sum(fee_usd)) AS fee FROM trade_parties GROUP BY who`,
    );
    const found = new Map(
      rows.map((row) => [
        row.who,
        { fills: Number(row.n), usdc: units(row.usd), shares: units(row.amount), fee: units(row.fee) },
      ]),
    );
    expect(found.size).toBeGreaterThan(500);
    expect(found).toEqual(log.parties);
    for (const [who, [fills, usdc]] of Object.entries(SOURCE)) {
      const roles = [found.get(`${who} maker`), found.get(`${who} taker`)];
      expect(
        roles.reduce((sum, role) => sum + (role?.fills ?? 0), 0),
        who,
      ).toBe(fills);
      expect(
        roles.reduce((sum, role) => sum + (role?.usdc ?? 0n), 0n),
        who,
      ).toBe(usdc);
    }
  });

  it('give each wallet the same volume by day, by change of its positions and by fill', async () => {
    const [row] = await rowsOf(
      `SELECT (SELECT toString(sum(party_usd)) FROM wallet_days) AS days, (SELECT toString(sum(party_usd)) FROM pnl_events) AS changes,
         (SELECT toString(sum(realized_pnl_usd)) FROM wallet_days) AS day_pnl, (SELECT toString(sum(realized_pnl_usd)) FROM pnl_events) AS change_pnl`,
    );
    const all = [...log.days.values()].reduce((sum, { partyUsdc }) => sum + partyUsdc, 0n);
    expect([units(row?.days), units(row?.changes)]).toEqual([all, all]);
    expect(row?.day_pnl).toBe(row?.change_pnl);
  });

  it.each([
    ['candles_1m', 60],
    ['candles_5m', 300],
    ['candles_1h', 3_600],
    ['candles_1d', 86_400],
  ])('%s aggregates each match of the log once', async (view, seconds) => {
    const rows = await rowsOf(
      `SELECT concat(toString(token_id), ' ', toString(toUnixTimestamp(start_at))) AS place, toString(open) AS o, toString(high) AS h, toString(low) AS l,
         toString(close) AS c, matches, toString(match_usd) AS usd, toString(shares) AS amount FROM ${view}`,
    );
    const found = new Map(
      rows.map((row) => [
        row.place,
        {
          open: units(row.o),
          high: units(row.h),
          low: units(row.l),
          close: units(row.c),
          matches: Number(row.matches),
          usdc: units(row.usd),
          shares: units(row.amount),
        },
      ]),
    );
    expect(found.size).toBeGreaterThan(1_000);
    expect(found).toEqual(log.candles(seconds));
  });

  it('have every redemption and merge of a user, with its USD', async () => {
    const sums = async (sql: string) =>
      new Map((await rowsOf(sql)).map((row) => [row.wallet, { count: Number(row.n), usdc: units(row.usd) }]));
    expect(
      await sums('SELECT wallet, count() AS n, toString(sum(payout_usd)) AS usd FROM redemptions GROUP BY wallet'),
    ).toEqual(log.redeemed);
    expect(
      await sums(
        "SELECT wallet, count() AS n, toString(sum(amount)) AS usd FROM splits_merges WHERE kind = 'merge' GROUP BY wallet",
      ),
    ).toEqual(log.merged);
    expect(log.redeemed.size).toBeGreaterThan(3);
    expect(log.merged.size).toBeGreaterThan(3);
  });

  it("give every BTC window of the day the recording's prices and outcome", async () => {
    const recording = openRecording(join(import.meta.dirname, '..', 'recorded', 'set'));
    const prices = [...recording.ticks()];
    const at = new Map(prices.map((tick) => [tick.timestampMs / 1000, tick.priceE18]));
    const rows = new Map(
      (
        await rowsOf<Record<string, string | null>>(
          'SELECT slug, toString(open_price) AS open, toString(close_price) AS close, price_outcome, settled_outcome FROM windows',
        )
      ).map((row) => [row.slug, row]),
    );
    const counted = { strike: 0, closing: 0, decided: 0 };
    for (const market of recording.markets.slice(0, recording.meta.day.markets)) {
      const { slug, startS, endS, strikeE18, outcome } = market;
      const row = rows.get(slug);
      expect(row?.settled_outcome, slug).toBe(outcome === 0 ? 'Up' : 'Down');
      const within = prices.filter(
        ({ timestampMs }) => timestampMs >= (startS ?? 0) * 1000 && timestampMs <= (endS ?? 0) * 1000,
      );
      // By the definition, over all ticks of the window.
      expect(row?.open == null ? undefined : units(row.open, 18), slug).toBe(within[0]?.priceE18);
      expect(row?.close == null ? undefined : units(row.close, 18), slug).toBe(within.at(-1)?.priceE18);
      if (strikeE18 !== null && at.has(startS ?? 0)) {
        expect(units(row?.open ?? undefined, 18), slug).toBe(strikeE18);
        counted.strike++;
      }
      if (at.has(endS ?? 0)) counted.closing++;
      if (strikeE18 !== null && at.has(startS ?? 0) && at.has(endS ?? 0)) {
        expect(row?.price_outcome, slug).toBe(row?.settled_outcome);
        counted.decided++;
      }
    }
    // Counts of the source files: of 292 windows 271 have a tick in their last second; 271 have a price to beat, which is the tick of their first second.
    expect(counted.closing).toBe(271);
    expect(counted.strike).toBeGreaterThan(250);
    expect(counted.decided).toBeGreaterThan(240);
  });
});

describeHistory(() => product);
describeDocument(() => product);
