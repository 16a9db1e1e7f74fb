import { type Topic, topics } from '../../schemas/topics.js';

interface SourceTableGroup {
  /** Name of the sink in `sink_progress`. */
  readonly sink: string;
  readonly topic: Topic;
  /** Ingest source of the topic. */
  readonly source: 'chain' | 'oracle' | 'catalog';
  /** True if records are in time order, so that the group is complete up to its last record. */
  readonly inOrder: boolean;
  /** Name of the group's rows at the start of a sentence. */
  readonly label: string;
}

/** Table groups whose sinks read topics written by ingest. */
export const sourceGroups = {
  fills: { sink: 'fills', topic: topics.chainFinal, source: 'chain', inOrder: true, label: 'Trades' },
  chain: { sink: 'chain', topic: topics.chainFinal, source: 'chain', inOrder: true, label: 'Blocks and resolutions' },
  wallet_events: {
    sink: 'wallet_events',
    topic: topics.chainFinal,
    source: 'chain',
    inOrder: true,
    label: 'Wallet events',
  },
  oracle: { sink: 'oracle', topic: topics.oracleTicks, source: 'oracle', inOrder: true, label: 'Oracle prices' },
  catalog: { sink: 'catalog', topic: topics.catalog, source: 'catalog', inOrder: false, label: 'Markets' },
} as const satisfies Readonly<Record<string, SourceTableGroup>>;
export type SourceGroup = keyof typeof sourceGroups;

/** Table groups whose sinks read topics derived from the chain's records. */
export const derivedGroups = {
  positions: { sink: 'positions', topic: topics.positions, label: 'Positions' },
  pnl: { sink: 'pnl', topic: topics.pnlEvents, label: 'Profits and losses' },
  wallet_activity: { sink: 'wallet_activity', topic: topics.walletActivity, label: 'Wallet activity' },
} as const;
export type DerivedGroup = keyof typeof derivedGroups;
export const derivedGroupNames = Object.keys(derivedGroups) as readonly DerivedGroup[];

/** Tables that are filled together. `leaderboards`: periodic snapshots computed from the other tables. */
export type TableGroup = SourceGroup | DerivedGroup | 'leaderboards';

export const tableGroups: readonly TableGroup[] = [
  ...(Object.keys(sourceGroups) as SourceGroup[]),
  ...derivedGroupNames,
  'leaderboards',
];

export const tableGroupLabels: Readonly<Record<TableGroup, string>> = {
  fills: sourceGroups.fills.label,
  chain: sourceGroups.chain.label,
  wallet_events: sourceGroups.wallet_events.label,
  oracle: sourceGroups.oracle.label,
  catalog: sourceGroups.catalog.label,
  positions: derivedGroups.positions.label,
  pnl: derivedGroups.pnl.label,
  wallet_activity: derivedGroups.wallet_activity.label,
  leaderboards: 'Leaderboards',
};
