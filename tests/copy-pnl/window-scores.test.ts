import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScoreReader } from '../../api/copy-pnl/score-reader.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import { computeBlockActivity } from '../../processors/activity/block-activity.js';
import { createTokens } from '../../processors/activity/tokens.js';
import { walletActivitySink } from '../../processors/wallet-activity/sink.js';
import type { ActivityState, WalletActivity } from '../../schemas/types.gen.js';
import { Fraction } from '../accounting/fraction.js';
import { recordedActivity } from '../accounting/recorded-wallets.js';
import { history, play } from '../accounting/steps.js';
import { ScriptedVenue } from '../accounting/world.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { insertRecords } from '../support/positions.js';
import { referenceScore } from './reference-score.js';

let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse();
});
afterAll(() => engine.stop());

const insert = (activity: readonly WalletActivity[]) =>
  insertRecords(
    engine.client,
    walletActivitySink,
    activity.map((value) => ({ kind: 'wallet_activity', value })),
  );

const byWallet = (activity: readonly WalletActivity[]): ReadonlyMap<string, readonly WalletActivity[]> => {
  const wallets = new Map<string, WalletActivity[]>();
  for (const one of activity) {
    const found = wallets.get(one.wallet);
    if (found === undefined) wallets.set(one.wallet, [one]);
    else found.push(one);
  }
  return wallets;
};

/** Compares the scores with the reference score for every wallet of a window. */
async function expectSameAsReference(
  activity: ReadonlyMap<string, readonly WalletActivity[]>,
  window: { readonly fromS: number; readonly toS: number },
): Promise<void> {
  const scores = createScoreReader({ tables: createClickHouseTables(engine.client), batchBudgetMs: 240_000 });
  const wallets = [...activity.keys()];
  const found = await scores.scores(wallets, window, { includeTrades: false, maxTrades: 1, slippageBps: 200 });
  for (const [n, wallet] of wallets.entries()) {
    const reference = referenceScore(activity.get(wallet) ?? [], window);
    const score = found[n];
    if (score instanceof Error) throw score;
    const cash = score?.cash;
    expect(score?.partial, wallet).toBe(false);
    expect(
      [
        cash?.rows ?? '0',
        cash?.fills ?? '0',
        cash?.bought ?? '0',
        cash?.sold ?? '0',
        cash?.settled_in ?? '0',
        cash?.settled_out ?? '0',
        cash?.fees ?? '0',
        cash?.slippage ?? '0',
      ].map(BigInt),
      wallet,
    ).toEqual([
      BigInt(reference.rows),
      BigInt(reference.fills),
      reference.bought,
      reference.sold,
      reference.settledIn,
      reference.settledOut,
      reference.fees,
      reference.slippage,
    ]);
    const counts = [cash?.redemptions, cash?.merges, cash?.splits, cash?.conversions].map((count) =>
      Number(count ?? 0),
    );
    expect(counts, wallet).toEqual(['REDEEM', 'MERGE', 'SPLIT', 'CONVERT'].map((kind) => reference.kinds[kind] ?? 0));
    const { closed, overSells, realized, absolute, weighted } = reference;
    expect(score?.realized, wallet).toEqual({ closed, overSells, realized, absolute, weighted });
  }
}

/** Activity of a generated history, with wallets renamed so that histories do not share any. */
function activityOfWorld(world: ScriptedVenue, n: number): readonly WalletActivity[] {
  const memory = new Map<string, ActivityState>();
  const state = {
    get: (id: string) => memory.get(id),
    set: (id: string, value: ActivityState) => void memory.set(id, value),
  };
  const tokens = createTokens();
  return world.blocks.flatMap((events) =>
    computeBlockActivity(events, tokens, state).activity.map((one) => ({ ...one, wallet: renamed(one.wallet, n) })),
  );
}
const renamed = (wallet: string, n: number) => `0x${n.toString(16).padStart(8, '0')}${wallet.slice(10)}`;

describe('scores of a window', () => {
  it('equal the reference score on generated histories, whole and cut by windows, and the naive ledger in fractions', async () => {
    const cases = fc.sample(fc.tuple(history(true), fc.boolean(), fc.boolean(), fc.boolean()), {
      numRuns: 120,
      seed: 20,
    });
    const worlds = cases.map(([steps, strict, unlogged, countLogged]) =>
      play(new ScriptedVenue(strict, { wallets: 4, plain: 2, questions: 4, unlogged, countLogged }), steps),
    );
    const activity = byWallet(worlds.flatMap(activityOfWorld));
    await insert([...activity.values()].flat());
    const times = [...activity.values()].flat().map((one) => Math.floor(one.timestamp_ms / 1000));
    const [first, last] = [Math.min(...times), Math.max(...times)];
    const middle = Math.floor((first + last) / 2);
    for (const window of [
      { fromS: first, toS: last + 1 },
      { fromS: first + 1, toS: last },
      { fromS: middle, toS: last + 1 },
      { fromS: Math.floor((first + middle) / 2), toS: Math.floor((middle + last) / 2) },
    ])
      await expectSameAsReference(activity, window);

    // The whole history in the naive ledger: realized PnL equal to a base unit per position.
    worlds.forEach((world, n) => {
      for (const wallet of world.wallets) {
        const reference = referenceScore(activity.get(renamed(wallet, n)) ?? [], { fromS: 0, toS: last + 1 });
        const keys = [...world.ledger.entries.keys()].filter((key) => key.startsWith(`${wallet} `));
        const ledgerPnl = keys.reduce(
          (sum, key) => sum.plus(world.ledger.sheet(wallet, key.split(' ')[1] ?? '').realized),
          Fraction.of(0),
        );
        const difference = ledgerPnl.minus(Fraction.of(reference.realized, 1_000_000n));
        const slack = Fraction.of(keys.length + 1, 1_000_000n);
        expect(
          difference.compare(slack) < 0 && difference.compare(Fraction.of(0).minus(slack)) > 0,
          `${n} ${wallet}`,
        ).toBe(true);
      }
    });
  }, 240_000);

  it('equal the reference score for recorded wallets', async () => {
    const all = await recordedActivity();
    const wallets = byWallet(all);
    await insert(all);
    const times = all.map((one) => Math.floor(one.timestamp_ms / 1000));
    const [first, last] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))];
    // One statement per wallet, as a request has it: each twentieth wallet and the largest.
    const some = [...wallets].filter(([, rows], n) => n % 20 === 0 || rows.length > 20_000);
    expect(some.length).toBeGreaterThan(28);
    const middle = Math.floor((first + last) / 2);
    for (const [n, one] of some.entries())
      await expectSameAsReference(
        new Map([one]),
        n % 2 === 0 ? { fromS: first, toS: last + 1 } : { fromS: middle, toS: last },
      );
  }, 240_000);
});
