import type { AnyEvent } from '../../schemas/codec.js';
import type { Step } from './steps.js';
import { ScriptedVenue } from './world.js';

/** A history of which only the blocks from some block on are in the log, and what the chain says about it. */
export interface PartialHistory {
  readonly wallets: readonly string[];
  readonly world: ScriptedVenue;
  /** The blocks in the log. */
  readonly blocks: readonly (readonly AnyEvent[])[];
  /** Shares per `wallet token` before the first of these blocks. */
  readonly before: ReadonlyMap<string, bigint>;
  /** Shares at the end. */
  readonly after: ReadonlyMap<string, bigint>;
  /** `wallet token` of which more shares left than came in since the log begins, at the end of a block. */
  readonly overdrawn: ReadonlySet<string>;
}

/** Plays the steps; `lost`: the part of the blocks, 0 to 1, that the log does not have. */
export function partialHistory(
  steps: readonly (readonly [Step, boolean])[],
  options: ConstructorParameters<typeof ScriptedVenue>[1],
  lost: number,
): PartialHistory {
  const world = new ScriptedVenue(true, options);
  const balances: ReadonlyMap<string, bigint>[] = [];
  const endBlock = () => {
    world.endBlock();
    balances.push(new Map(world.balances));
  };
  for (const [step, ends] of steps) {
    step(world);
    world.endTransaction();
    if (ends) endBlock();
  }
  endBlock();
  const first = Math.min(Math.floor(lost * world.blocks.length), world.blocks.length - 1);
  const before = balances[first - 1] ?? new Map<string, bigint>();
  const blocks = world.blocks.slice(first);
  // A redemption whose log has no amounts takes an unknown number of shares.
  const untold = new Set(
    blocks.flat().flatMap((event) => {
      if (event.kind !== 'redemption' || event.value.amounts !== null) return [];
      const { redeemer, condition_id } = event.value;
      const market = world.markets.find(({ condition }) => condition === condition_id);
      return (market?.tokens ?? []).map((token) => `${redeemer} ${token}`);
    }),
  );
  const overdrawn = new Set<string>();
  for (const now of balances.slice(first))
    for (const [key, amount] of now) if (amount < (before.get(key) ?? 0n) && !untold.has(key)) overdrawn.add(key);
  return { wallets: world.wallets, world, blocks, before, after: world.balances, overdrawn };
}
