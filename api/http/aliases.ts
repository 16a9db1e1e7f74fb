import type { Aliases } from './query-parameters.js';

/** Parameter names of comparable APIs for the same value. */
const RANGE_START_NAMES = ['after', 'start', 'start_time'] as const;
const RANGE_END_NAMES = ['before', 'end', 'end_time'] as const;
const MARKET_SLUG_NAMES = ['market_slug', 'market', 'slug'] as const;

const aliasesFor = (names: readonly string[], main: string): Aliases =>
  Object.fromEntries(names.filter((name) => name !== main).map((name) => [name, main]));

/** Common alternative names of both ends of a time range. */
export const timeRangeAliases = (from: string, to: string): Aliases => ({
  ...aliasesFor(RANGE_START_NAMES, from),
  ...aliasesFor(RANGE_END_NAMES, to),
});

/** Common alternative names of a market's slug. */
export const marketAliases = (main: string): Aliases => aliasesFor(MARKET_SLUG_NAMES, main);

/** Camel-case clients send `minSize`. */
export const minSizeAlias: Aliases = { minSize: 'min_size' };
