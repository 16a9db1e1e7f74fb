import fc from 'fast-check';
import type { Maker, ScriptedVenue } from './world.js';

/** A step of the simulated venue. */
export type Step = (world: ScriptedVenue) => void;
const small = fc.integer({ min: 0, max: 7 });
/** Even, so that halves of it are whole base units. */
const amount = fc.integer({ min: 1, max: 200_000_000 }).map((n) => BigInt(n) * 2n);
const outcome = fc.constantFrom(0 as const, 1 as const);
const maker: fc.Arbitrary<Maker> = fc.record({
  wallet: small,
  shares: amount,
  cents: fc.integer({ min: 1, max: 99 }).map(BigInt),
  opposite: fc.boolean(),
});

const matchStep: fc.Arbitrary<Step> = fc
  .record({
    market: small,
    outcome,
    taker: small,
    side: fc.constantFrom('BUY' as const, 'SELL' as const),
    makers: fc.array(maker, { minLength: 1, maxLength: 3 }),
    generation: fc.constantFrom(1 as const, 2 as const),
    feeBps: fc.constantFrom(0n, 17n, 250n),
    leftover: fc.constantFrom(0n, 0n, 12_346n),
    direct: fc.constantFrom(false, false, false, false, true),
  })
  .map((of) => (world) => world.match(of));
const setStep: fc.Arbitrary<Step> = fc
  .tuple(fc.constantFrom('split' as const, 'merge' as const), small, small, amount)
  .map(
    ([kind, market, who, sets]) =>
      (world) =>
        world.set(kind, market, who, sets),
  );
const resolveStep: fc.Arbitrary<Step> = fc.tuple(small, fc.constantFrom(0n, 1n, 2n)).map(
  ([market, first]) =>
    (world) =>
      world.resolve(market, first),
);
const redeemStep: fc.Arbitrary<Step> = fc.tuple(small, small, fc.boolean()).map(
  ([market, who, amountsLogged]) =>
    (world) =>
      world.redeem(market, who, amountsLogged),
);
const convertStep: fc.Arbitrary<Step> = fc.tuple(fc.integer({ min: 1, max: 15 }), small, amount, fc.boolean()).map(
  ([mask, who, each, termsLogged]) =>
    (world) =>
      world.convert(mask, who, each, termsLogged),
);
const transferStep: fc.Arbitrary<Step> = fc.tuple(small, outcome, small, small, amount).map(
  ([market, side, from, to, each]) =>
    (world) =>
      world.transfer(market, side, from, to, each),
);

/** Histories of all kinds of steps, with block boundaries at random positions. */
export const history = (transfers: boolean) =>
  fc.array(
    fc.tuple(
      fc.oneof(
        { weight: 10, arbitrary: matchStep },
        { weight: 3, arbitrary: setStep },
        { weight: 3, arbitrary: convertStep },
        { weight: 1, arbitrary: resolveStep },
        { weight: 3, arbitrary: redeemStep },
        ...(transfers ? [{ weight: 2, arbitrary: transferStep }] : []),
      ),
      // True: the block ends after this step.
      fc.boolean(),
    ),
    { minLength: 1, maxLength: 60 },
  );

/** Runs the steps; each is a transaction. */
export function play(world: ScriptedVenue, steps: readonly (readonly [Step, boolean])[]): ScriptedVenue {
  for (const [step, ends] of steps) {
    step(world);
    world.endTransaction();
    if (ends) world.endBlock();
  }
  world.endBlock();
  return world;
}
