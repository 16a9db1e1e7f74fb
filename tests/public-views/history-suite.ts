import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openRecording } from '../../ingest/shared/recorded/index.js';
import type { Product } from '../support/product.js';

/**
 * Rows, shares net of fees and USDC (base units) per wallet and side of the history. Computed from the source files by a separate program in
 * another language, with decimal arithmetic and half-up rounding per row. `other`: the 298 wallets of the venue slice.
 */
const SOURCE: Readonly<Record<string, readonly [rows: number, shares: bigint, usdc: bigint]>> = {
  '0x61276aba49117fd9299707d5d573652949d5c977 BUY': [14635, 360832172802n, 174142237201n],
  '0xd111ced402bac802f74606deca83bbf6a1eaaf32 BUY': [15401, 270538775964n, 132275681668n],
  '0x52f8784a81d967a3afb74d2e1608503ff5e261b9 BUY': [14680, 312251740965n, 150278107088n],
  '0xa84edaf1a562eabb463dc6cf4c3e9c407a5edbeb BUY': [21378, 562463339782n, 267931662970n],
  '0xf539c942036cc7633a1e0015209a1343e9b2dda9 BUY': [1484, 19653888040n, 5440807703n],
  '0xf539c942036cc7633a1e0015209a1343e9b2dda9 SELL': [1879, 26999140000n, 7139840700n],
  '0x37c94ea1b44e01b18a1ce3ab6f8002bd6b9d7e6d BUY': [2656, 76185229770n, 27763816897n],
  '0x37c94ea1b44e01b18a1ce3ab6f8002bd6b9d7e6d SELL': [3582, 99672540000n, 32101588280n],
  '0xeebde7a0e019a63e6b476eb425505b7b3e6eba30 BUY': [3300, 130495847374n, 81853831791n],
  '0xeebde7a0e019a63e6b476eb425505b7b3e6eba30 SELL': [153, 6608267389n, 939034613n],
  '0xd0d6053c3c37e727402d84c14069780d360993aa BUY': [2972, 69758186712n, 27841584857n],
  '0xd0d6053c3c37e727402d84c14069780d360993aa SELL': [472, 11255426226n, 2699331273n],
};
/** Two fee-bearing rows of one transaction are one taker order on the chain. */
const ROWS_JOINED = new Map([['0xeebde7a0e019a63e6b476eb425505b7b3e6eba30 BUY', 1]]);

