import type { ApiHarness } from '../support/api.js';
import { type ReferenceLedger, type ReferencePosition, type Traded, worthOf } from './reference-ledger.js';

/** Compares amounts of responses with the reference ledger; collects the differences with the name of their view. */
export function createComparison() {
  const compared = new Map<string, number>();
  const differences: string[] = [];
  return {
    compared,
    differences,
    same(view: string, what: string, shown: unknown, expected: unknown): void {
      compared.set(view, (compared.get(view) ?? 0) + 1);
      if (shown !== expected && differences.length < 50) differences.push(`${view} ${what}: ${shown} v ${expected}`);
    },
  };
}
export type Comparison = ReturnType<typeof createComparison>;

/** Base units of a JSON number or text of dollars or shares. */
export const units = (shown: unknown): bigint => BigInt(Math.round(Number(shown) * 1e6));
/** Nearest cent, halves away from zero. */
const toCent = (amount: bigint): bigint => {
  const size = (((amount < 0n ? -amount : amount) + 5_000n) / 10_000n) * 10_000n;
  return amount < 0n ? -size : size;
};
export const sumOf = <T>(all: readonly T[], of: (one: T) => bigint): bigint =>
  all.reduce((sum, one) => sum + of(one), 0n);

type Row = Record<string, unknown>;
const SPAN = 'after=1700000000&before=1990000000';
const PAGE = 300;

/** Sums over a wallet's positions. */
export function sumsOf(positions: readonly ReferencePosition[], isSettled: (token: string) => boolean) {
  const realized = (one: ReferencePosition) => one.realized;
  return {
    realized: sumOf(positions, realized),
    profit: sumOf(
      positions.filter((one) => one.realized > 0n),
      realized,
    ),
    loss: sumOf(
      positions.filter((one) => one.realized < 0n),
      realized,
    ),
    unrealized: sumOf(positions, (one) => one.unrealized),
    wins: positions.filter((one) => one.realized > 0n).length,
    losses: positions.filter((one) => one.realized < 0n).length,
    open: positions.filter((one) => one.size > 0n && !isSettled(one.tokenId)).length,
  };
}

export interface ReferenceWallet {
  readonly wallet: string;
  readonly positions: readonly ReferencePosition[];
  readonly traded: Traded;
}

export interface WalletViewDeps {
  readonly api: ApiHarness;
  readonly key: string;
  readonly comparison: Comparison;
  readonly isSettled: (token: string) => boolean;
  readonly pastPriceOf: ReferenceLedger['pastPriceOf'];
}

/** Compares the fields of a summary with the sums of the positions. */
export function compareSummary(
  { comparison, isSettled }: Pick<WalletViewDeps, 'comparison' | 'isSettled'>,
  view: string,
  shown: Row,
  { wallet, positions, traded }: ReferenceWallet,
): void {
  const sums = sumsOf(positions, isSettled);
  const same = (field: string, expected: bigint) =>
    comparison.same(view, `${wallet} ${field}`, units(shown[field]), expected);
  const equal = (field: string, expected: number) =>
    comparison.same(view, `${wallet} ${field}`, shown[field], expected);
  same('net_realized_pnl', sums.realized);
  same('gross_profit', sums.profit);
  same('gross_loss', sums.loss);
  same('unrealized_pnl', sums.unrealized);
  same('total_pnl', sums.realized + sums.unrealized);
  same('total_volume', traded.usdc);
  equal('wins', sums.wins);
  equal('losses', sums.losses);
  equal('position_count', positions.length);
  equal('open_positions', sums.open);
}

/** All pages of a list. */
export async function pagesOf<T>(
  { api, key }: Pick<WalletViewDeps, 'api' | 'key'>,
  path: string,
  field: string,
  limit = PAGE,
): Promise<T[]> {
  const found: T[] = [];
  for (;;) {
    const separator = path.includes('?') ? '&' : '?';
    const body = await api.ok<Record<string, T[]>>(`${path}${separator}limit=${limit}&offset=${found.length}`, key);
    const rows = body[field] as T[];
    found.push(...rows);
    if (rows.length < limit) return found;
  }
}

/** Compares the rows of a list with the expected positions: each exactly once, with its amounts. */
export function compareRows(
  comparison: Comparison,
  view: string,
  rows: readonly Row[],
  expected: readonly ReferencePosition[],
  idOf: (row: Row) => string,
  amounts: Readonly<Record<string, (one: ReferencePosition) => bigint>>,
  read: (shown: unknown) => bigint = units,
): void {
  comparison.same(view, 'rows', rows.length, expected.length);
  const left = new Map(expected.map((one) => [`${one.wallet} ${one.tokenId}`, one]));
  for (const row of rows) {
    const reference = left.get(idOf(row));
    left.delete(idOf(row));
    comparison.same(view, `${idOf(row)} expected`, reference !== undefined, true);
    if (reference === undefined) continue;
    for (const [field, of] of Object.entries(amounts))
      comparison.same(view, `${idOf(row)} ${field}`, read(row[field]), of(reference));
  }
}

