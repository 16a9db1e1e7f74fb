import { type Filters, filterListsSchema, filtersSchema, topLevelFilters } from '../../schemas/socket/client.js';
import type { FilterLists } from '../filters/update-filters.js';
import { acceptsEventType, type ErrorCode, feedNames, isPresetName, type PresetName } from './presets.js';

export type { Filters };

/** A parsed client message. */
export type ClientMessage =
  | { readonly action: 'ping' }
  | { readonly action: 'unsubscribe'; readonly subscriptionId: string | null }
  | {
      readonly action: 'update';
      readonly subscriptionId: string;
      readonly add: FilterLists;
      readonly remove: FilterLists;
      readonly warnings: readonly string[];
    }
  | {
      readonly action: 'subscribe';
      readonly preset: PresetName;
      readonly filters: Filters;
      readonly warnings: readonly string[];
    };

export interface ProtocolError {
  readonly code: Exclude<ErrorCode, 'free_tier_limit_reached' | 'monthly_allowance_used_up'>;
  readonly message: string;
  /** With since_seq_unavailable: the retained range. */
  readonly earliest_seq?: number;
  readonly newest_seq?: number;
}

export const INVALID_JSON: ProtocolError = { code: 'invalid_json', message: 'Message is not valid JSON.' };
const INVALID_MESSAGE: ProtocolError = {
  code: 'invalid_message',
  message: 'Expected: {"action": "subscribe"|"unsubscribe"|"ping", ...}',
};

const knownFilters = new Set(Object.keys(filtersSchema.shape));
const knownFields = new Set(['action', 'type', 'filters', 'subscription_id', 'mode', ...Object.keys(topLevelFilters)]);
const MAX_UNKNOWN_NAMES = 20;

/** One warning per name that is not known, of the first twenty. */
const unknownNames = (names: readonly string[], known: ReadonlySet<string>, kind: 'field' | 'filter'): string[] =>
  names
    .filter((name) => !known.has(name))
    .slice(0, MAX_UNKNOWN_NAMES)
    .map((name) => `unknown ${kind} ignored: ${name.slice(0, 100)}`);

const invalidMessage = (message: string): ProtocolError => ({ code: 'invalid_message', message });
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Bound of the lists that do not count as filter items: feeds, event types and TWAP windows. */
const MAX_OTHER_LIST_ITEMS = 100;

const chainlinkFilters = new Set([
  ...['feeds', 'price_source', 'twap_windows', 'snapshot_count', 'since', 'since_seq'],
  ...['on_slow', 'end_of_window'],
]);

/** Oracle prices have no wallets, markets or sizes: such filters are ignored with a warning. */
const ignoredFilters = (filters: Record<string, unknown>): string[] =>
  Object.keys(filters)
    .filter((name) => knownFilters.has(name) && !chainlinkFilters.has(name))
    .map((name) => `filter without effect on chainlink: ${name}`);

const unknownFeeds = (feeds: readonly string[]): string[] =>
  feeds.filter((feed) => !(feedNames as readonly string[]).includes(feed)).map((feed) => `feed not known: ${feed}`);

const itemPatterns = {
  wallets: /^0x[0-9a-f]{40}$/,
  tokens: /^[0-9]{1,78}$/,
  markets: /^[0-9]{1,78}$/,
} as const;
const MAX_INVALID_ITEMS = 20;

/** Warnings about items that no event can carry; a list that consists only of such items matches nothing. */
function malformedItems(filters: Pick<Filters, keyof typeof itemPatterns>): string[] {
  const warnings: string[] = [];
  for (const [name, pattern] of Object.entries(itemPatterns) as [keyof typeof itemPatterns, RegExp][]) {
    const items = filters[name];
    const malformed = items.filter((item) => !pattern.test(item));
    if (malformed.length === 0) continue;
    if (malformed.length === items.length) warnings.push(`filters.${name} has no valid item: nothing can match it`);
    for (const item of malformed.slice(0, MAX_INVALID_ITEMS)) {
      warnings.push(`invalid item of ${name}: ${item.slice(0, 100)}`);
    }
  }
  return warnings;
}

/** Number of items in all lists; checked before validation, so that oversized requests stay cheap. */
const countListedItems = (filters: Record<string, unknown>): number =>
  Object.values(filters).reduce<number>((sum, value) => sum + (Array.isArray(value) ? value.length : 0), 0);

