import type { ReferencePosition } from './reference-ledger.js';
import {
  compareRows,
  compareSummary,
  pagesOf,
  type ReferenceWallet,
  sumsOf,
  units,
  type WalletViewDeps,
} from './wallet-views.js';

type Row = Record<string, unknown>;

const METRICS = ['total_pnl', 'realized', 'unrealized', 'profit', 'loss', 'volume', 'wins', 'positions'] as const;

/** Leaderboards over all markets, and the sums over all wallets. */
export async function compareLeaderboards(deps: WalletViewDeps, wallets: readonly ReferenceWallet[]): Promise<void> {
  const { api, key, comparison } = deps;
  const known = new Map(wallets.map((one) => [one.wallet, one]));
  for (const sort of METRICS) {
    const rows = await pagesOf<Row>(deps, `/v3/leaderboard?sort=${sort}`, 'leaderboard');
    const view = `/v3/leaderboard?sort=${sort}`;
    comparison.same(view, 'wallets', new Set(rows.map((row) => row.wallet)).size, known.size);
    for (const row of rows) compareSummary(deps, view, row, known.get(row.wallet as string) as ReferenceWallet);
    const keys = rows.map((row) => {
      const { positions, traded } = known.get(row.wallet as string) as ReferenceWallet;
      const sums = sumsOf(positions, deps.isSettled);
      const ranked: Readonly<Record<(typeof METRICS)[number], bigint>> = {
        total_pnl: sums.realized + sums.unrealized,
        realized: sums.realized,
        unrealized: sums.unrealized,
        profit: sums.profit,
        loss: -sums.loss,
        volume: traded.usdc,
        wins: BigInt(sums.wins),
        positions: BigInt(positions.length),
      };
      return ranked[sort];
    });
    comparison.same(
      view,
      'order',
      keys.every((one, i) => i === 0 || one <= (keys[i - 1] as bigint)),
      true,
    );
  }
  for (let at = 0; at < wallets.length; at += 100) {
    const some = wallets.slice(at, at + 100);
    const response = await api.request('/v3/wallets/batch', {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ wallets: some.map(({ wallet }) => wallet) }),
    });
    const { wallets: rows } = response.body as { wallets: Row[] };
    rows.forEach((row, i) => void compareSummary(deps, '/v3/wallets/batch', row, some[i] as ReferenceWallet));
  }
  const stats = await api.ok<Row>('/v3/stats', key);
  const sums = sumsOf(
    wallets.flatMap(({ positions }) => positions),
    deps.isSettled,
  );
  comparison.same('/v3/stats', 'realized', stats.total_realized_pnl, sums.realized.toString());
  comparison.same('/v3/stats', 'profit', stats.total_gross_profit, sums.profit.toString());
  comparison.same('/v3/stats', 'loss', stats.total_gross_loss, sums.loss.toString());
  comparison.same('/v3/stats', 'wallets', stats.total_wallets, wallets.length);
}

/** The leaderboard of a tag, and `/v3/leaderboard` restricted to the tag. */
export async function compareTag(
  deps: WalletViewDeps,
  tag: string,
  tokens: ReadonlySet<string>,
  positions: readonly ReferencePosition[],
): Promise<number> {
  const { comparison } = deps;
  const byWallet = new Map<string, ReferencePosition[]>();
  for (const one of positions)
    if (tokens.has(one.tokenId)) byWallet.set(one.wallet, [...(byWallet.get(one.wallet) ?? []), one]);
  const rows = await pagesOf<Row>(deps, `/v3/tags/${tag}/leaderboard`, 'data');
  const view = '/v3/tags/{slug}/leaderboard';
  comparison.same(view, `${tag} wallets`, new Set(rows.map((row) => row.wallet)).size, byWallet.size);
  for (const row of rows) {
    const own = byWallet.get(row.wallet as string) ?? [];
    const sums = sumsOf(own, deps.isSettled);
    comparison.same(view, `${tag} ${row.wallet} net`, units(row.net_pnl), sums.realized);
    comparison.same(view, `${tag} ${row.wallet} profit`, units(row.gross_profit), sums.profit);
    comparison.same(view, `${tag} ${row.wallet} loss`, units(row.gross_loss), sums.loss);
  }
  const chosen = await pagesOf<Row>(deps, `/v3/leaderboard?sort=total_pnl&tag_slug=${tag}`, 'leaderboard');
  comparison.same('/v3/leaderboard?tag_slug=', `${tag} wallets`, chosen.length, byWallet.size);
  for (const row of chosen) {
    const sums = sumsOf(byWallet.get(row.wallet as string) ?? [], deps.isSettled);
    const name = `${tag} ${row.wallet}`;
    comparison.same('/v3/leaderboard?tag_slug=', `${name} realized`, units(row.net_realized_pnl), sums.realized);
    comparison.same(
      '/v3/leaderboard?tag_slug=',
      `${name} total`,
      units(row.total_pnl),
      sums.realized + sums.unrealized,
    );
  }
  return rows.length;
}