const size = (one: ReferencePosition) => one.size;
const bought = (one: ReferencePosition) => one.bought;
const realized = (one: ReferencePosition) => one.realized;
const unrealized = (one: ReferencePosition) => one.unrealized;
const cost = (one: ReferencePosition) => one.cost;
const value = (one: ReferencePosition) => one.value;
const price = (one: ReferencePosition) => one.price ?? 0n;

const openAmounts = {
  size,
  initialValue: cost,
  currentValue: value,
  cashPnl: unrealized,
  totalBought: bought,
  realizedPnl: realized,
  curPrice: price,
} as const;

/** Every view of one wallet's money. */
export async function compareWallet(deps: WalletViewDeps, booked: ReferenceWallet): Promise<void> {
  const { api, key, comparison, isSettled, pastPriceOf } = deps;
  const { wallet, positions, traded } = booked;
  const { same } = comparison;
  const request = (path: string) => api.ok<Row>(path, key);
  const sums = sumsOf(positions, isSettled);
  const [open, closed] = [positions.filter((one) => one.size > 0n), positions.filter((one) => one.size === 0n)];
  const idBy = (field: string) => (row: Row) => `${wallet} ${row[field]}`;

  const summary = await request(`/v3/wallets/${wallet}?include_combos=true&include_accounting_summary=true`);
  compareSummary(deps, '/v3/wallets/{address}', summary, booked);
  const combos = summary.combo_pnl as Row;
  same('/v3/wallets/{address}', `${wallet} markets and combos`, units(summary.realized_pnl), sums.realized);
  same('/v3/wallets/{address}', `${wallet} combos`, units(combos.realized_pnl), 0n);
  const fees = (summary.accounting_summary as { fees_paid: Row }).fees_paid;
  same('/v3/wallets/{address}', `${wallet} fees`, fees.raw, traded.feesAtPrice.toString());

  const rows = await pagesOf<Row>(deps, `/v3/wallets/${wallet}/positions?include_combos=true`, 'positions');
  compareRows(comparison, '/v3/wallets/{address}/positions', rows, positions, idBy('token_id'), {
    size,
    realized_pnl: realized,
    unrealized_pnl: unrealized,
    total_pnl: (one) => one.realized + one.unrealized,
    current_price: price,
    total_bought: bought,
    initial_value: cost,
    redeemable_payout: (one) => (isSettled(one.tokenId) ? one.value : 0n),
  });

  const all = await request(`/v3/wallets/${wallet}/pnl`);
  compareSummary(deps, '/v3/wallets/{address}/pnl', all, booked);
  const span = await request(`/v3/wallets/${wallet}/pnl?${SPAN}&include_unrealized=true`);
  same('/v3/wallets/{address}/pnl of a span', `${wallet} realized`, units(span.realized_pnl), sums.realized);
  same(
    '/v3/wallets/{address}/pnl of a span',
    `${wallet} total`,
    units(span.total_pnl),
    sums.realized + sums.unrealized,
  );
  for (const group of ['hour', 'day', 'week', 'month']) {
    const series = await request(`/v3/wallets/${wallet}/pnl/events?${SPAN}&group=${group}`);
    const buckets = series.buckets as Row[];
    const view = `/v3/wallets/{address}/pnl/events by ${group}`;
    same(view, `${wallet} total`, units(series.total_realized_pnl), sums.realized);
    same(
      view,
      `${wallet} sum`,
      sumOf(buckets, (bucket) => units(bucket.realized_pnl)),
      sums.realized,
    );
    same(view, `${wallet} last`, units(buckets.at(-1)?.cumulative_pnl ?? 0), sums.realized);
  }
  const withoutSpan = await request(`/v3/wallets/${wallet}/pnl/events`);
  same('/v3/wallets/{address}/pnl/events', `${wallet} realized`, units(withoutSpan.total_realized_pnl), sums.realized);
  same(
    '/v3/wallets/{address}/pnl/events',
    `${wallet} total`,
    units(withoutSpan.total_pnl),
    sums.realized + sums.unrealized,
  );

  const openRows = await pagesOf<Row>(deps, `/v1/wallets/${wallet}/positions`, 'positions', 100);
  compareRows(comparison, '/v1/wallets/{addr}/positions', openRows, open, idBy('asset'), openAmounts);

  const onchain = await request(`/v2/wallets/${wallet}/positions/onchain`);
  const whole = '/v2/wallets/{address}/positions/onchain';
  same(whole, `${wallet} realized`, units(onchain.total_realized_pnl), toCent(sums.realized));
  same(whole, `${wallet} unrealized`, units(onchain.total_unrealized_pnl), toCent(sums.unrealized));
  same(whole, `${wallet} total`, units(onchain.total_pnl), toCent(sums.realized + sums.unrealized));
  const fields = { size, realized_pnl: realized, unrealized_pnl: unrealized, total_bought: bought };
  compareRows(comparison, whole, onchain.positions as Row[], positions, idBy('token_id'), fields);

  const closedRows = await pagesOf<Row>(deps, `/v2/wallets/${wallet}/closed-positions`, 'positions', 50);
  const everBought = closed.filter((one) => one.bought > 0n);
  compareRows(comparison, '/v2/wallets/{address}/closed-positions', closedRows, everBought, idBy('asset'), {
    total_bought: bought,
    realized_pnl: realized,
    cur_price: price,
  });

  if (positions.length <= 500) {
    const { positions: shown } = await request(`/v2/onchain/positions?wallet=${wallet}&limit=500`);
    compareRows(comparison, '/v2/onchain/positions', shown as Row[], positions, idBy('token_id'), {
      size,
      realized_pnl: (one) => toCent(one.realized),
      unrealized_pnl: (one) => toCent(one.unrealized),
      initial_value: (one) => toCent(one.cost),
      total_bought: bought,
    });
  }

  const bySize = await pagesOf<Row>(deps, `/clobv2/positions?wallet=${wallet}`, 'positions', 500);
  compareRows(comparison, '/clobv2/positions', bySize, positions, idBy('token_id'), {
    size,
    realized_pnl_usdc: realized,
  });
  const usdc = sumOf(bySize, (row) => units(row.total_bought_usdc));
  same('/clobv2/positions', `${wallet} bought for`, usdc, traded.boughtUsdc);

  // After fees in USDC and in shares; positions without a price count at their cost.
  const { series } = await api.ok<{ series: Row[] }>(`/v1/trader/${wallet}/pnl?period=1D`, key);
  const realizedAfterFees = sumOf(positions, (one) => one.realized - one.feeCost - one.costWithFees);
  const worth = sumOf(positions, (one) => (one.price === null ? one.costWithFees : one.unrealized + one.cost));
  same('/v1/trader/{wallet}/pnl', wallet, units(series.at(-1)?.pnl ?? 0), realizedAfterFees + worth - traded.fees);
  // Nothing was done since the first point: the others differ from the newest by nothing but the prices of their times.
  for (const { timestamp, pnl } of series.slice(0, -1)) {
    const then = sumOf(positions, (one) => {
      const at = pastPriceOf(one.tokenId, timestamp as number);
      return at === null ? one.costWithFees : worthOf(one.tracked, at);
    });
    same(
      '/v1/trader/{wallet}/pnl of the past',
      `${wallet} ${timestamp}`,
      units(pnl),
      realizedAfterFees + then - traded.fees,
    );
  }

  for (const [flag, expected] of [
    [0, sums.realized],
    [1, sums.realized + sums.unrealized],
  ] as const) {
    api.clock.nowMs += 11_000;
    const equity = await request(`/v2/trader/${wallet}/equity?period=all&include_unrealized=${flag}`);
    const last = (equity.raw as { final_pnl: number }).final_pnl;
    same('/v2/trader/{wallet}/equity', `${wallet} ${flag}`, units(last), toCent(expected));
  }
}

