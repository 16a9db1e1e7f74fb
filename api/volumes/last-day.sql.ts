import type { Sql } from '../tables/port.js';

const DAY_S = 86_400;
/** Markets and wallets that the statements return at most. */
const MAX_MARKETS = 2_000;
const MAX_WALLETS = 300;
const MAX_ENDING = 1_000;

export interface MarketDayRow {
  readonly condition_id: string;
  /** USDC base units, each match once. */
  readonly usdc: string;
  readonly matches: string;
}

export interface WalletDayRow {
  readonly wallet: string;
  /** USDC base units of the matches in which the wallet was maker or taker. */
  readonly usdc: string;
  readonly matches: string;
}

const isOfLastDay =
  "toDate(m.traded_at) >= toDate(toDateTime({from:UInt32}, 'UTC')) AND m.traded_at >= toDateTime({from:UInt32}, 'UTC')";
/** Matches of the last 24 hours: a range of the key of `matches_by_day`. */
const lastDay = `FROM matches_by_day AS m FINAL WHERE ${isOfLastDay}`;
const fromOf = (nowMs: number) => ({ from: Math.floor(nowMs / 1000) - DAY_S });

/** Markets with the largest volume of the last 24 hours, with the condition of each token as in `tokenMetadataSql`. */
export const marketsOfDaySql = (nowMs: number): Sql => ({
  text: `SELECT condition_id, sum(of_token.usdc) AS usdc, sum(of_token.matches) AS matches
    FROM (SELECT m.token_id AS token_id, sum(m.usdc) AS usdc, count() AS matches ${lastDay} GROUP BY m.token_id) AS of_token
    INNER JOIN (
      SELECT token_id, argMin(condition_id, named) AS condition_id
      FROM (
        SELECT token_id, condition_id, true AS named FROM tokens FINAL
        UNION ALL
        SELECT token_id, condition_id, false AS named FROM chain_tokens FINAL
      )
      WHERE token_id IN (SELECT m.token_id FROM matches_by_day AS m WHERE ${isOfLastDay})
      GROUP BY token_id
    ) AS named_token ON named_token.token_id = of_token.token_id
    GROUP BY condition_id ORDER BY sum(of_token.usdc) DESC, condition_id LIMIT {markets:UInt32}`,
  params: { ...fromOf(nowMs), markets: MAX_MARKETS },
});

/** Wallets with the largest volume of the last 24 hours. A match of a wallet with itself counts once. */
export const walletsOfDaySql = (nowMs: number): Sql => ({
  text: `SELECT party AS wallet, sum(amount) AS usdc, count() AS matches
    FROM (SELECT m.usdc AS amount, arrayJoin(arrayDistinct([m.maker, m.taker])) AS party ${lastDay})
    GROUP BY party ORDER BY sum(amount) DESC, party LIMIT {wallets:UInt32}`,
  params: { ...fromOf(nowMs), wallets: MAX_WALLETS },
});

/** Open markets that end within a week, the next one first, of those the one with the larger volume; without windows of a few minutes, of which there are always some. */
export const endingMarketsSql = (nowMs: number): Sql => ({
  text: `SELECT condition_id AS id,
      toInt128(toUnixTimestamp64Milli(assumeNotNull(end_at))) * 1000000000000000 - toInt128(round(greatest(0, least(volume, 1e12)) * 100)) AS value
    FROM markets FINAL
    WHERE active AND NOT closed AND NOT archived AND end_at > fromUnixTimestamp64Milli({now:Int64}, 'UTC')
      AND end_at < fromUnixTimestamp64Milli({now:Int64} + 7 * ${DAY_S}000, 'UTC') AND NOT match(slug, '-updown-(5|15)m-')
    ORDER BY value, condition_id LIMIT {rows:UInt32}`,
  params: { now: nowMs, rows: MAX_ENDING },
});
