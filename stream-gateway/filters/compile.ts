import type { StreamCombo, StreamEvent } from '../../schemas/types.gen.js';
import type { Filters } from '../protocol/messages.js';
import { type PresetName, presetOf } from '../protocol/presets.js';
import { channelOf } from './channel.js';

/** Tokens and conditions of the markets that slugs or condition ids name, looked up at subscription time. */
export interface MarketIds {
  readonly tokens: ReadonlySet<string>;
  readonly conditionIds: ReadonlySet<string>;
  /** Slugs that are compared with those of an event, because the catalogue may not have the market yet. */
  readonly slugs?: ReadonlySet<string>;
}

/** The fields of an event that filters test. */
export type FilterableEvent = Omit<StreamEvent, 'frame' | 'id' | 'tx_hash' | 'block_number'>;

export type Predicate = (event: FilterableEvent) => boolean;

/** A matching event must carry at least one of these items, in the field of the same name. */
export interface IndexedItems {
  readonly wallets?: ReadonlySet<string>;
  readonly tokens?: ReadonlySet<string>;
  readonly conditionIds?: ReadonlySet<string>;
  readonly slugs?: ReadonlySet<string>;
  readonly feeds?: ReadonlySet<string>;
}

/** The compiled filters of one subscription. */
export interface CompiledFilter {
  /** A matching event belongs to one of these channels; there is at least one. */
  readonly channels: readonly string[];
  /** True if every event of the channels matches. */
  readonly unfiltered: boolean;
  readonly matches: Predicate;
  /** Items of the category with the fewest items; null if no category has items. */
  readonly index: IndexedItems | null;
  /** Same as `matches` for an event that carries an item of `index`. */
  readonly matchesIndexed: Predicate;
  /** Those of the channels whose events match whatever the filters are. */
  readonly unconditional: readonly string[];
}

/** Kinds about all events sent before: no filter drops them. */
const unconditionalKinds: ReadonlySet<string> = new Set(['retract']);

/** One test of a filter. `items`: the items it checks for, if the index can find events by them. */
interface FilterTest {
  readonly test: Predicate;
  readonly items: IndexedItems | null;
}

const countItems = (items: IndexedItems): number =>
  (items.wallets?.size ?? 0) +
  (items.tokens?.size ?? 0) +
  (items.conditionIds?.size ?? 0) +
  (items.slugs?.size ?? 0) +
  (items.feeds?.size ?? 0);

/** Combines all tests by AND, restricted to the channels. */
function assemble(channels: readonly string[], tests: readonly FilterTest[]): CompiledFilter {
  const kinds = new Set(channels);
  const allOf =
    (predicates: readonly Predicate[]): Predicate =>
    (event) => {
      if (!kinds.has(channelOf(event.kind, event.twap_window_s))) return false;
      if (unconditionalKinds.has(event.kind)) return true;
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
    unconditional: channels.filter((channel) => unconditionalKinds.has(channel)),
  };
}

/** Converts USD to base units of 10^-6 USD. The product of a huge bound is infinite, which BigInt rejects: no amount is above the largest number. */
function usdToBaseUnits(value: number): bigint {
  return BigInt(Math.round(Math.min(value * 1e6, Number.MAX_VALUE)));
}

function anyIn(items: readonly string[], set: ReadonlySet<string>): boolean {
  for (const item of items) if (set.has(item)) return true;
  return false;
}

/** Tests of the combo filters; an event without combo fails them. */
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
 * Compiles the filters of one subscription: AND across categories, OR within a category; an empty category matches all events.
 * A filter drops events that lack its property, except `retract`, which voids events of all properties. `status: pending` drops status_update unless event_types names it.
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
    const { tokens: ofMarkets, conditionIds, slugs } = sets;
    const byIds: Predicate = (event) => anyIn(event.tokens, ofMarkets) || anyIn(event.condition_ids, conditionIds);
    must(slugs === undefined ? byIds : (event) => byIds(event) || anyIn(event.slugs, slugs), sets);
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
  const requested = filters.event_types ?? [];
  const kinds = new Set<string>(requested.length > 0 ? requested : presetOf(preset).kinds);
  return assemble([...kinds], tests);
}