/** Open positions of the wallets that fit on one page, several wallets per request. */
export async function compareOpen(deps: WalletViewDeps, wallets: readonly ReferenceWallet[]): Promise<void> {
  const { api, key, comparison } = deps;
  const most = 500;
  const listed = wallets.filter(({ positions }) => positions.length <= most);
  for (let at = 0; at < listed.length; at += 10) {
    const some = listed.slice(at, at + 10);
    const names = some.map(({ wallet }) => wallet).join(',');
    const path = `/v1/wallets/positions?wallets=${names}&limit=${most}`;
    const body = await api.ok<{ wallets: { positions: Row[] }[] }>(path, key);
    some.forEach(({ wallet, positions }, i) => {
      const open = positions.filter((one) => one.size > 0n);
      const rows = body.wallets[i]?.positions ?? [];
      compareRows(comparison, '/v1/wallets/positions', rows, open, (row) => `${wallet} ${row.asset}`, openAmounts);
    });
  }
}

/** PnL of a wallet per condition. */
export async function compareConditions(
  { api, key, comparison }: WalletViewDeps,
  { wallet, positions }: ReferenceWallet,
  conditionOf: (token: string) => string,
): Promise<void> {
  const conditions = [...new Set(positions.map((one) => conditionOf(one.tokenId)))];
  for (const condition of conditions) {
    const own = positions.filter((one) => conditionOf(one.tokenId) === condition);
    const shown = await api.ok<Row>(`/v3/wallets/${wallet}/pnl?condition_id=${condition}`, key);
    const view = '/v3/wallets/{address}/pnl?condition_id=';
    comparison.same(view, `${wallet} ${condition}`, units(shown.net_realized_pnl), sumOf(own, realized));
    comparison.same(view, `${wallet} ${condition} unrealized`, units(shown.unrealized_pnl), sumOf(own, unrealized));
    const span = await api.ok<Row>(`/v3/wallets/${wallet}/pnl?condition_id=${condition}&${SPAN}`, key);
    comparison.same(`${view} of a span`, `${wallet} ${condition}`, units(span.realized_pnl), sumOf(own, realized));
  }
}