function parseSubscribe(message: Record<string, unknown>, maxItems: number): ClientMessage | ProtocolError {
  const type = message.type ?? 'settlements';
  if (!isPresetName(type))
    return invalidMessage(`Unknown type: ${typeof type === 'string' ? type.slice(0, 100) : 'not a string'}`);
  const requested = message.filters ?? {};
  if (!isObject(requested)) return invalidMessage('filters must be an object');
  const merged: Record<string, unknown> = { ...requested };
  for (const name of Object.keys(topLevelFilters))
    if (message[name] !== undefined && merged[name] === undefined) merged[name] = message[name];
  const listed = countListedItems(merged);
  if (listed > maxItems + MAX_OTHER_LIST_ITEMS) {
    return { code: 'filter_limit', message: `${listed} filter items; your plan allows ${maxItems} per subscription` };
  }
  const warnings = [
    ...unknownNames(Object.keys(message), knownFields, 'field'),
    ...unknownNames(Object.keys(merged), knownFilters, 'filter'),
  ];
  for (const name of Object.keys(merged)) if (merged[name] === null) delete merged[name];
  const parsed = filtersSchema.safeParse(merged);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return invalidMessage(`filters.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`);
  }
  const { data } = parsed;
  if (data.price_source !== undefined && data.twap_windows !== undefined) {
    return invalidMessage('price_source and twap_windows exclude each other');
  }
  const unsupported = data.event_types?.find((kind) => !acceptsEventType(type, kind));
  if (unsupported !== undefined)
    return invalidMessage(`filters.event_types: ${unsupported} comes with the presets fills and dome`);
  if (type === 'chainlink') warnings.push(...ignoredFilters(merged), ...unknownFeeds(data.feeds));
  else warnings.push(...malformedItems(data));
  return { action: 'subscribe', preset: type, filters: data, warnings };
}

function parseUpdate(message: Record<string, unknown>, maxItems: number): ClientMessage | ProtocolError {
  const { subscription_id: subscriptionId } = message;
  if (typeof subscriptionId !== 'string') return invalidMessage('update needs the subscription_id of a subscription');
  const lists: FilterLists[] = [];
  for (const name of ['add', 'remove'] as const) {
    const requested = message[name] ?? {};
    if (!isObject(requested)) return invalidMessage(`${name} must be an object`);
    const listed = countListedItems(requested);
    if (listed > maxItems) {
      return { code: 'filter_limit', message: `${listed} filter items; your plan allows ${maxItems} per subscription` };
    }
    const parsed = filterListsSchema.safeParse(requested);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      return invalidMessage(`${[name, ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'invalid'}`);
    }
    lists.push(parsed.data);
  }
  const [add, remove] = lists as [FilterLists, FilterLists];
  if (countListedItems({ ...add }) + countListedItems({ ...remove }) === 0)
    return invalidMessage('update needs items in add or remove');
  const warnings = malformedItems({ wallets: [...add.wallets], tokens: [...add.tokens], markets: [] });
  return { action: 'update', subscriptionId, add, remove, warnings };
}

/**
 * Parses one text frame. Never throws: an invalid frame yields the error to send. A subscription with more than `maxItems` filter items is
 * rejected before validation.
 */
export function parseClientMessage(text: string, maxItems = Number.POSITIVE_INFINITY): ClientMessage | ProtocolError {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return INVALID_JSON;
  }
  if (!isObject(message)) return INVALID_MESSAGE;
  if (message.action === 'ping') return { action: 'ping' };
  if (message.action === 'unsubscribe') {
    const id = message.subscription_id ?? null;
    return id === null || typeof id === 'string' ? { action: 'unsubscribe', subscriptionId: id } : INVALID_MESSAGE;
  }
  if (message.action === 'update') return parseUpdate(message, maxItems);
  if (message.action === 'subscribe') return parseSubscribe(message, maxItems);
  return INVALID_MESSAGE;
}

export function isProtocolError(value: ClientMessage | ProtocolError): value is ProtocolError {
  return 'code' in value;
}

/** Items that count against the plan's filter limit. */
export function countFilterItems(filters: Filters): number {
  return (
    filters.wallets.length +
    filters.tokens.length +
    filters.markets.length +
    filters.slugs.length +
    filters.condition_ids.length +
    filters.combo_condition_ids.length +
    filters.leg_position_ids.length +
    filters.event_ids.length +
    filters.module_ids.length
  );
}
