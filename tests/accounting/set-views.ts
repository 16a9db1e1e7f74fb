import type { ApiHarness } from '../support/api.js';
import type { ReferenceLedger, ReferencePosition } from './reference-ledger.js';
import { type Comparison, compareRows, type ReferenceWallet, sumOf, sumsOf, units } from './wallet-views.js';

type Row = Record<string, unknown>;

export interface SetViewDeps {
  readonly api: ApiHarness;
  readonly comparison: Comparison;
  /** Of the public views. */
  readonly database: string;
  readonly ledger: ReferenceLedger;
  readonly positions: readonly ReferencePosition[];
  readonly wallets: readonly ReferenceWallet[];
}

const size = (one: ReferencePosition) => one.size;
const bought = (one: ReferencePosition) => one.bought;
const realized = (one: ReferencePosition) => one.realized;
const withFees = (one: ReferencePosition) => one.costWithFees;
const feeCost = (one: ReferencePosition) => one.feeCost;
const idOf = (row: Row) => `${row.wallet} ${row.token}`;
const raw = (shown: unknown): bigint => BigInt(shown as string);

/** Every position of everybody, in both tables and in both views. */
export async function comparePositions({ api, comparison, database, positions }: SetViewDeps): Promise<void> {
  const held = positions.filter((one) => one.size > 0n);
  for (const table of ['positions', 'positions_by_token']) {
    const rows = await api.clickhouse.query<Row>(
      `SELECT wallet, toString(token_id) AS token, toString(p.size) AS size, toString(p.size - p.received) AS tracked, toString(p.cost) AS cost,
        toString(p.realized_pnl) AS realized, toString(p.total_bought) AS bought, toString(p.fee_cost) AS fee_cost FROM ${table} AS p FINAL`,
    );
    const amounts = { size, tracked: (one: ReferencePosition) => one.tracked, cost: withFees, realized, bought };
    compareRows(comparison, `table ${table}`, rows, positions, idOf, { ...amounts, fee_cost: feeCost }, raw);
  }
  for (const [view, listed] of [
    ['positions', positions],
    ['holders', held],
  ] as const) {
    const rows = await api.clickhouse.query<Row>(
      `SELECT wallet, toString(token_id) AS token, toString(shares) AS size, toString(cost_usd) AS cost, toString(realized_pnl_usd) AS realized,
        toString(bought_shares) AS bought, toString(fee_cost_usd) AS fee_cost FROM ${database}.${view}`,
    );
    const amounts = { size, cost: withFees, realized, bought, fee_cost: feeCost };
    compareRows(comparison, `view ${view}`, rows, listed, idOf, amounts);
  }
}

/** The newest price of every token that anybody has, or had, a position in. */
export async function comparePrices({ api, comparison, database, ledger, positions }: SetViewDeps): Promise<void> {
  const rows = await api.clickhouse.query<Row>(
    `SELECT toString(token_id) AS token, ifNull(toString(price), '') AS price FROM ${database}.prices_now`,
  );
  const shown = new Map(rows.map((row) => [row.token, row.price]));
  for (const token of new Set(positions.map((one) => one.tokenId))) {
    const found = shown.get(token) ?? '';
    comparison.same('view prices_now', token, found === '' ? null : units(found), ledger.priceOf(token));
  }
}

/** Sums of every wallet: `sums` of a SELECT by wallet against those of the ledger. */
async function compareSums(
  { api, comparison, wallets }: SetViewDeps,
  view: string,
  sql: string,
  sums: Readonly<Record<string, (booked: ReferenceWallet) => bigint>>,
  read: (shown: unknown) => bigint,
): Promise<void> {
  const rows = await api.clickhouse.query<Row>(sql);
  const found = new Map(rows.map((row) => [row.wallet, row]));
  comparison.same(view, 'wallets', found.size, wallets.length);
  for (const booked of wallets) {
    const row = found.get(booked.wallet);
    for (const [field, of] of Object.entries(sums))
      comparison.same(view, `${booked.wallet} ${field}`, read(row?.[field] ?? '0'), of(booked));
  }
}

