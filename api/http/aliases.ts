import type { Aliases } from './query.js';

/** Names that clients of this kind of API use for one and the same. */
const FROM = ['after', 'start', 'start_time'] as const;
const TO = ['before', 'end', 'end_time'] as const;
const MARKET = ['market_slug', 'market', 'slug'] as const;

const othersOf = (names: readonly string[], main: string): Aliases =>
  Object.fromEntries(names.filter((name) => name !== main).map((name) => [name, main]));

/** The usual other names of both ends of a span of time. */
export const spanAliases = (from: string, to: string): Aliases => ({ ...othersOf(FROM, from), ...othersOf(TO, to) });

/** The usual other names of a market's slug. */
export const marketAliases = (main: string): Aliases => othersOf(MARKET, main);

/** `minSize` is what clients that write camel case send. */
export const minSizeAlias: Aliases = { minSize: 'min_size' };
