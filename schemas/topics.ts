import type { EventKind } from './types.gen.js';

/** Definition of a topic: record kinds, key, partitions, retention. */
export interface Topic {
  readonly name: string;
  /** Contents of the record key. */
  readonly key: string;
  /** On Kafka. A log on one machine has one partition per topic: partitions divide work among processes. */
  readonly partitions: number;
  /** null: unlimited. */
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

/** All topics of the service. */
export const topics = {
  /** Chain events as soon as they are seen; may be retracted. */
  chainHead: {
    name: 'chain.head',
    key: 'block number; transaction hash while pending',
    partitions: 1,
    retentionMs: DAY,
    compacted: false,
    kinds: [...chainEventKinds, 'settlement', 'status_update', 'retract'],
  },
  /** Finalized chain events in (block, log index) order; a block record ends each block. */
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
  /** Requested markets that the catalogue service did not have. Written and read by the catalogue source. */
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
   * Every resolution and combo definition of chain.final, so that enrichment need not read all of chain.final again. Written and read by the
   * stream processor.
   */
  streamResolutions: {
    name: 'stream.resolutions',
    key: 'condition id; combo:<id>:legs or combo:<id>:legacy for combo definitions',
    partitions: 1,
    retentionMs: null,
    compacted: true,
    kinds: ['condition_resolved', 'combo_definition'],
  },
  /** Effects of every final chain event on each wallet, in chain order per wallet. */
  walletActivity: {
    name: 'wallet.activity',
    key: 'wallet',
    partitions: 12,
    retentionMs: null,
    compacted: false,
    kinds: ['wallet_activity'],
  },
  /** Resolutions and question counts of chain.final. Written and read by the activity processor. */
  activityState: {
    name: 'activity.state',
    key: 'condition id; neg-risk market id',
    partitions: 1,
    retentionMs: null,
    compacted: true,
    kinds: ['activity_state'],
  },
  /** Position of each wallet per token. A partition has the positions of the same partition of wallet.activity, so both topics have equal partition counts. */
  positions: {
    name: 'positions',
    key: 'wallet:token id',
    partitions: 12,
    retentionMs: null,
    compacted: true,
    kinds: ['position'],
  },
  /** Effect of each activity record on each position. */
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
  /** Running totals: the newest record of a key supersedes older ones, so compaction leaves one record per key. */
  usage: {
    name: 'usage.totals',
    key: 'process, UTC hour, account, meter, API key',
    partitions: 4,
    retentionMs: null,
    compacted: true,
    kinds: ['usage'],
  },
  /** Open sockets of accounts whose plan limits them; the order of the log decides which are within the limit. */
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
  /** Chunk plans of the sinks, one topic per sink. Partitions are those of the topic that the sink reads. */
  plansFills: chunkPlanTopic('fills', 1),
  plansChain: chunkPlanTopic('chain', 1),
  plansOracle: chunkPlanTopic('oracle', 4),
  plansCatalog: chunkPlanTopic('catalog', 1),
  plansUsage: chunkPlanTopic('usage', 4),
  plansWalletEvents: chunkPlanTopic('wallet_events', 1),
  plansPositions: chunkPlanTopic('positions', 12),
  plansPnl: chunkPlanTopic('pnl', 4),
  plansWalletActivity: chunkPlanTopic('wallet_activity', 12),
  plansSocial: chunkPlanTopic('social', 1),
  /** Heartbeats of processes among which tasks are assigned. */
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
  /** Unreadable records with the reason. */
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

/** All topics as a log on one machine has them, with one partition each: twelve would mean twelve times as many small inserts. */
export const topicsOnOneMachine: readonly Topic[] = allTopics.map((topic) => ({ ...topic, partitions: 1 }));
