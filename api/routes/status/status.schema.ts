import { z } from 'zod';
import { MAX_BLOCK_GAP_S } from '../../../schemas/coverage/sources.js';
import { exampleTableGroup, tableGroupSchema } from '../../readiness/load-status.js';
import { alarmSchema } from './alarms.js';
import { metadataObservabilitySchema } from './metadata-observability.js';
import { sourceSchema, streamSchema } from './source-entry.js';
import { MAX_ALARMS } from './status.sql.js';

const count = z.int().nullable();

export const statusSchema = z.object({
  node_connected: z.boolean(),
  tables_connected: z.boolean(),
  uptime_seconds: z.int(),
  stream_length: z.int().meta({ description: 'Number of chain events in the head topic.' }),
  events_stream_length: z.int().meta({ description: 'Number of events in the topic that event sockets read.' }),
  stream_epoch: z.string().nullable().meta({
    description:
      'Id of the log of the event socket: cursors `<epoch>:<seq>` of another one are rejected. null: not started.',
  }),
  stream: streamSchema.nullable().meta({
    description: 'Whether the events of the event socket are current; null until the stream processor reports.',
  }),
  pending_txs: z.int().meta({ description: 'Settlements in the mempool that are not in a block yet.' }),
  ws_subscribers: z.int().meta({ description: 'Open event sockets of all gateway processes, a few seconds old.' }),
  firehose_connections: z.int().meta({ description: 'Part of `ws_subscribers` with a subscription without filters.' }),
  redis_memory: z.string().meta({ description: 'Always `none`.' }),
  state: z
    .object({
      market_count: count,
      wallet_count: count,
      metadata_count: count,
      events_buffered: z.int(),
      events_processed: z.int(),
      latest_block: count,
    })
    .meta({ description: 'Counts from the tables are null while the tables cannot be read.' }),
  metadata_observability: metadataObservabilitySchema,
  history: z.object({ complete_from_block: count, complete_from: z.string().nullable() }).meta({
    description: `First block after which the data has no gap, and its time: the first block after the newest gap of over ${MAX_BLOCK_GAP_S} seconds without a block with a log of a watched contract (\`/v1/coverage\` lists all gaps). Values that depend on earlier events (positions, open interest) can be incomplete: such fields are null or have \`complete: false\`.`,
  }),
  raw_history: z.object({ from_block: count, from: z.string().nullable() }).meta({
    description:
      'First block of the chain that the log still has, and its time; null while it has none. The tables keep what the log no longer has, but can be rebuilt only while it has everything.',
  }),
  alarms: z
    .array(alarmSchema)
    .nullable()
    .meta({
      description: `Conditions that need an operator, newest first, at most ${MAX_ALARMS}; null while the tables cannot be read.`,
    }),
  mode: z.enum(['live', 'recorded']).nullable(),
  notice: z.string().meta({ description: 'States whether the data is live, or recorded and shifted in time.' }),
  order_books: z
    .object({
      synthetic: z.boolean().meta({ description: 'Books made around recorded trades, not of the venue.' }),
      followed: z.int().meta({ description: 'Books that are read.' }),
      verified: z.int().meta({ description: "Of these, books with the venue's own hash of the whole book." }),
      verified_share: z
        .number()
        .nullable()
        .meta({ description: 'verified / followed; null without books, and for synthetic ones.' }),
      checks: z.int().meta({ description: 'Comparisons with a hash since the source started.' }),
      mismatches: z
        .int()
        .meta({ description: 'Of these, books that differed from the venue’s; each is repaired by a fresh book.' }),
      repairs: z.int().meta({ description: 'Fresh books requested since the source started.' }),
      repair_failures: z
        .int()
        .meta({ description: 'Of these, books that could not be fetched; they are requested again.' }),
      silent_tokens: z.int().meta({ description: 'Tokens whose feed was found silent and subscribed again.' }),
    })
    .nullable()
    .meta({ description: 'State of the order book source; null until it reports.' }),
  sources: z.array(sourceSchema),
  tables: z.array(tableGroupSchema).meta({ description: 'Load progress per table group; empty while it is unknown.' }),
});

/** Example of the OpenAPI document. */
export const exampleStatus: z.input<typeof statusSchema> = {
  node_connected: true,
  tables_connected: true,
  uptime_seconds: 3600,
  stream_length: 120000,
  events_stream_length: 118000,
  stream_epoch: '5f1c2a90d3b84e67',
  stream: { last_event_at: '2026-11-25T12:00:00Z', stale: null, stale_since: null },
  pending_txs: 4,
  ws_subscribers: 12,
  firehose_connections: 3,
  redis_memory: 'none',
  state: {
    market_count: 900,
    wallet_count: 12000,
    metadata_count: 1800,
    events_buffered: 118000,
    events_processed: 240000,
    latest_block: 91000001,
  },
  metadata_observability: {
    connected: true,
    last_event_age_seconds: 2.5,
    traded_tokens: 1750,
    described_tokens: 1700,
    ws_settlement_missing_full: 14,
    ws_settlement_missing_title: 9,
    ws_status_missing_full: 6,
    ws_status_missing_title: 4,
    hydration_queued: 120,
    hydration_retries: 2,
    hydration_failures: 2,
    gamma_hydration_success: 31,
    gamma_hydration_no_markets: 3,
    gamma_hydration_unusable: 0,
    gamma_hydration_request_errors: 1,
    gamma_hydration_status_errors: 1,
    gamma_hydration_parse_errors: 0,
  },
  history: { complete_from_block: 90100000, complete_from: '2027-03-20T09:12:44Z' },
  raw_history: { from_block: 90100000, from: '2027-03-20T09:12:44Z' },
  alarms: [],
  mode: 'recorded',
  notice:
    'Recorded data, not live (chain). The history keeps its true times; the recorded day is replayed as live tail, shifted in time (chain by 40 days).',
  order_books: {
    synthetic: false,
    followed: 4000,
    verified: 3998,
    verified_share: 0.9995,
    checks: 1_200_400,
    mismatches: 12,
    repairs: 19,
    repair_failures: 1,
    silent_tokens: 2,
  },
  sources: [
    {
      source: 'chain',
      mode: 'recorded',
      phase: 'live',
      progress: 1,
      connected: true,
      health: 'connected',
      detail: 'playing',
      head: 91000001,
      finalized: 90999990,
      lag: 11,
      last_event_age_seconds: 1.2,
      last_event_at: '2027-05-22T12:00:00Z',
      stale: null,
      stale_since: null,
      reread: { from_block: 90999100, to_block: 90999160, at: '2027-05-22T11:30:00Z' },
      gap: null,
      shift_days: 40,
      recorded_from: '2027-04-12T00:00:00Z',
    },
  ],
  tables: [exampleTableGroup],
};
