import { parseArgs } from 'node:util';

export interface SoakArguments {
  readonly minutes: number;
  /** Fills per second. */
  readonly rate: number;
  /** Seconds between two kills; 0: no kills. */
  readonly killEveryS: number;
  readonly seed: number;
  /** Wallets of the generated venue; each can have a position in each of its 200 tokens. */
  readonly wallets: number;
}

/** Fills per second that the venue has on an average day, times ten. */
const DEFAULT_RATE = 460;
/** A block of two seconds has at most this many fills, since the fake node numbers the transactions of a block up to 999. */
const MAX_RATE = 490;

export const USAGE = `npm run soak -- [--minutes N] [--rate R] [--kill-every S] [--seed N] [--wallets N]

  --minutes N      measured time, default 60
  --rate R         fills per second, 1 to ${MAX_RATE}, default ${DEFAULT_RATE} (ten times the venue's)
  --kill-every S   seconds between two kills (SIGKILL) of a random process, default 60; 0: none
  --seed N         choice of the processes, filters and wallets, default 1
  --wallets N      wallets of the venue, default 2000; with 500 all of its positions are open after 10 minutes`;

/** Arguments of `npm run soak`. Throws an Error with one sentence. */
export function parseSoakArguments(args: readonly string[]): SoakArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '60' },
      rate: { type: 'string', default: String(DEFAULT_RATE) },
      'kill-every': { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      wallets: { type: 'string', default: '2000' },
    },
  });
  const number = (name: keyof typeof values, from: number, to: number) => {
    const value = Number(values[name]);
    if (!Number.isFinite(value) || value < from || value > to)
      throw new Error(`--${name} must be a number from ${from} to ${to}`);
    return value;
  };
  return {
    minutes: number('minutes', 0.5, 10_000),
    rate: number('rate', 1, MAX_RATE),
    killEveryS: number('kill-every', 0, 3_600),
    seed: number('seed', 0, 2 ** 31),
    wallets: Math.floor(number('wallets', 20, 100_000)),
  };
}
