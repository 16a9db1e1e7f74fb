import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createLeaderboardRefresher } from '../../processors/leaderboards/leaderboard-refresher.js';
import type { Trade } from '../../schemas/types.gen.js';
import type { Market } from '../accounting/world.js';
import { type AgreementWorld, agreementSeeds, startAgreementWorld, WORLD_TAG } from '../support/agreement-world.js';

type Row = Record<string, unknown>;

/** USD and shares of two views of the same base units. */
const near = (shown: unknown, wanted: number, what: string) =>
  expect(Math.abs(Number(shown) - wanted), `${what}: ${shown}, not ${wanted}`).toBeLessThan(1.1e-6);
const inUnits = (shown: unknown) => Math.round(Number(shown) * 1e6);
const usd = (units: bigint) => Number(units) / 1e6;
const sumOf = <T>(rows: readonly T[], of: (row: T) => bigint) => rows.reduce((sum, row) => sum + of(row), 0n);

describe.each(agreementSeeds)('endpoints of markets and wallets agree, world %i', (seed) => {
  let world: AgreementWorld;
  let get: <T>(path: string) => Promise<T>;
  /** Rows of /v3/wallets/{w}/positions by wallet. */
  const positionsOf = new Map<string, readonly Row[]>();
  let named: readonly Market[];

  beforeAll(async () => {
    world = await startAgreementWorld(seed);
    const { api, key, venue, expectations } = world;
    get = (path) => api.ok(path, key);
    named = venue.markets.filter(({ tokens }) => expectations.get(tokens[0])?.isNamed);
    for (const wallet of venue.wallets) {
      positionsOf.set(wallet, (await get<{ positions: Row[] }>(`/v3/wallets/${wallet}/positions?limit=100`)).positions);
    }
    // The retention of snapshots uses the clock of the engine.
    await createLeaderboardRefresher({
      clickhouse: api.clickhouse,
      logger: silentLogger(),
      metrics: createMetrics({ process: 'test', defaults: false }),
      nowMs: Date.now,
    }).refresh();
  });
  afterAll(() => world.api.stop());

  const holdersOf = (tokens: readonly string[]) =>
    [...positionsOf].flatMap(([wallet, rows]) =>
      rows.filter((row) => tokens.includes(String(row.token_id))).map((row) => ({ ...row, wallet }) as Row),
    );
  const byId = (rows: readonly Row[], wallet: string, token: string) =>
    rows.map((row) => `${row[wallet]} ${row[token]}`).sort();
  const fillsOf = (tokens: readonly string[]) => world.trades.filter((trade) => tokens.includes(trade.token_id));

  it('sizes are the balances of the chain', () => {
    for (const [wallet, rows] of positionsOf)
      for (const row of rows) {
        const token = String(row.token_id);
        const market = world.expectations.get(token)?.market;
        if (market !== undefined && world.hasKnownBalances(market))
          near(row.size, usd(world.venue.balance(wallet, token)), `${wallet} ${token}`);
      }
  });

  it('holders of a market in every endpoint that lists them', async () => {
    for (const market of named) {
      const { condition, tokens } = market;
      const wanted = holdersOf(tokens);
      const ids = byId(wanted, 'wallet', 'token_id');
      const rowOf = new Map(wanted.map((row) => [`${row.wallet} ${row.token_id}`, row]));
      const lists: [path: string, rows: string, wallet: string][] = [
        [`/v3/positions?condition_id=${condition}&limit=300`, 'positions', 'wallet'],
        [`/v2/onchain/positions?condition_id=${condition}&limit=500`, 'positions', 'wallet'],
        [`/clobv2/positions?condition_id=${condition}&limit=500`, 'positions', 'wallet'],
        [`/v3/markets/condition/${condition}/positions?limit=300`, 'data', 'user'],
      ];
      if (world.traitsOf(market).isCatalogued)
        lists.push([`/v3/markets/slug/${world.slugOf(market)}/positions?limit=300`, 'data', 'user']);
      for (const [path, rows, wallet] of lists) {
        const page = (await get<Record<string, Row[]>>(path))[rows] as Row[];
        expect(byId(page, wallet, 'token_id'), path).toEqual(ids);
        for (const row of page) {
          const same = rowOf.get(`${row[wallet]} ${row.token_id}`) as Row;
          const what = `${path} ${row[wallet]} ${row.token_id}`;
          const size = row.amount === undefined ? inUnits(row.size) : Number(row.amount);
          expect(size, what).toBe(inUnits(same.size));
          const realized = row.realized_pnl_usdc === undefined ? row.realized_pnl : row.realized_pnl_usdc;
          // Null where the history does not tell it; else base units, cents, or USD.
          if (same.realized_pnl === null) expect(realized, what).toBeNull();
          else if (path.startsWith('/v3/markets')) expect(Number(realized), what).toBe(inUnits(same.realized_pnl));
          else expect(Math.abs(Number(realized) - Number(same.realized_pnl)), what).toBeLessThan(0.0051);
          if (row.condition_id !== undefined) expect(row.condition_id, what).toBe(condition);
          if (row.current_price != null) near(row.current_price, Number(same.current_price), what);
          if (row.neg_risk !== undefined) expect(row.neg_risk, what).toBe(market.negRisk);
        }
      }
    }
  });

  it('holders of a token, named or not', async () => {
    for (const [token] of world.expectations) {
      const wanted = holdersOf([token]);
      const v3 = (await get<{ data: Row[] }>(`/v3/markets/${token}/positions?limit=300`)).data;
      expect(v3.map((row) => [row.user, Number(row.amount)]).sort(), token).toEqual(
        wanted.map((row) => [row.wallet, inUnits(row.size)]).sort(),
      );
      const all = (await get<{ positions: Row[] }>(`/v3/positions?token_id=${token}&limit=300`)).positions;
      expect(all.map((row) => [row.wallet, row.total_pnl]).sort(), token).toEqual(
        wanted.map((row) => [row.wallet, row.total_pnl]).sort(),
      );
    }
  });

  it('top traders and trades of a market on v1', async () => {
    for (const market of named) {
      const { condition, tokens } = market;
      const traders = await get<{ outcomes: { token: string; positions: Row[] }[] }>(
        `/v1/markets/${condition}/positions?limit=100`,
      );
      expect(
        traders.outcomes.map(({ token }) => token),
        condition,
      ).toEqual([...tokens]);
      for (const { token, positions } of traders.outcomes) {
        const truth = world.expectations.get(token);
        const wanted = new Map(holdersOf([token]).map((row) => [row.wallet, row]));
        expect(positions.map((row) => row.proxyWallet).sort(), token).toEqual([...wanted.keys()].sort());
        for (const row of positions) {
          const same = wanted.get(row.proxyWallet) as Row;
          const what = `${token} ${row.proxyWallet}`;
          expect([row.size, row.realizedPnl, row.cashPnl, row.totalPnl, row.currPrice], what).toEqual([
            same.size,
            same.realized_pnl,
            same.unrealized_pnl,
            same.total_pnl,
            same.current_price,
          ]);
          expect([row.conditionId, row.outcomeIndex], what).toEqual([condition, truth?.index]);
        }
      }
      const listed = await get<Row & { trades: Row[] }>(`/v1/markets/${condition}/trades?limit=500`);
      expect(listed.condition_id).toBe(condition);
      const { trades } = listed;
      expect(trades.length, condition).toBe(Math.min(fillsOf(tokens).length, 500));
      const last = fillsOf(tokens).at(-1);
      if (last !== undefined) {
        expect(trades[0], condition).toMatchObject({ proxyWallet: last.maker, side: last.side });
        near(trades[0]?.size, usd(last.shares - last.fee_shares), condition);
      }
    }
  });

  const expectTokenFields = (row: Row, token: string, what: string) => {
    const truth = world.expectations.get(token);
    expect(row.neg_risk, what).toBe(truth?.market.negRisk);
    if (truth === undefined || !truth.isNamed) return;
    expect(row, what).toMatchObject({
      condition_id: truth.market.condition,
      outcome_index: truth.index,
      opposite_asset: truth.market.tokens[1 - truth.index],
    });
  };

  it('fills of a token in every API group, with token, condition and exchange', async () => {
    const firstVersionOf: Readonly<Record<string, number>> = { v3: 1, 'v2/onchain': 1, clobv2: 2 };
    for (const [token, truth] of world.expectations) {
      for (const [group, firstVersion] of Object.entries(firstVersionOf)) {
        const wanted = fillsOf([token]).filter((trade) => trade.exchange_version >= firstVersion);
        const paths = [`/${group}/trades?token_id=${token}&limit=500`];
        if (truth.isNamed && wanted.length > 0)
          paths.push(`/${group}/trades?condition_id=${truth.market.condition}&token_id=${token}&limit=500`);
        for (const path of paths) {
          const { trades } = await get<{ trades: Row[] }>(path);
          expect(
            trades.map((row) => row.order_hash),
            path,
          ).toEqual(wanted.map((trade) => trade.order_hash).reverse());
          for (const row of trades) expectTokenFields(row, token, path);
        }
      }
    }
    let listed = 0;
    for (const wallet of world.venue.wallets) {
      for (const path of [
        `/v3/wallets/${wallet}/trades?limit=100`,
        `/v2/onchain/wallets/${wallet}/trades?limit=100`,
        `/clobv2/wallets/${wallet}/trades?limit=100`,
        `/v2/onchain/trades?wallet=${wallet}&group_by=order_hash`,
        `/v3/wallets/${wallet}/trades?group_by=user_trade`,
      ]) {
        const { trades } = await get<{ trades: Row[] }>(path);
        listed += trades.length;
        for (const row of trades) {
          const assets = [row.token_id, row.maker_asset_id, row.taker_asset_id].map(String);
          const token = assets.find((asset) => world.expectations.has(asset));
          if (token !== undefined) expectTokenFields(row, token, path);
        }
      }
      const { trades } = await get<{ trades: Row[] }>(`/v1/wallets/${wallet}/trades`);
      for (const row of trades) {
        const truth = world.expectations.get(String(row.asset));
        if (truth === undefined) continue;
        expect(row.negativeRisk).toBe(truth.market.negRisk);
        if (!truth.isNamed) continue;
        expect(row).toMatchObject({
          conditionId: truth.market.condition,
          outcomeIndex: truth.index,
          oppositeAsset: truth.market.tokens[1 - truth.index],
        });
      }
    }
    expect(listed).toBeGreaterThan(world.trades.length);
  });

  it('candles and volumes of a token in every API group', async () => {
    const isMatch = (trade: Trade) => !trade.is_taker_order;
    for (const [token, truth] of world.expectations) {
      const { condition } = truth.market;
      const matches = fillsOf([token]).filter(isMatch);
      const last = matches.at(-1);
      const check = (
        candles: readonly Row[],
        newest: Row | undefined,
        usdField: string,
        own: Trade[],
        what: string,
      ) => {
        const sum = candles.reduce((total, row) => total + Number(row[usdField]), 0);
        near(sum, usd(sumOf(own, ({ usdc }) => usdc)), `${what} volume`);
        const trades = candles.reduce((total, row) => total + Number(row.trades), 0);
        expect(trades, `${what} trades`).toBe(own.length);
        const end = own.at(-1);
        if (end !== undefined) near(newest?.close, Number(end.usdc) / Number(end.shares), `${what} close`);
      };
      if (truth.isNamed || last !== undefined) {
        const path = `/v3/markets/${token}/candles?resolution=1d`;
        const { candles, ...about } = await get<{ candles: Row[] } & Row>(path);
        check(candles, candles.at(-1), 'volume_usd', matches, path);
        if (truth.isNamed) expect(about, path).toMatchObject({ condition_id: condition, outcome_index: truth.index });
      }
      const v2 = [`/v2/onchain/candles/${token}?resolution=1d`];
      if (truth.isNamed) {
        v2.push(`/v2/onchain/candles?condition_id=${condition}&token_id=${token}&resolution=1d`);
        const path = `/v3/markets/condition/${condition}/candles?resolution=1d&token_id=${token}`;
        const { series } = await get<{ series: { token_id: string; candles: Row[] }[] }>(path);
        expect(
          series.map((one) => one.token_id),
          path,
        ).toEqual([token]);
        check(series[0]?.candles ?? [], series[0]?.candles.at(-1), 'volume_usd', matches, path);
      }
      for (const path of v2) {
        const { candles } = await get<{ candles: Row[] }>(path);
        check(candles, candles.at(-1), 'volume', matches, path);
      }
      const own = matches.filter((trade) => trade.exchange_version >= 2);
      const path = `/clobv2/candles/${token}?resolution=1d`;
      const { candles } = await get<{ candles: Row[] }>(path);
      const total = candles.reduce((sum, row) => sum + Number(row.trades), 0);
      expect([own.length, matches.length], path).toContain(total);
      const volume = await get<Row>(`/clobv2/markets/${token}/volume`);
      near(volume.volume_usdc, usd(sumOf(own, ({ usdc }) => usdc)), `clobv2 volume ${token}`);
      const all = await get<Row>(`/v2/onchain/markets/${token}/volume`);
      near(all.volume_usdc, usd(sumOf(matches, ({ usdc }) => usdc)), `v2 volume ${token}`);
      expect(all.total_trades, token).toBe(matches.length);
    }
  });

  it('open interest is the collateral on chain if the history is complete, else null', async () => {
    for (const market of named) {
      const oi = await get<Row>(`/v2/onchain/markets/${market.condition}/oi`);
      // Conversions move sets between the questions of a group, so merges can take more out of one than splits brought in: no open interest.
      const collateral = world.venue.collateral.get(market.condition) ?? 0n;
      const complete = world.traitsOf(market).isPrepared && collateral >= 0n;
      expect(oi, market.condition).toMatchObject({ found: true, complete });
      if (complete) {
        near(oi.open_interest_usdc, usd(collateral), market.condition);
      } else expect(oi.open_interest_usdc, market.condition).toBeNull();
    }
  });

  it('PnL of a wallet in leaderboards, summaries and lists is the sum of its positions', async () => {
    const wins = (rows: readonly Row[]) => rows.filter((row) => Number(row.realized_pnl) > 0).length;
    const total = (rows: readonly Row[], field: string) =>
      rows.reduce((sum, row) => sum + inUnits(row[field]), 0) / 1e6;
    const expectSums = (row: Row, rows: readonly Row[], what: string) => {
      near(row.net_realized_pnl, total(rows, 'realized_pnl'), `${what} realized`);
      near(row.unrealized_pnl, total(rows, 'unrealized_pnl'), `${what} unrealized`);
      near(row.total_pnl, total(rows, 'total_pnl'), `${what} total`);
      expect([row.position_count, row.wins], what).toEqual([rows.length, wins(rows)]);
    };
    const { leaderboard } = await get<{ leaderboard: Row[] }>('/v3/leaderboard?limit=100');
    expect(leaderboard.map((row) => row.wallet).sort()).toEqual(
      [...positionsOf]
        .filter(([, rows]) => rows.length > 0)
        .map(([wallet]) => wallet)
        .sort(),
    );
    const order = leaderboard.map((row) => Number(row.total_pnl));
    expect(order).toEqual([...order].sort((a, b) => b - a));
    for (const row of leaderboard)
      expectSums(row, positionsOf.get(String(row.wallet)) ?? [], `leaderboard ${row.wallet}`);
    for (const [wallet, rows] of positionsOf) {
      expectSums(await get<Row>(`/v3/wallets/${wallet}`), rows, `summary ${wallet}`);
      if (rows.length === 0) continue;
      const v2 = await get<Row>(`/v2/wallets/${wallet}/positions/onchain`);
      for (const part of ['realized_pnl', 'unrealized_pnl'] as const)
        expect(Math.abs(Number(v2[`total_${part}`]) - total(rows, part)), `v2 ${part} ${wallet}`).toBeLessThan(0.0051);
      // The total is rounded once, so it may differ by a cent from the sum of the rounded amounts.
      const exact = total(rows, 'realized_pnl') + total(rows, 'unrealized_pnl');
      expect(Math.abs(Number(v2.total_pnl) - exact), `v2 ${wallet}`).toBeLessThan(0.0051);
    }
    for (const market of named) {
      const path = `/v3/leaderboard?condition_id=${market.condition}&limit=100`;
      const rows = (await get<{ leaderboard: Row[] }>(path)).leaderboard;
      const holders = holdersOf(market.tokens);
      expect(rows.map((row) => row.wallet).sort(), path).toEqual([...new Set(holders.map((row) => row.wallet))].sort());
      for (const row of rows)
        expectSums(
          row,
          holders.filter(({ wallet }) => wallet === row.wallet),
          path,
        );
    }
    const tagged = holdersOf(
      named.filter((market) => world.traitsOf(market).isCatalogued).flatMap(({ tokens }) => tokens),
    );
    const { data } = await get<{ data: Row[] }>(`/v3/tags/${WORLD_TAG}/leaderboard?limit=100`);
    expect(data.length).toBe(new Set(tagged.map((row) => row.wallet)).size);
    for (const row of data) {
      const own = tagged.filter(({ wallet }) => wallet === row.wallet);
      near(row.net_pnl, total(own, 'realized_pnl'), `tag ${row.wallet}`);
      expect(row.position_count).toBe(own.length);
    }
  });
});
