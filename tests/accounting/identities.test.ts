import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { chainSink } from '../../processors/chain/sink.js';
import { fillsSink } from '../../processors/fills/sink.js';
import { walletEventsSink } from '../../processors/wallet-events/sink.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { insertAccounts, insertRecords } from '../support/positions.js';
import { activityOfBlocks } from '../support/recorded-tables.js';
import { checkIdentities } from './identities.js';
import { history } from './steps.js';
import { ScriptedVenue } from './world.js';

let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse();
});
afterAll(() => engine.stop());

const TABLES = [
  ...new Set([...fillsSink.tables, ...chainSink.tables, ...walletEventsSink.tables].map(({ name }) => name)),
  ...['fills_by_wallet', 'positions', 'positions_by_token', 'pnl_events', 'wallet_days', 'minted_by_token'],
  ...['combo_events', 'combo_markets'],
];
afterEach(async () => {
  for (const table of TABLES) await engine.client.command(`TRUNCATE TABLE ${table}`);
});

/** A generated history, and the supply of each token at the end of each block according to the simulated contracts. */
function generated(transfers: boolean, seed: number) {
  const steps = fc.sample(history(transfers), { numRuns: 120, seed }).flat();
  const world = new ScriptedVenue(true, { wallets: 6, plain: 2, questions: 4, combos: 2, feeBips: 37 });
  const supplies: ReadonlyMap<string, bigint>[] = [];
  steps.forEach(([step, ends], n) => {
    step(world);
    world.endTransaction();
    if (!ends && n + 1 < steps.length) return;
    world.endBlock();
    const supply = new Map<string, bigint>();
    for (const [key, amount] of world.balances) {
      const token = key.split(' ')[1] ?? '';
      supply.set(token, (supply.get(token) ?? 0n) + amount);
    }
    supplies.push(supply);
  });
  return { world, supplies };
}

it.each([
  ['without transfers', false, 18],
  ['with transfers', true, 19],
])('accounting identities hold in every block of generated histories %s', async (_what, transfers, seed) => {
  const { world, supplies } = generated(transfers, seed);
  const events = world.blocks.flat();
  for (const sink of [fillsSink, chainSink, walletEventsSink])
    await insertRecords(
      engine.client,
      sink,
      events.filter(({ kind }) => sink.kinds.has(kind)),
    );
  await insertAccounts(engine.client, activityOfBlocks(world.blocks));
  const combos = world.markets.filter(({ combo }) => combo).flatMap(({ tokens }) => tokens);
  const covered = await engine.client.query<{ combos: string; realized: string; converted: string }>(
    `SELECT countIf(bitShiftRight(token_id, 248) = 3) AS combos, countIf(has({combos:Array(String)}, toString(token_id)) AND e.realized_pnl != 0) AS realized,
      countIf(action = 'CONVERT') AS converted FROM pnl_events AS e FINAL`,
    { combos },
  );
  expect(Number(covered[0]?.combos)).toBeGreaterThan(20);
  expect(Number(covered[0]?.realized)).toBeGreaterThan(20);
  expect(Number(covered[0]?.converted)).toBeGreaterThan(20);

  // The log of a taker order has the offered amount, part of which may be returned; the balances of the contracts are compared below instead.
  const skip = [
    'block and token: shares = minted - burnt',
    'block and condition: the fills mint as much of one outcome as of the other',
    'wallet: cash in - cash out + value = PnL + fees',
    'block and wallet: cumulative cash = cumulative realized - cost',
    // Conversions move cost between positions.
    'position: cash of its changes = realized - cost - fees in shares - sent',
  ];
  for (const [name, { compared, violations, largest }] of await checkIdentities(engine.client, skip)) {
    expect(compared, name).toBeGreaterThan(0);
    expect(violations, `${name}: ${violations} of ${compared} rows, difference at most ${largest}`).toBe(0);
  }

  const changes = await engine.client.query<{ block: string; token: string; shares: string }>(
    'SELECT toString(block_number) AS block, toString(token_id) AS token, toString(sum(shares)) AS shares FROM pnl_events FINAL GROUP BY block_number, token_id ORDER BY block_number',
  );
  const shares = new Map<string, bigint>();
  let next = 0;
  supplies.forEach((supply, n) => {
    for (; Number(changes[next]?.block ?? Number.POSITIVE_INFINITY) <= n + 1; next++) {
      const change = changes[next];
      if (change !== undefined) shares.set(change.token, (shares.get(change.token) ?? 0n) + BigInt(change.shares));
    }
    for (const [token, amount] of supply) expect(shares.get(token) ?? 0n, `block ${n + 1}, ${token}`).toBe(amount);
  });
  expect(next).toBe(changes.length);

  const rows = await engine.client.query<{ wallet: string; cash: string; positions: string; transfers: string }>(
    `SELECT wallet, toString(sum(e.cash) - sum(toInt64(e.fee))) AS cash, toString(uniqExact(token_id)) AS positions,
      toString(countIf(action IN ('SEND', 'RECEIVE'))) AS transfers FROM pnl_events AS e FINAL GROUP BY wallet`,
  );
  for (const { wallet, cash, transfers: count } of rows)
    if (count === '0') expect(BigInt(cash), wallet).toBe(world.cash.get(wallet) ?? 0n);
  expect(rows).toHaveLength(world.wallets.length);
});
