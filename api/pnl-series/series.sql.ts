import { SINGLE_CHUNK_MAX_ROWS, type Sql } from '../tables/port.js';

/** Times of a series, Unix seconds: `points` times, `stepS` apart, the first at `startS`. */
export interface SampleTimes {
  readonly startS: number;
  readonly stepS: number;
  readonly points: number;
}

/** Time of a wallet's first event, Unix seconds; no row without events. */
export const firstEventTimeSql = (wallet: string): Sql => ({
  text: 'SELECT toUnixTimestamp(timestamp) AS first FROM pnl_events WHERE wallet = {wallet:String} ORDER BY timestamp LIMIT 1',
  params: { wallet },
});

const unixSeconds = (time: string): string => `toInt64(toUnixTimestamp(${time}))`;
/** Index of the first sample time at or after a time in Unix seconds; 0 for earlier times. */
const sampleAt = (seconds: string): string =>
  `toUInt32(intDiv(greatest(${seconds} - {start:Int64}, 0) + {step:Int64} - 1, {step:Int64}))`;
const notAfterNewest = (time: string): string => `${time} <= toDateTime({newest:Int64}, 'UTC')`;
const tokensOfWallet = '(SELECT token_id FROM pnl_events WHERE wallet = {wallet:String})';

/** Change of a wallet's PnL from one sample time to the next. */
export interface PnlChangeRow {
  /** Index of the sample time. */
  readonly sample: number | string;
  /** Base units, as text. */
  readonly change: string;
}

/** Positions after their last event before a sample time. `cash`: received less paid since the previous event, see `pnlChangesSql`. */
const holdings = `SELECT token_id, ${sampleAt(unixSeconds('e.timestamp'))} AS sample,
          sum(e.realized_pnl) - sum(e.cost) - sum(toInt64(e.fee)) AS cash,
          argMax((e.size_after - e.received_after, e.cost_after, e.fee_cost_after), (e.block_number, e.log_index, e.id, e.leg)) AS last
        FROM pnl_events AS e FINAL
        WHERE e.wallet = {wallet:String} AND ${notAfterNewest('e.timestamp')}
        GROUP BY token_id, sample`;

/** Tokens with those whose trades price them: the token itself and the other outcome, from the chain or the catalogue. */
const pricedBy = `SELECT DISTINCT token_id, token_id AS traded FROM pnl_events WHERE wallet = {wallet:String}
        UNION ALL
        SELECT DISTINCT token_id, traded FROM (
          SELECT token_id, other_token_id AS traded FROM chain_tokens WHERE token_id IN ${tokensOfWallet}
          UNION ALL
          SELECT t.token_id, m.token_ids[2 - t.outcome_index]
          FROM (SELECT token_id, condition_id, outcome_index FROM tokens WHERE token_id IN ${tokensOfWallet}) AS t
          INNER JOIN (
            SELECT condition_id, token_ids FROM markets
            WHERE condition_id IN (SELECT condition_id FROM tokens WHERE token_id IN ${tokensOfWallet}) AND length(token_ids) = 2
          ) AS m ON m.condition_id = t.condition_id
        )`;

/** Last close before a sample time, 1e-6 USD, of full hours with trades since the previous sample time. Of two outcomes the later trade counts. */
const closes = `SELECT token_id, sample, argMax(if(traded = token_id, price, greatest(1000000 - price, 0)), place) AS price
        FROM (
          SELECT token_id AS traded, ${sampleAt(`${unixSeconds('bucket')} + 3600`)} AS sample, toInt64(argMaxMerge(close)) AS price, max(last_place) AS place
          FROM token_candles_1h
          WHERE token_id IN (SELECT traded FROM priced_by) AND ${notAfterNewest('bucket + 3600')}
          GROUP BY traded, sample
        ) AS c INNER JOIN priced_by AS p ON p.traded = c.traded
        GROUP BY token_id, sample`;

/** Payouts of settled tokens, 1e-6 USD. */
const payouts = `SELECT token_id, ${sampleAt(unixSeconds('timestamp'))} AS sample,
          toInt64(intDiv(numerator * 2000000 + denominator, denominator * 2)) AS price
        FROM token_settlements FINAL
        WHERE token_id IN ${tokensOfWallet} AND denominator > 0 AND ${notAfterNewest('timestamp')}`;

/**
 * Changes of a wallet's PnL between sample times, without the newest one; times without a change may be missing. PnL of a position at a time: cash received
 * less paid less fees (shares that were sent away count as sold at their cost, and the cost of fee shares as received until all is sold), plus the shares with a
 * cost at their price. The price is the payout once the market is settled, otherwise the last close of the full hours before; without one they count at cost.
 * `cash` is computed from differences of the position's rounded totals, so that its sums at any time are those of the positions.
 */
export const pnlChangesSql = (wallet: string, { startS, stepS, points }: SampleTimes): Sql => ({
  text: `WITH priced_by AS (
        ${pricedBy}
      )
      SELECT sample, toString(sum(cash + value - before)) AS change
      FROM (
        SELECT token_id, sample, cash, lagInFrame(value, 1, toInt256(0)) OVER (PARTITION BY token_id ORDER BY sample) AS before,
          multiIf(shares IS NULL, toInt256(0), price IS NULL, toInt256(cost), intDiv(toInt256(shares) * price * 2 + 1000000, toInt256(2000000)))
            - ifNull(fee_cost, 0) AS value
        FROM (
          SELECT token_id, sample, cash, last_value(shares) OVER so_far AS shares, last_value(cost) OVER so_far AS cost,
            last_value(fee_cost) OVER so_far AS fee_cost, coalesce(last_value(payout) OVER so_far, last_value(close) OVER so_far) AS price
          FROM (
            SELECT token_id, sample, sum(cash) AS cash, any(shares) AS shares, any(cost) AS cost, any(fee_cost) AS fee_cost, any(close) AS close,
              any(payout) AS payout
            FROM (
              SELECT token_id, sample, cash, toNullable(last.1) AS shares, toNullable(last.2) AS cost, toNullable(last.3) AS fee_cost,
                CAST(NULL AS Nullable(Int64)) AS close, CAST(NULL AS Nullable(Int64)) AS payout
              FROM (${holdings})
              UNION ALL
              SELECT token_id, sample, toInt64(0), NULL, NULL, NULL, price, NULL FROM (${closes})
              UNION ALL
              SELECT token_id, sample, toInt64(0), NULL, NULL, NULL, NULL, price FROM (${payouts})
            )
            GROUP BY token_id, sample
          )
          WINDOW so_far AS (PARTITION BY token_id ORDER BY sample ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
        )
      )
      GROUP BY sample
      SETTINGS max_execution_time = 10, prefer_column_name_to_alias = 1`,
  params: { wallet, start: startS, step: stepS, newest: startS + (points - 2) * stepS },
  singleChunk: points <= SINGLE_CHUNK_MAX_ROWS,
});