/** What every wallet realized, traded, paid and got, and what it has, by tables and views that know nothing of each other. */
export async function compareWalletSums(deps: SetViewDeps): Promise<void> {
  const { database, ledger } = deps;
  const made = ({ positions }: ReferenceWallet) => sumOf(positions, realized);
  const volume = ({ traded }: ReferenceWallet) => traded.usdc;
  const fees = ({ traded }: ReferenceWallet) => traded.fees;
  for (const view of ['pnl_events', 'wallet_days']) {
    const sql = `SELECT wallet, toString(sum(realized_pnl_usd)) AS realized, toString(sum(party_usd)) AS volume, toString(sum(fee_usd)) AS fees
      FROM ${database}.${view} GROUP BY wallet`;
    await compareSums(deps, `view ${view}`, sql, { realized: made, volume, fees }, units);
  }
  await compareSums(
    deps,
    'table pnl_events',
    `SELECT wallet, toString(sum(e.realized_pnl)) AS realized, toString(sum(e.usdc)) AS volume, toString(sum(e.fee)) AS fees,
      toString(sum(e.shares)) AS size, toString(sum(e.cost)) AS cost FROM pnl_events AS e FINAL GROUP BY wallet`,
    {
      realized: made,
      volume,
      fees,
      size: ({ positions }) => sumOf(positions, size),
      cost: ({ positions }) => sumOf(positions, withFees),
    },
    raw,
  );
  // By the logs of fills, redemptions and sets alone.
  await compareSums(
    deps,
    'views of cash',
    `SELECT wallet, toString(sum(cash)) AS cash FROM (
      SELECT wallet, if(action = 'BUY', -party_usd, party_usd) AS cash FROM ${database}.pnl_events WHERE action IN ('BUY', 'SELL')
      UNION ALL SELECT wallet, payout_usd FROM ${database}.redemptions
      UNION ALL SELECT wallet, if(kind = 'split', -amount, amount) FROM ${database}.splits_merges
      UNION ALL SELECT wallet, toDecimal64(0, 6) FROM ${database}.positions
    ) WHERE wallet IN (SELECT wallet FROM ${database}.positions) GROUP BY wallet`,
    { cash: ({ wallet }) => ledger.cash.get(wallet) ?? 0n },
    units,
  );
  // as the documentation of the view describes it, each position rounded once.
  await compareSums(
    deps,
    'views positions and prices_now',
    `SELECT wallet, toString(sum(realized_pnl_usd + if(q.price IS NULL, toDecimal128(0, 6),
        toDecimal128(round(toDecimal256(shares - shares_without_cost, 6) * toDecimal256(assumeNotNull(q.price), 6), 6), 6) - cost_usd)
        - fees_usd - fee_cost_usd)) AS total
      FROM ${database}.positions AS p LEFT JOIN (SELECT token_id, price FROM ${database}.prices_now) AS q ON q.token_id = p.token_id GROUP BY wallet`,
    {
      total: ({ positions, traded }) =>
        sumOf(positions, (one) => {
          const worth = one.price === null ? 0n : one.unrealized + one.cost - one.costWithFees;
          return one.realized + worth - one.feeCost;
        }) - traded.fees,
    },
    units,
  );
}

/** The leaderboard snapshots of every metric, which list everybody. */
export async function compareSnapshots(deps: SetViewDeps): Promise<void> {
  const isSettled = (token: string) => deps.ledger.settled.has(token);
  const sums = ({ positions }: ReferenceWallet) => sumsOf(positions, isSettled);
  const boards = await deps.api.clickhouse.query<{ board: string }>('SELECT DISTINCT board FROM leaderboards');
  for (const { board } of boards)
    await compareSums(
      deps,
      'table leaderboards',
      `SELECT wallet, toString(l.realized_pnl) AS realized, toString(l.gross_profit) AS profit, toString(l.gross_loss) AS loss,
        toString(l.unrealized_pnl) AS unrealized, toString(l.volume) AS volume, toString(l.wins) AS wins, toString(l.losses) AS losses,
        toString(l.positions) AS positions, toString(l.open_positions) AS open
        FROM leaderboards AS l WHERE board = '${board}'
        AND taken_at = (SELECT max(taken_at) FROM leaderboards WHERE board = '${board}')`,
      {
        realized: (booked) => sums(booked).realized,
        profit: (booked) => sums(booked).profit,
        loss: (booked) => sums(booked).loss,
        unrealized: (booked) => sums(booked).unrealized,
        volume: ({ traded }) => traded.usdc,
        wins: (booked) => BigInt(sums(booked).wins),
        losses: (booked) => BigInt(sums(booked).losses),
        positions: ({ positions }) => BigInt(positions.length),
        open: (booked) => BigInt(sums(booked).open),
      },
      raw,
    );
}
