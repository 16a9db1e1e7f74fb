import { type Topic, topics } from '../../schemas/topics.js';

interface SourceTableGroup {
  /** The sink that fills it, as in `sink_progress`. */
  readonly sink: string;
  readonly topic: Topic;
  /** Of ingest. */
  readonly source: 'chain' | 'oracle' | 'catalog';
  /** Its records are in the order of their time, so that it is complete up to the last of them. */
  readonly inOrder: boolean;
  /** What its rows are, as the start of a sentence. */
  readonly label: string;
}

/** Table groups whose sinks read what a source of ingest writes. */
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

/** Table groups made of what the accounting derives from the chain's records. */
export const derivedGroups = {
  positions: { sink: 'positions', topic: topics.positions, label: 'Positions' },
  pnl: { sink: 'pnl', topic: topics.pnlEvents, label: 'Profits and losses' },
} as const;
export type DerivedGroup = keyof typeof derivedGroups;

/** Tables that are filled together. `leaderboards`: pictures of all wallets, taken from the others again and again. */
export type TableGroup = SourceGroup | DerivedGroup | 'leaderboards';

export const tableGroups: readonly TableGroup[] = [
  ...(Object.keys(sourceGroups) as SourceGroup[]),
  ...(Object.keys(derivedGroups) as DerivedGroup[]),
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
  leaderboards: 'Leaderboards',
};
