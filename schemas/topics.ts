import type { EventKind } from './types.gen.js';

/** What one topic is: who may write what into it, how it is keyed, split and kept. */
export interface Topic {
  readonly name: string;
  /** What the record key holds. */
  readonly key: string;
  readonly partitions: number;
  /** null: for ever. */
  readonly retentionMs: number | null;
  readonly compacted: boolean;
  readonly kinds: readonly EventKind[];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const chainEventKinds = [
  'block',
  'trade',
  'position_split',
  'position_merge',
  'positions_converted',
  'redemption',
  'position_change',
  'deposit',
  'oracle',
  'condition_prepared',
  'condition_resolved',
  'neg_risk_market',
  'combo_definition',
  'combo_lifecycle',
  'combo_approval',
  'unknown_log',
] as const satisfies readonly EventKind[];

function chunkPlanTopic(family: string, partitions: number) {
  return {
    name: `chunk.plans.${family}`,
    key: 'sink-topic-partition',
    partitions,
    retentionMs: null,
    compacted: true,
    kinds: ['chunk_plan'],
  } as const satisfies Topic;
}

/** The topic table: the only place that knows topics' names, keys, partitions, retention and schemas. */
export const topics = {
  /** Everything seen of the chain, at once; may be retracted. */
  chainHead: {
    name: 'chain.head',
    key: 'block number; transaction hash while pending',
    partitions: 1,
    retentionMs: DAY,
    compacted: false,
    kinds: [...chainEventKinds, 'settlement', 'status_update', 'retract'],
  },
  /** Finalised facts in (block, log index) order, each block closed by its block record. */
  chainFinal: {
    name: 'chain.final',
    key: 'block number',
    partitions: 1,
    retentionMs: null,
    compacted: false,
    kinds: [...chainEventKinds],
  },
  oracleTicks: {
    name: 'oracle.ticks',
    key: 'feed',
    partitions: 4,
    retentionMs: null,
    compacted: false,
    kinds: ['price_tick'],
  },
  catalog: {
    name: 'catalog',
    key: 'kind:id',
    partitions: 1,
    retentionMs: null,
    compacted: true,
    kinds: ['catalog_event', 'catalog_market', 'catalog_series', 'catalog_tag'],
  },
  /** What the catalogue service was asked for and did not have. Written by the catalogue source for itself. */
  catalogMissing: {
    name: 'catalog.missing',
    key: 'condition:<id> or token:<id>',
    partitions: 1,
    retentionMs: null,
    compacted: true,
    kinds: ['catalog_missing'],
  },
  streamEvents: {
    name: 'stream.events',
    key: 'event id',
    partitions: 1,
    retentionMs: DAY,
    compacted: true,
    kinds: ['stream_event'],
  },
  /**
   * Every resolution and combo definition found in chain.final, so that enrichment need not read all of it again. Written by the stream
   * processor for itself.
   */
  streamResolutions: {
    name: 'stream.resolutions',
    key: 'condition id; combo:<id>:legs or combo:<id>:legacy for combo definitions',
    partitions: 1,
    retentionMs: null,
    compacted: true,
    kinds: ['condition_resolved', 'combo_definition'],
  },
  /** What every final fact means for each wallet, in chain order per wallet. */
  walletActivity: {
    name: 'wallet.activity',
    key: 'wallet',
    partitions: 12,
    retentionMs: null,
    compacted: false,
    kinds: ['wallet_activity'],
  },
  /** Resolutions and question counts found in chain.final. Written by the activity fold for itself. */
  activityState: {
    name: 'activity.state',
    key: 'condition id; neg-risk market id',
    partitions: 1,
    retentionMs: null,
    compacted: true,
    kinds: ['activity_state'],
  },
  /** Each wallet's holding per token. A partition holds the positions of the same partition of wallet.activity: their counts stay equal. */
  positions: {
    name: 'positions',
    key: 'wallet:token id',
    partitions: 12,
    retentionMs: null,
    compacted: true,
    kinds: ['position'],
  },
  /** What each activity record did to each position. */
  pnlEvents: {
    name: 'pnl.events',
    key: 'wallet',
    partitions: 4,
    retentionMs: null,
    compacted: false,
    kinds: ['pnl_event'],
  },
  orderbookUpdates: {
    name: 'orderbook.updates',
    key: 'token id',
    partitions: 4,
    retentionMs: HOUR,
    compacted: false,
    kinds: ['order_book_update'],
  },
  accountsCommands: {
    name: 'accounts.commands',
    key: 'entity',
    partitions: 1,
    retentionMs: 7 * DAY,
    compacted: false,
    kinds: ['account_command'],
  },
  accountsState: {
    name: 'accounts.state',
    key: 'entity',
    partitions: 1,
    retentionMs: null,
    compacted: true,
    kinds: ['account_state'],
  },
  /** Running totals: the newest record of a key says it all, so that compaction leaves one record per key and hour. */
  usage: {
    name: 'usage.totals',
    key: 'process, UTC hour, account, meter',
    partitions: 4,
    retentionMs: null,
    compacted: true,
    kinds: ['usage'],
  },
  /** Open sockets of accounts whose plan limits them, in the one order that decides who is within the cap. */
  gatewaySessions: {
    name: 'gateway.sessions',
    key: 'session or process',
    partitions: 1,
    retentionMs: 2 * DAY,
    compacted: true,
    kinds: ['gateway_session'],
  },
  socialPosts: {
    name: 'social.posts',
    key: 'post id',
    partitions: 1,
    retentionMs: null,
    compacted: true,
    kinds: ['social_post'],
  },
  /** The decisions of the sinks, a topic per family of tables: partition and number of partitions are those of what the family reads. */
  plansFills: chunkPlanTopic('fills', 1),
  plansChain: chunkPlanTopic('chain', 1),
  plansOracle: chunkPlanTopic('oracle', 4),
  plansCatalog: chunkPlanTopic('catalog', 1),
  plansUsage: chunkPlanTopic('usage', 4),
  plansWalletEvents: chunkPlanTopic('wallet_events', 1),
  plansPositions: chunkPlanTopic('positions', 12),
  plansPnl: chunkPlanTopic('pnl', 4),
  plansWalletActivity: chunkPlanTopic('wallet_activity', 12),
  /** Heartbeats of processes that share work. */
  members: {
    name: 'members',
    key: 'role/member',
    partitions: 1,
    retentionMs: DAY,
    compacted: true,
    kinds: ['member'],
  },
  /** Status of every source, written by ingest, and of the stream, written by its processor; read by /v1/status. */
  sources: {
    name: 'sources',
    key: 'source; stream for the stream processor',
    partitions: 1,
    retentionMs: null,
    compacted: true,
    kinds: ['source_status', 'stream_status'],
  },
  /** What could not be read, with the reason. */
  deadLetters: {
    name: 'dead.letters',
    key: 'origin',
    partitions: 1,
    retentionMs: 30 * DAY,
    compacted: false,
    kinds: ['dead_letter'],
  },
} as const satisfies Record<string, Topic>;

export const allTopics: readonly Topic[] = Object.values(topics);
