import type { ClickHouse } from '../../infra/clickhouse/client.js';

/** Number of compared rows, number of rows that violate the identity, and the largest difference in base units. */
export interface IdentityResult {
  readonly compared: number;
  readonly violations: number;
  readonly largest: bigint;
}

interface Identity {
  readonly name: string;
  /** A SELECT of `difference` per row that is compared. */
  readonly differences: string;
}

const running = (column: string) =>
  `sum(${column}) OVER (PARTITION BY wallet, token_id ORDER BY block_number, log_index, id, leg)`;
const tokensOf = 'SELECT condition_id, token_id FROM chain_tokens FINAL';
/** Tokens of markets: of the conditions in the logs and of the catalogue, neither of which contains combos. */
const marketTokens = 'SELECT token_id FROM chain_tokens UNION DISTINCT SELECT token_id FROM tokens';
/** Own orders of each wallet; counterparty rows are excluded. */
const orders = "fills_by_wallet FINAL WHERE role = 'maker' AND wallet NOT IN (SELECT DISTINCT exchange FROM fills)";

/** Cash received minus cash paid of a wallet for tracked shares: `logged` from the logs of fills and sets, `booked` from positions. */
const cashParts = (block: '0' | 'block_number') => `
  SELECT wallet, ${block} AS b, if(side = 'BUY', -toInt64(usdc), toInt64(usdc)) AS logged, toInt64(0) AS booked FROM ${orders}
  UNION ALL
  SELECT wallet, ${block}, multiIf(kind = 'split', -toInt64(amount), kind IN ('merge', 'redemption'), toInt64(amount),
    toInt64(amount) * (bitCount(toUInt64(index_sets[1])) - 1)), 0 FROM wallet_events FINAL`;
/** Wallets with a complete history: no untracked shares, no event with a problem, no transfers. */
const wholeWallets = `SELECT wallet FROM pnl_events FINAL GROUP BY wallet
  HAVING sum(untracked) = 0 AND countIf(problem != '') = 0 AND countIf(action IN ('SEND', 'RECEIVE')) = 0`;

/**
 * Identities of the money in the tables, each side from another table. Where both sides are rounded per position, the difference may be up to a base unit
 * per position; all other identities are exact.
 */
