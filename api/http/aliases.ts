import type { Aliases } from './query-parameters.js';

/** Names that clients of this kind of API use for one and the same. */
const RANGE_START_NAMES = ['after', 'start', 'start_time'] as const;
const RANGE_END_NAMES = ['before', 'end', 'end_time'] as const;
const MARKET_SLUG_NAMES = ['market_slug', 'market', 'slug'] as const;

const aliasesFor = (names: readonly string[], main: string): Aliases =>
  Object.fromEntries(names.filter((name) => name !== main).map((name) => [name, main]));

/** The usual other names of both ends of a span of time. */
export const timeRangeAliases = (from: string, to: string): Aliases => ({
  ...aliasesFor(RANGE_START_NAMES, from),
  ...aliasesFor(RANGE_END_NAMES, to),
});

/** The usual other names of a market's slug. */
export const marketAliases = (main: string): Aliases => aliasesFor(MARKET_SLUG_NAMES, main);

/** `minSize` is what clients that write camel case send. */
export const minSizeAlias: Aliases = { minSize: 'min_size' };
