/** Every kind that a subscription can name in `event_types`. Only the chainlink preset has `price_feed`. */
export const eventTypeNames = [
  'settlement',
  'trade',
  'status_update',
  'block',
  'position_change',
  'deposit',
  'position_split',
  'position_merge',
  'positions_converted',
  'redemption',
  'oracle',
  'combo_execution',
  'combo_status_update',
  'combo_lifecycle',
  'combo_approval',
  'retract',
] as const;
export type EventTypeName = (typeof eventTypeNames)[number];

/** Kinds of a single preset: one event per fill of a settlement, and oracle prices. */
export type PresetOnlyKind = 'fill' | 'price_feed';

export interface Preset {
  readonly kinds: readonly (EventTypeName | PresetOnlyKind)[];
  /** In USD; applies unless the subscription has a min_size. */
  readonly defaultMinSizeUsd?: number;
  /** Condition ids are compared literally; other presets look them up in the catalogue. */
  readonly literalConditionIds?: true;
}

const wallets = [
  'settlement',
  'trade',
  'position_change',
  'deposit',
  'status_update',
  'position_split',
  'position_merge',
  'positions_converted',
  'redemption',
] as const satisfies readonly EventTypeName[];

/** Event kinds by `type` of a subscribe message. `event_types` replaces the kinds of every preset except chainlink. */
export const presets = {
  settlements: { kinds: ['settlement', 'status_update'] },
  fills: { kinds: ['fill'] },
  /** Compatibility name of `fills`. */
  dome: { kinds: ['fill'] },
  trades: { kinds: ['settlement', 'trade', 'status_update'] },
  prices: { kinds: ['settlement', 'trade'] },
  large_trades: { kinds: ['settlement', 'trade'], defaultMinSizeUsd: 1000 },
  wallets: { kinds: wallets },
  markets: { kinds: wallets.filter((kind) => kind !== 'deposit') },
  redemptions: { kinds: ['redemption'] },
  /** Alias of `redemptions`. */
  redemption: { kinds: ['redemption'] },
  deposits: { kinds: ['deposit'] },
  blocks: { kinds: ['block'] },
  oracle: { kinds: ['oracle'] },
  chainlink: { kinds: ['price_feed'] },
  combos: { kinds: ['combo_execution', 'combo_status_update'], literalConditionIds: true },
  global: {
    kinds: ['settlement', 'trade', 'position_change', 'deposit', 'block', 'status_update', 'oracle', 'redemption'],
  },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof presets;

/** The preset with its optional fields. */
export const presetOf = (name: PresetName): Preset => presets[name];

/** Whether a subscription of this preset may name a kind in `event_types`. */
export function acceptsEventType(preset: PresetName, kind: string): boolean {
  if (kind === 'fill') return presetOf(preset).kinds.includes('fill');
  return (eventTypeNames as readonly string[]).includes(kind);
}

export function isPresetName(value: unknown): value is PresetName {
  return typeof value === 'string' && Object.hasOwn(presets, value);
}

export const presetNames = Object.keys(presets) as [PresetName, ...PresetName[]];

/** `code` of an error frame. */
export const errorCodes = [
  'invalid_json',
  'invalid_message',
  'filter_limit',
  'subscription_limit',
  'unresolved_slugs',
  'unresolved_condition_ids',
  'since_seq_unavailable',
  'cursor_of_another_log',
  'unavailable',
  'free_tier_limit_reached',
  'monthly_allowance_used_up',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** `code` of a notice. */
export const noticeCodes = [
  'source_stale',
  'source_recovered',
  'history_reread',
  'gap',
  'unresolved',
  'resolved',
] as const;

/** `action` of combo_lifecycle, and its filter. */
export const comboActions = [
  'Prepare',
  'Split',
  'Merge',
  'HorizontalSplit',
  'HorizontalMerge',
  'Convert',
  'Redeem',
  'Wrap',
  'Unwrap',
  'Transfer',
  'Compress',
  'Extract',
  'Inject',
  'ConvertToYesBasket',
  'MergeFromYesBasket',
] as const;

/** Feeds that the oracle publishes. */
export const feedNames = ['BTC/USD', 'ETH/USD', 'SOL/USD', 'BNB/USD', 'XRP/USD', 'DOGE/USD', 'HYPE/USD'] as const;