const identities: readonly Identity[] = [
  {
    name: 'position: realized = sum of its changes',
    differences: `SELECT sum(a) AS difference FROM (
      SELECT wallet, token_id, realized_pnl AS a FROM positions FINAL UNION ALL SELECT wallet, token_id, -realized_pnl FROM pnl_events FINAL
    ) GROUP BY wallet, token_id`,
  },
  {
    name: 'position: cost = sum of its changes',
    differences: `SELECT sum(a) AS difference FROM (
      SELECT wallet, token_id, p.cost AS a FROM positions AS p FINAL UNION ALL SELECT wallet, token_id, -e.cost FROM pnl_events AS e FINAL
    ) GROUP BY wallet, token_id`,
  },
  {
    name: 'position: shares = sum of its changes',
    differences: `SELECT sum(a) AS difference FROM (
      SELECT wallet, token_id, toInt64(size) AS a FROM positions FINAL UNION ALL SELECT wallet, token_id, -shares FROM pnl_events FINAL
    ) GROUP BY wallet, token_id`,
  },
  {
    name: 'block and position: cumulative realized = realized_after of the event',
    differences: `SELECT ${running('realized_pnl')} - realized_after AS difference FROM pnl_events FINAL`,
  },
  {
    name: 'block and position: cumulative cost = cost_after of the event',
    differences: `SELECT ${running('e.cost')} - cost_after AS difference FROM pnl_events AS e FINAL`,
  },
  {
    name: 'block and position: cumulative shares = size_after of the event',
    differences: `SELECT ${running('shares')} - toInt64(size_after) AS difference FROM pnl_events FINAL`,
  },
  {
    name: 'wallet: realized = markets + combos',
    differences: `SELECT sum(a) AS difference FROM (
      SELECT wallet, p.realized_pnl AS a FROM positions AS p FINAL WHERE token_id IN (${marketTokens})
      UNION ALL SELECT wallet, c.realized_pnl FROM combo_events AS c FINAL
      UNION ALL SELECT wallet, -sum(d.realized_pnl) FROM wallet_days AS d GROUP BY wallet
    ) GROUP BY wallet`,
  },
  ...(
    [
      ['realized', 'sum(e.realized_pnl)', 'sum(d.realized_pnl)'],
      ['profit', 'sumIf(e.realized_pnl, e.realized_pnl > 0)', 'sum(d.gross_profit)'],
      ['loss', 'sumIf(e.realized_pnl, e.realized_pnl < 0)', 'sum(d.gross_loss)'],
      ['volume', 'sum(toInt64(e.usdc))', 'sum(toInt64(d.volume))'],
      ['fees', 'sum(toInt64(e.fee))', 'sum(toInt64(d.fees))'],
    ] as const
  ).map(([what, ofEvents, ofDays]) => ({
    name: `wallet and day: ${what} = sum of its changes`,
    differences: `SELECT sum(a) AS difference FROM (
      SELECT wallet, toDate(timestamp) AS day, ${ofEvents} AS a FROM pnl_events AS e FINAL GROUP BY wallet, day
      UNION ALL SELECT wallet, day, -(${ofDays}) FROM wallet_days AS d GROUP BY wallet, day
    ) GROUP BY wallet, day`,
  })),
  {
    name: 'wallet: bought and sold = volume of its days',
    differences: `SELECT sum(a) AS difference FROM (
      SELECT wallet, toInt64(bought_usdc + sold_usdc) AS a FROM positions FINAL UNION ALL SELECT wallet, -toInt64(volume) FROM wallet_days
    ) GROUP BY wallet`,
  },
  {
    name: 'wallet: fees in USDC of positions = fees of its orders',
    differences: `SELECT sum(a) AS difference FROM (
      SELECT wallet, toInt64(fees) AS a FROM positions FINAL
      UNION ALL SELECT wallet, -toInt64(if(fee_shares > 0, 0, fee)) FROM ${orders}
    ) GROUP BY wallet`,
  },
  {
    name: 'block and token: shares = minted - burnt',
    // The log of a redemption contains no shares, so redemptions are excluded on both sides.
    differences: `SELECT sum(a) AS difference FROM (
      SELECT block_number, token_id, shares + toInt64(fee_shares) - toInt64(untracked) AS a FROM pnl_events FINAL
        WHERE action IN ('BUY', 'SELL', 'SPLIT', 'MERGE')
      UNION ALL
      SELECT block_number, token_id, if(side = 'BUY', -1, 1) * toInt64(shares) FROM fills FINAL
      UNION ALL
      SELECT c.block_number, t.token_id, if(c.kind = 'split', -1, 1) * toInt64(c.amount) FROM condition_events AS c FINAL
        INNER JOIN (${tokensOf}) AS t ON t.condition_id = c.condition_id WHERE c.kind IN ('split', 'merge')
    ) GROUP BY block_number, token_id`,
  },
  {
    name: 'block and condition: the fills mint as much of one outcome as of the other',
    differences: `SELECT sumIf(toInt64(f.shares) * if(f.side = 'BUY', 1, -1), t.outcome_index = 0)
        - sumIf(toInt64(f.shares) * if(f.side = 'BUY', 1, -1), t.outcome_index = 1) AS difference
      FROM fills AS f FINAL INNER JOIN (SELECT condition_id, token_id, outcome_index FROM chain_tokens FINAL) AS t ON t.token_id = f.token_id
      GROUP BY f.block_number, t.condition_id`,
  },
];

/** Positions with an event without a clear price: its cash is not part of the PnL. */
const unclear = "SELECT wallet, token_id FROM pnl_events WHERE problem != ''";

