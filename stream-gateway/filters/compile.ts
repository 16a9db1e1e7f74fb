import type { StreamCombo, StreamEvent } from '../../schemas/types.gen.js';
import type { Filters } from '../protocol/messages.js';
import { type PresetName, presetOf } from '../protocol/presets.js';
import { channelOf } from './channel.js';

/** What one slug or condition id stands for, looked up when subscribing. */
export interface MarketIds {
  readonly tokens: ReadonlySet<string>;
  readonly conditionIds: ReadonlySet<string>;
}

/** What filters look at. */
export type FilterableEvent = Omit<StreamEvent, 'frame' | 'id' | 'tx_hash' | 'block_number' | 'slugs'>;

export type Predicate = (event: FilterableEvent) => boolean;

/** Items of which a matching event must carry at least one, by where it carries them. */
export interface IndexedItems {
  readonly wallets?: ReadonlySet<string>;
  readonly tokens?: ReadonlySet<string>;
  readonly conditionIds?: ReadonlySet<string>;
  readonly feeds?: ReadonlySet<string>;
}

/** The filters of one subscription, in the forms the fan-out needs. */
export interface CompiledFilter {
  /** Channels a matching event may be of. */
  readonly channels: readonly string[];
  /** Every event of the channels matches. */
  readonly unfiltered: boolean;
  readonly matches: Predicate;
  /** The category with the fewest items; null when no category has items. */
  readonly index: IndexedItems | null;
  /** `matches` for an event known to carry an item of `index`. */
  readonly matchesIndexed: Predicate;
}

/** A test, with the items it is about where it can be looked up by them. */
interface FilterTest {
  readonly test: Predicate;
  readonly items: IndexedItems | null;
}

const countItems = (items: IndexedItems): number =>
  (items.wallets?.size ?? 0) + (items.tokens?.size ?? 0) + (items.conditionIds?.size ?? 0) + (items.feeds?.size ?? 0);

/** AND of all tests over the events of some channels. */
function assemble(channels: readonly string[], tests: readonly FilterTest[]): CompiledFilter {
  const kinds = new Set(channels);
  const allOf =
    (predicates: readonly Predicate[]): Predicate =>
    (event) => {
      if (!kinds.has(channelOf(event.kind, event.twap_window_s))) return false;
      for (const predicate of predicates) if (!predicate(event)) return false;
      return true;
    };
  let best: FilterTest | null = null;
  for (const test of tests) {
    if (test.items === null) continue;
    if (best === null || best.items === null || countItems(test.items) < countItems(best.items)) best = test;
  }
  const matches = allOf(tests.map(({ test }) => test));
  return {
    channels,
    unfiltered: tests.length === 0,
    matches,
    index: best?.items ?? null,
    matchesIndexed: best === null ? matches : allOf(tests.filter((test) => test !== best).map(({ test }) => test)),
  };
}

/** Base units of a USD bound given as a JSON number; 6 decimals are kept. */
function usdToBaseUnits(value: number): bigint {
  return BigInt(Math.round(value * 1e6));
}

function anyIn(items: readonly string[], set: ReadonlySet<string>): boolean {
  for (const item of items) if (set.has(item)) return true;
  return false;
}

/** Filters only combos have: an event without them is dropped. */
function comboTests(filters: Filters): Predicate[] {
  const tests: Predicate[] = [];
  const anyOf = <T>(requested: readonly T[], of: (combo: StreamCombo) => readonly T[]) => {
    if (requested.length === 0) return;
    const set = new Set(requested);
    tests.push(({ combo }) => combo !== null && of(combo).some((item) => set.has(item)));
  };
  anyOf(filters.combo_condition_ids, (combo) => combo.condition_ids);
  anyOf(filters.leg_position_ids, (combo) => combo.leg_position_ids);
  anyOf(filters.event_ids, (combo) => combo.event_ids);
  anyOf(filters.module_ids, (combo) => combo.module_ids);
  const { action, direction } = filters;
  if (action !== undefined) tests.push(({ combo }) => combo?.action === action);
  if (direction !== undefined) tests.push(({ combo }) => combo?.direction === direction);
  return tests;
}

/**
 * The filters of one subscription, ready to run: AND across categories, OR inside a category, an empty category matches all.
 * A kind without the filtered property is dropped by that filter. `status: pending` drops status_update unless event_types names it.
 */
export function compileFilters(
  preset: PresetName,
  filters: Filters,
  resolved: { readonly slugs: MarketIds | null; readonly conditions: MarketIds | null },
): CompiledFilter {
  const tests: FilterTest[] = [];
  const must = (test: Predicate, items: IndexedItems | null = null) => tests.push({ test, items });
  if (preset === 'chainlink') {
    const feeds = new Set(filters.feeds);
    if (feeds.size > 0) must((event) => event.feed !== null && feeds.has(event.feed), { feeds });
    const windows: readonly (number | null)[] = filters.twap_windows ?? [null];
    return assemble(
      windows.map((window) => channelOf('price_feed', window)),
      tests,
    );
  }

  if (filters.status === 'pending') {
    const statusUpdates = filters.event_types?.includes('status_update') === true;
    must((event) => !event.confirmed || (event.kind === 'status_update' && statusUpdates));
  } else if (filters.status === 'confirmed') must((event) => event.confirmed);
  const wallets = new Set(filters.wallets);
  if (wallets.size > 0) must((event) => anyIn(event.wallets, wallets), { wallets });
  const tokens = new Set([...filters.tokens, ...filters.markets]);
  if (tokens.size > 0) must((event) => anyIn(event.tokens, tokens), { tokens });
  for (const sets of [resolved.slugs, resolved.conditions]) {
    if (sets === null) continue;
    must((event) => anyIn(event.tokens, sets.tokens) || anyIn(event.condition_ids, sets.conditionIds), sets);
  }
  const literal = new Set(presetOf(preset).literalConditionIds === true ? filters.condition_ids : []);
  if (literal.size > 0) must((event) => anyIn(event.condition_ids, literal), { conditionIds: literal });
  for (const test of comboTests(filters)) must(test);
  const { side } = filters;
  if (side !== undefined) must((event) => event.side === side);
  const minSize = filters.min_size ?? presetOf(preset).defaultMinSizeUsd;
  if (minSize !== undefined && minSize > 0) {
    const bound = usdToBaseUnits(minSize);
    must((event) => event.usd !== null && event.usd >= bound);
  }
  if (filters.max_size !== undefined) {
    const bound = usdToBaseUnits(filters.max_size);
    must((event) => event.usd !== null && event.usd <= bound);
  }
  const kinds = new Set<string>(filters.event_types ?? presetOf(preset).kinds);
  return assemble([...kinds], tests);
}
