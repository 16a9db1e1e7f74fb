import type { Hex } from '../../ingest/chain/source.js';
import { tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import { randomInt } from './random.js';

const ORDER_FILLED_V2: Hex = '0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee';
const MARKETS = 100;
const MARKETS_PER_EVENT = 2;

const word = (value: number | bigint): string => value.toString(16).padStart(64, '0');
const hash = (prefix: string, value: number): Hex =>
  `0x${prefix}${value.toString(16).padStart(64 - prefix.length, '0')}`;

export const walletOf = (n: number): string => `0x${(0xabc_0000 + n).toString(16).padStart(40, '0')}`;

interface WorldMarket {
  readonly condition: Hex;
  readonly tokens: readonly [string, string];
}

/** Generated venue of the soak: markets with their catalogue, and for each block the logs of its fills; the same for the same seed. */
export interface SoakWorld {
  readonly wallets: number;
  readonly markets: readonly WorldMarket[];
  readonly tokens: readonly string[];
  /** Events of the catalogue service. */
  readonly events: Record<string, unknown>[];
  logsOf(block: number): readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
}

/** `fillsPerBlock`: fills of each block after `emptyBlocks`. */
export function createSoakWorld(options: {
  seed: number;
  wallets: number;
  fillsPerBlock: number;
  emptyBlocks: number;
}): SoakWorld {
  const { seed, wallets } = options;
  const markets = Array.from({ length: MARKETS }, (_, n): WorldMarket => {
    const condition = hash('c0', seed * MARKETS + n + 1);
    return { condition, tokens: tokenPair(addresses.usdcE, condition) as unknown as readonly [string, string] };
  });
  const fill = (block: number, index: number) => {
    const random = (below: number, what: number) => randomInt(below, seed, block, index, what);
    const tokens = (markets[random(MARKETS, 1)] as WorldMarket).tokens;
    const [maker, taker] = [random(wallets, 2), random(wallets, 3)];
    const side = random(2, 4);
    const cents = 1 + random(99, 5);
    const shares = (1 + random(500, 6)) * 10_000;
    const usdc = (shares / 100) * cents;
    const [paid, received] = side === 0 ? [usdc, shares] : [shares, usdc];
    return {
      address: addresses.exchangeV2 as Hex,
      topics: [
        ORDER_FILLED_V2,
        hash('0d', block * 1_000 + index),
        `0x${word(BigInt(walletOf(maker)))}`,
        `0x${word(BigInt(walletOf(taker)))}`,
      ] as Hex[],
      data: `0x${[side, BigInt(tokens[random(2, 7)] as string), paid, received, 0, 0, 0].map(word).join('')}` as Hex,
    };
  };
  let last: { readonly block: number; readonly logs: ReturnType<typeof fill>[] } = { block: -1, logs: [] };
  return {
    wallets,
    markets,
    tokens: markets.flatMap(({ tokens }) => tokens),
    events: Array.from({ length: MARKETS / MARKETS_PER_EVENT }, (_, n) => ({
      id: String(n + 1),
      slug: `soak-event-${n}`,
      title: `Soak event ${n}`,
      closed: false,
      endDate: '2099-01-01T00:00:00Z',
      updatedAt: '2026-01-01T00:00:00Z',
      tags: [{ id: '1', slug: 'soak', label: 'Soak' }],
      markets: markets.slice(n * MARKETS_PER_EVENT, (n + 1) * MARKETS_PER_EVENT).map(({ condition, tokens }, m) => ({
        id: String(n * MARKETS_PER_EVENT + m + 1),
        conditionId: condition,
        slug: `soak-market-${n * MARKETS_PER_EVENT + m}`,
        question: `Soak market ${n * MARKETS_PER_EVENT + m}?`,
        outcomes: '["Yes","No"]',
        clobTokenIds: JSON.stringify(tokens),
        active: true,
        closed: false,
        endDate: '2099-01-01T00:00:00Z',
      })),
    })),
    // The fake node asks once per log of the block.
    logsOf(block) {
      if (last.block !== block) {
        const fills = block < options.emptyBlocks ? 0 : options.fillsPerBlock;
        last = { block, logs: Array.from({ length: fills }, (_, index) => fill(block, index)) };
      }
      return last.logs;
    },
  };
}

/** Filters of subscriber `n`: five tokens or twenty wallets of the world. */
export function filtersOf(world: SoakWorld, seed: number, n: number): { tokens?: string[]; wallets?: string[] } {
  const pick = (count: number, of: (k: number) => string) => [
    ...new Set(Array.from({ length: count }, (_, k) => of(k))),
  ];
  return n % 2 === 0
    ? { tokens: pick(5, (k) => world.tokens[randomInt(world.tokens.length, seed, n, k, 11)] as string) }
    : { wallets: pick(20, (k) => walletOf(randomInt(world.wallets, seed, n, k, 12))) };
}