/** Tables and API of a product with the recorded history, against sums of its source files. */
export function describeHistory(opened: () => Product): void {
  describe('the recorded history, from the log through the sinks to tables and API', () => {
    let product: Product;
    beforeAll(() => {
      product = opened();
    });

    it('has every fill of every wallet with its shares and USDC', async () => {
      const rows = await product.sql<{ who: string; n: string; shares: string; usdc: string }>(
        `SELECT concat(maker, ' ', toString(side)) AS who, toString(count()) AS n,
         toString(sum(toInt128(shares) - fee_shares)) AS shares,
         toString(sum(toInt128(usdc) - if(side = 'SELL', fee, 0))) AS usdc
       FROM fills GROUP BY maker, side`,
      );
      const byWallet = new Map(rows.map((row) => [row.who, row]));
      let added = 0n;
      for (const [who, [count, shares, usdc]] of Object.entries(SOURCE)) {
        const row = byWallet.get(who);
        expect(Number(row?.n), who).toBe(count - (ROWS_JOINED.get(who) ?? 0));
        expect(BigInt(row?.shares ?? 0), who).toBe(shares);
        const more = BigInt(row?.usdc ?? 0) - usdc;
        expect(more >= 0n && more * 1_000n < usdc, `${who}: ${more}`).toBe(true);
        added += more;
      }
      // The cost of buys whose price is known net of a share fee; tests/recorded/README.md documents the reason.
      expect(added).toBe(30_416_608n);
    });

    it('has each fill once in every copy of the table', async () => {
      const [counts] = await product.sql<Record<string, string>>(
        `SELECT count() AS fills, uniqExact(block_number, log_index) AS places,
         (SELECT count() FROM fills_by_token) AS by_token, (SELECT count() FROM fills_by_wallet) AS by_wallet,
         count() + countIf(NOT is_taker_order) AS parties FROM fills`,
      );
      expect(Number(counts?.fills)).toBe(161_236);
      expect([counts?.places, counts?.by_token]).toEqual([counts?.fills, counts?.fills]);
      expect(counts?.by_wallet).toBe(counts?.parties);
    });

    it("API returns a wallet's recorded trades page by page, and each match of a token once", async () => {
      for (const wallet of [
        '0xf539c942036cc7633a1e0015209a1343e9b2dda9',
        '0xeebde7a0e019a63e6b476eb425505b7b3e6eba30',
      ]) {
        const sums = new Map<string, { rows: number; shares: bigint }>();
        for (let offset = 0, count = 500; count === 500; offset += 500) {
          const { body } = await product.get(`/v1/wallets/${wallet}/trades?limit=500&offset=${offset}`);
          const page = body as { count: number; trades: { side: string; size: number }[] };
          count = page.count;
          for (const { side, size } of page.trades) {
            const sum = sums.get(side) ?? { rows: 0, shares: 0n };
            sums.set(side, { rows: sum.rows + 1, shares: sum.shares + BigInt(Math.round(size * 1e6)) });
          }
        }
        for (const side of ['BUY', 'SELL']) {
          const [rows, shares] = SOURCE[`${wallet} ${side}`]!;
          const joined = ROWS_JOINED.get(`${wallet} ${side}`) ?? 0;
          expect(sums.get(side), `${wallet} ${side}`).toEqual({ rows: rows - joined, shares });
        }
      }
      const [busiest] = await product.sql<{ token: string; trades: string; usdc: string; hours: string }>(
        `SELECT toString(token_id) AS token, toString(count()) AS trades, toString(sum(usdc)) AS usdc, toString(uniqExact(toStartOfHour(timestamp))) AS hours
       FROM fills WHERE NOT is_taker_order GROUP BY token_id ORDER BY count() DESC, token_id LIMIT 1`,
      );
      const volume = (await product.get(`/v2/onchain/markets/${busiest?.token}/volume`)).body as Record<string, number>;
      expect([volume.total_trades, BigInt(Math.round((volume.volume_usdc ?? 0) * 1e6))]).toEqual([
        Number(busiest?.trades),
        BigInt(busiest?.usdc ?? 0),
      ]);
      const candles = (await product.get(`/v3/markets/${busiest?.token}/candles?limit=300`)).body as {
        candles: { trades: number; volume_usd: number }[];
      };
      expect(candles.candles).toHaveLength(Number(busiest?.hours));
      expect(candles.candles.reduce((sum, candle) => sum + candle.trades, 0)).toBe(Number(busiest?.trades));
      expect(candles.candles.reduce((sum, candle) => sum + BigInt(Math.round(candle.volume_usd * 1e6)), 0n)).toBe(
        BigInt(busiest?.usdc ?? 0),
      );
    });

    it('has every tick, and candles computed from them', async () => {
      // 18-digit sums over the source file by the same separate program; a candle contains the ticks from its start to its end, both included.
      const [ticks] = await product.sql<{ n: string; sum: string }>(
        'SELECT toString(count()) AS n, toString(sum(toDecimal256(price, 18))) AS sum FROM ticks',
      );
      expect([ticks?.n, units(ticks?.sum)]).toEqual(['78515', 5076099149941574926475000000n]);
      const [candles] = await product.sql<Record<string, string>>(
        `SELECT toString(count()) AS n, toString(sum(toDecimal256(open, 18))) AS open, toString(sum(toDecimal256(high, 18))) AS high,
         toString(sum(toDecimal256(low, 18))) AS low, toString(sum(toDecimal256(close, 18))) AS close FROM candles`,
      );
      expect(candles?.n).toBe('288');
      expect([candles?.open, candles?.high, candles?.low, candles?.close].map(units)).toEqual([
        18623455385392149372500000n,
        18632843562259446725000000n,
        18612695107428035971000000n,
        18622601959760310522500000n,
      ]);
    });

    it("has the recording's open, close and outcome of every BTC window, except for the documented gaps", async () => {
      const recording = openRecording(join(import.meta.dirname, '..', 'recorded', 'set'));
      const prices = new Map([...recording.ticks()].map((tick) => [tick.timestampMs / 1000, tick.priceE18]));
      const windows = recording.markets.slice(0, recording.meta.day.markets);
      const resolved = new Map(
        (
          await product.sql<{ condition_id: string; payout_numerators: string[] }>(
            'SELECT condition_id, arrayMap(n -> toString(n), payout_numerators) AS payout_numerators FROM resolutions',
          )
        ).map((row) => [row.condition_id, row.payout_numerators.join()]),
      );
      const counted = { open: 0, close: 0, up: 0, byPrices: 0 };
      const responses = new Map<string, unknown>();
      for (let i = 0; i < windows.length; i += 16) {
        await Promise.all(
          windows.slice(i, i + 16).map(async ({ slug, startS }) => {
            responses.set(slug, (await product.get(`/v1/crypto/price?symbol=BTC&window=${startS}`)).body);
          }),
        );
      }
      for (const window of windows) {
        const price = responses.get(window.slug) as { openPrice: number | null; closePrice: number | null };
        const [opening, closing] = [prices.get(window.startS ?? 0), prices.get(window.endS ?? 0)];
        if (opening !== undefined) {
          expect(price.openPrice, window.slug).toBe(dollars(opening));
          expect(opening, window.slug).toBe(window.strikeE18 ?? opening);
          counted.open += 1;
        }
        if (closing !== undefined) {
          expect(price.closePrice, window.slug).toBe(dollars(closing));
          counted.close += 1;
        }
        const outcome = window.outcome === 0 ? '1,0' : '0,1';
        expect(resolved.get(window.conditionId), window.slug).toBe(outcome);
        if (window.outcome === 0) counted.up += 1;
        if (closing !== undefined && window.strikeE18 !== null) {
          expect(closing >= (window.strikeE18 ?? 0n) ? '1,0' : '0,1', window.slug).toBe(outcome);
          counted.byPrices += 1;
        }
      }
      expect(windows).toHaveLength(292);
      // Counts of the source files: 271 windows with a tick in their first second, 271 in their last, 140 of 292 up, 257 decided by recorded prices.
      expect(counted).toEqual({ open: 271, close: 271, up: 140, byPrices: 257 });
    });

    it('has the ids of every BTC window as published by the catalogue', async () => {
      const recording = openRecording(join(import.meta.dirname, '..', 'recorded', 'set'));
      const rows = await product.sql<{ slug: string; condition_id: string; tokens: string }>(
        "SELECT slug, condition_id, arrayStringConcat(arrayMap(t -> toString(t), token_ids), ',') AS tokens FROM markets FINAL",
      );
      const bySlug = new Map(rows.map((row) => [row.slug, `${row.condition_id} ${row.tokens}`]));
      for (const market of recording.markets.slice(0, recording.meta.day.markets))
        expect(bySlug.get(market.slug)).toBe(`${market.conditionId} ${market.tokenIds.join()}`);
    });
  });
}

/** Decimal text with up to 18 digits after the point, in 1e-18. */
function units(text: string | undefined): bigint {
  const [whole = '0', fraction = ''] = (text ?? '').split('.');
  return BigInt(whole + fraction.padEnd(18, '0'));
}

/** The double nearest to an amount in 1e-18. */
function dollars(e18: bigint): number {
  const digits = e18.toString().padStart(19, '0');
  return Number(`${digits.slice(0, -18)}.${digits.slice(-18)}`);
}