const rounded: readonly (Identity & { readonly slack: string })[] = [
  {
    name: 'position: cash of its changes = realized - cost - fees in shares - sent',
    // All four amounts are rounded, as are the halves of odd sets.
    slack: '2',
    differences: `SELECT sum(a) AS difference FROM (
      SELECT wallet, token_id, e.cash AS a FROM pnl_events AS e FINAL
      UNION ALL SELECT wallet, token_id, -(p.realized_pnl - p.cost - p.fee_cost - p.sent_cost) FROM positions AS p FINAL
    ) WHERE (wallet, token_id) NOT IN (${unclear}) GROUP BY wallet, token_id`,
  },
  {
    name: 'wallet: cash of its changes + value = PnL + fees',
    slack: 'positions',
    differences: `SELECT sum(a) AS difference, countIf(is_position) AS positions FROM (
      SELECT wallet, token_id, e.cash - toInt64(e.fee) AS a, false AS is_position FROM pnl_events AS e FINAL
      UNION ALL SELECT wallet, token_id, -(p.realized_pnl - p.cost - p.fee_cost - p.sent_cost - toInt64(p.fees)), true FROM positions AS p FINAL
    ) WHERE (wallet, token_id) NOT IN (${unclear})
      -- Tokens created by such a conversion have their cost from excluded positions.
      AND wallet NOT IN (SELECT wallet FROM pnl_events WHERE action = 'CONVERT' AND problem != '') GROUP BY wallet`,
  },
  {
    name: 'wallet: cash in - cash out + value = PnL + fees',
    slack: 'positions',
    differences: `SELECT sum(logged) + sum(market_value) - sum(booked) AS difference, countIf(is_position) AS positions FROM (
      SELECT wallet, logged, booked, toInt64(0) AS market_value, false AS is_position FROM (${cashParts('0')})
      UNION ALL
      SELECT p.wallet, 0,
        -- PnL: realized, plus the value of the shares minus their cost, minus the cost of fees in shares.
        p.realized_pnl + value - p.cost - p.fee_cost, value, true
      FROM (SELECT *, toInt64(round(toDecimal256(size - received, 0) * toDecimal256(price, 6))) AS value FROM (SELECT * FROM positions FINAL) AS o
        LEFT JOIN (SELECT token_id, round(price * 1000000) / 1000000 AS price FROM token_prices) AS q ON q.token_id = o.token_id) AS p
    ) WHERE wallet IN (${wholeWallets}) GROUP BY wallet`,
  },
  {
    name: 'block and wallet: cumulative cash = cumulative realized - cost',
    slack: 'positions',
    differences: `SELECT sum(logged) OVER w - sum(booked) OVER w AS difference, sum(changes) OVER w AS positions FROM (
      SELECT wallet, b, sum(logged) AS logged, sum(booked) AS booked, countIf(is_change) AS changes FROM (
        SELECT wallet, b, logged, booked, false AS is_change FROM (${cashParts('block_number')})
        UNION ALL SELECT wallet, block_number, 0, e.realized_pnl - e.cost, true FROM pnl_events AS e FINAL
      ) WHERE wallet IN (${wholeWallets}) AND wallet NOT IN (SELECT wallet FROM pnl_events WHERE fee_shares > 0) GROUP BY wallet, b
    ) WINDOW w AS (PARTITION BY wallet ORDER BY b)`,
  },
];

/** Checks the identities on the tables. `skip`: names of identities to leave out. */
export async function checkIdentities(
  clickhouse: ClickHouse,
  skip: readonly string[] = [],
): Promise<ReadonlyMap<string, IdentityResult>> {
  const found = new Map<string, IdentityResult>();
  const read = async (name: string, sql: string) => {
    const [row] = await clickhouse.query<Record<string, string>>(sql);
    found.set(name, {
      compared: Number(row?.compared),
      violations: Number(row?.violations),
      largest: BigInt(row?.largest ?? 0),
    });
  };
  const summed = (differences: string, breaks: string) =>
    `SELECT count() AS compared, countIf(${breaks}) AS violations, toString(max(abs(difference))) AS largest FROM (${differences})`;
  for (const { name, differences } of identities)
    if (!skip.includes(name)) await read(name, summed(differences, 'difference != 0'));
  for (const { name, differences, slack } of rounded)
    if (!skip.includes(name)) await read(name, summed(differences, `abs(difference) > ${slack}`));
  return found;
}