/** null is an amount of which nothing is recorded. */
const raw = (shown: unknown): bigint => BigInt((shown ?? '0') as string);
const size = (one: ReferencePosition) => one.size;
const bought = (one: ReferencePosition) => one.bought;
const realized = (one: ReferencePosition) => one.realized;
const unrealized = (one: ReferencePosition) => one.unrealized;
const total = (one: ReferencePosition) => one.realized + one.unrealized;
const price = (one: ReferencePosition) => one.price ?? 0n;

/** Every list of the positions in a market, open and closed. `slug`: null if the catalogue does not contain the market. */
export async function compareMarket(
  deps: WalletViewDeps,
  market: { readonly condition: string; readonly tokens: readonly string[]; readonly slug: string | null },
  positions: readonly ReferencePosition[],
): Promise<void> {
  const { api, key, comparison } = deps;
  const own = positions.filter((one) => market.tokens.includes(one.tokenId));
  const holders = { amount: size, realized_pnl: realized, total_bought: bought };
  const byUser = (row: Row) => `${row.user} ${row.token_id}`;
  const listed = async (path: string) => pagesOf<Row>(deps, path, 'data');

  const byCondition = await listed(`/v3/markets/condition/${market.condition}/positions`);
  compareRows(comparison, '/v3/markets/condition/{condition_id}/positions', byCondition, own, byUser, holders, raw);
  if (market.slug !== null) {
    const bySlug = await listed(`/v3/markets/slug/${market.slug}/positions`);
    compareRows(comparison, '/v3/markets/slug/{slug}/positions', bySlug, own, byUser, holders, raw);
  }
  for (const token of market.tokens) {
    const rows = await listed(`/v3/markets/${token}/positions`);
    const ofToken = own.filter((one) => one.tokenId === token);
    const idOf = (row: Row) => `${row.user} ${token}`;
    compareRows(comparison, '/v3/markets/{token_id}/positions', rows, ofToken, idOf, holders, raw);
  }
  const allPositions = await pagesOf<Row>(deps, `/v3/positions?condition_id=${market.condition}`, 'positions');
  compareRows(comparison, '/v3/positions', allPositions, own, (row) => `${row.wallet} ${row.token_id}`, {
    size,
    realized_pnl: realized,
    unrealized_pnl: unrealized,
    total_pnl: total,
    current_price: price,
    total_bought: bought,
  });
  const bySize = await pagesOf<Row>(deps, `/clobv2/positions?condition_id=${market.condition}`, 'positions', 500);
  compareRows(comparison, '/clobv2/positions?condition_id=', bySize, own, (row) => `${row.wallet} ${row.token_id}`, {
    size,
    realized_pnl_usdc: realized,
  });
  const traders = await api.ok<{ outcomes: { positions: Row[] }[] }>(
    `/v1/markets/${market.condition}/positions?limit=500`,
    key,
  );
  compareRows(
    comparison,
    '/v1/markets/{id}/positions',
    traders.outcomes.flatMap((outcome) => outcome.positions),
    own,
    (row) => `${row.proxyWallet} ${row.asset}`,
    {
      size,
      currentValue: (one) => one.value,
      totalBought: bought,
      realizedPnl: realized,
      cashPnl: unrealized,
      totalPnl: total,
      currPrice: price,
    },
  );
}
