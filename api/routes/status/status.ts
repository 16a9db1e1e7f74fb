import { z } from 'zod';
import type { Log } from '../../../infra/log/port.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import { MAX_BLOCK_GAP_S, watchedContracts } from '../../../schemas/coverage/sources.js';
import { topics } from '../../../schemas/topics.js';
import type { SourceStatus } from '../../../schemas/types.gen.js';
import type { TtlCache } from '../../cache/ttl-cache.js';
import { defineRoute, type Reply, type Route } from '../../http/route.js';
import { tableGroupEntry, tableGroupSchema } from '../../readiness/load-status.js';
import type { TableProgress } from '../../readiness/table-progress.js';
import type { GatewayView } from '../../sources/gateway-view.js';
import { healthOf, type SourceStatusView } from '../../sources/source-status-view.js';
import type { Tables } from '../../tables/port.js';
import { isoFrom } from '../../tables/values.js';
import { type CountsRow, countsSql, MAX_ALARMS, type UnknownEventRow, unknownEventsSql } from './status.sql.js';

const COUNTS_CACHE_MS = 30_000;
const ALARMS_CACHE_MS = 5_000;

const count = z.int().nullable();

const sourceSchema = z.object({
  source: z.string(),
  mode: z.enum(['live', 'recorded']),
  phase: z.enum(['history', 'live', 'stopped']),
  progress: z.number().nullable().meta({ description: 'Part of the history that is loaded, 0 to 1.' }),
  connected: z.boolean(),
  health: z.enum(['connected', 'disconnected', 'silent']),
  detail: z.string(),
  head: count.meta({ description: 'Newest block seen (chain).' }),
  finalized: count.meta({ description: 'Newest block that can no longer change (chain).' }),
  lag: count.meta({ description: 'Blocks between head and finalized.' }),
  last_event_age_seconds: z.number().nullable(),
  shift_days: count.meta({ description: 'Whole days added to the recorded times of the live tail.' }),
  recorded_from: z.string().nullable().meta({ description: 'Start of the recorded day that is being played.' }),
});

const alarmSchema = z.object({
  kind: z.enum(['unknown_event']).meta({
    description:
      '`unknown_event`: a watched contract logs an event that this version does not know. Its logs are kept as they are.',
  }),
  message: z.string(),
  contract: z.string().meta({ description: 'As in `/v1/coverage`.' }),
  address: z.string(),
  topic0: z.string().nullable().meta({ description: 'null: an anonymous event.' }),
  logs: z.int().meta({ description: 'So many logs of it are kept.' }),
  first_block: z.int(),
  last_block: z.int(),
  last_at: z.string().nullable(),
  tx_hash: z.string().meta({ description: 'Transaction of the newest one.' }),
});

/** An unknown event as an alarm. */
function alarmOf(row: UnknownEventRow): z.input<typeof alarmSchema> {
  const contract = watchedContracts.find(({ address }) => address === row.address)?.name ?? row.address;
  const what = row.topic0 === '' ? 'an anonymous event' : `an event unknown to this version, ${row.topic0}`;
  return {
    kind: 'unknown_event',
    message: `Contract ${contract} logs ${what}: the venue changed something, and what it means is in no table.`,
    contract: `contract:${contract}`,
    address: row.address,
    topic0: row.topic0 === '' ? null : row.topic0,
    logs: Number(row.logs),
    first_block: Number(row.first_block),
    last_block: Number(row.last_block),
    last_at: isoFrom(row.last_ms),
    tx_hash: row.tx_hash,
  };
}

const statusSchema = z.object({
  node_connected: z.boolean(),
  tables_connected: z.boolean(),
  uptime_seconds: z.int(),
  stream_length: z.int().meta({ description: 'Chain events the head topic holds.' }),
  events_stream_length: z.int().meta({ description: 'Events the subscribers’ stream holds.' }),
  pending_txs: z.int().meta({ description: 'Settlements seen in the mempool and not yet in a block.' }),
  ws_subscribers: z.int().meta({ description: 'Open event sockets of all gateway processes, a few seconds old.' }),
  firehose_connections: z.int().meta({ description: 'Of these, with a subscription without filters.' }),
  redis_memory: z.string().meta({ description: '`none`: no Redis in this deployment.' }),
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
  metadata_observability: z
    .object({
      connected: z.boolean().meta({ description: 'The catalogue source is connected.' }),
      last_event_age_seconds: z.number().nullable().meta({ description: 'Since the catalogue source last had news.' }),
      traded_tokens: count.meta({ description: 'Outcome tokens with a fill.' }),
      described_tokens: count.meta({ description: 'Of these, with an entry in the catalogue.' }),
      ws_settlement_missing_full: z.int().meta({
        description:
          'Settlement frames sent without at least one of market title, slug, image, event title, outcome, tokens, since the stream processor started.',
      }),
      ws_settlement_missing_title: z
        .int()
        .meta({ description: 'Settlement frames sent without a market title, since the stream processor started.' }),
      ws_status_missing_full: z.int().meta({
        description:
          'Status update frames sent without at least one of market title, slug, image, event title, outcome, tokens, since the stream processor started.',
      }),
      ws_status_missing_title: z
        .int()
        .meta({ description: 'Status update frames sent without a market title, since the stream processor started.' }),
      hydration_queued: z.int().meta({
        description:
          'Conditions and tokens of the chain without a catalog entry that were queued for a lookup; since the ingest process started.',
      }),
      hydration_retries: z
        .int()
        .meta({ description: 'Lookups repeated after one that failed; since the ingest process started.' }),
      hydration_failures: z.int().meta({
        description: 'Lookups that failed, after the retries of their requests; since the ingest process started.',
      }),
      gamma_hydration_success: z.int().meta({
        description:
          'Lookups whose response contained at least one of the requested markets; since the ingest process started.',
      }),
      gamma_hydration_no_markets: z.int().meta({
        description:
          'Lookups whose response contained none of the requested markets; since the ingest process started.',
      }),
      gamma_hydration_unusable: z.int().meta({
        description:
          'Rows of the catalog service that could not be decoded or written; since the ingest process started.',
      }),
      gamma_hydration_request_errors: z.int().meta({
        description:
          'Requests to the catalog service without a complete response: network faults, timeouts, bodies over the limit; since the ingest process started.',
      }),
      gamma_hydration_status_errors: z.int().meta({
        description: 'Responses of the catalog service with a status other than 2xx; since the ingest process started.',
      }),
      gamma_hydration_parse_errors: z.int().meta({
        description:
          'Responses of the catalog service that are not JSON or not of the documented shape; since the ingest process started.',
      }),
    })
    .meta({ description: 'Completeness of market metadata. Counters restart at 0 with the process that counts.' }),
  history: z.object({ complete_from_block: count, complete_from: z.string().nullable() }).meta({
    description: `First block from which on all events are here, and its time: the one after the newest gap of over ${MAX_BLOCK_GAP_S} seconds without a block with a log of a watched contract (\`/v1/coverage\` has them all). What began before it (positions, open interest) may be known in part: such fields are null or say \`complete: false\`.`,
  }),
  alarms: z
    .array(alarmSchema)
    .nullable()
    .meta({
      description: `What somebody should look at, the newest first, ${MAX_ALARMS} at most; null while the tables cannot be read.`,
    }),
  mode: z.enum(['live', 'recorded']).nullable(),
  notice: z.string().meta({ description: 'Says when the data is recorded and shifted in time.' }),
  sources: z.array(sourceSchema),
  tables: z.array(tableGroupSchema).meta({ description: 'How far each table group is; empty while nobody knows.' }),
});

/** One source as the status page shows it. */
function sourceEntry(status: SourceStatus, nowMs: number): z.input<typeof sourceSchema> {
  const health = healthOf(status, nowMs);
  const age = status.last_event_ms === null ? null : Math.max(0, Math.round((nowMs - status.last_event_ms) / 100) / 10);
  return {
    source: status.source,
    mode: status.mode,
    phase: status.phase,
    progress: status.progress,
    connected: health === 'connected',
    health,
    detail: status.detail,
    head: status.head,
    finalized: status.finalized,
    lag: status.head === null || status.finalized === null ? null : status.head - status.finalized,
    last_event_age_seconds: age,
    shift_days: status.shift_days,
    recorded_from: isoFrom(status.recorded_from_ms),
  };
}

/** In words, what kind of data this is. */
function noticeOf(sources: readonly SourceStatus[]): string {
  if (sources.length === 0) return 'No source has reported yet.';
  const recorded = sources.filter((source) => source.mode === 'recorded');
  if (recorded.length === 0) return 'Live data.';
  const names = recorded.map((source) => source.source).join(', ');
  const shifts = recorded.flatMap((source) =>
    source.shift_days === null ? [] : [`${source.source} by ${source.shift_days} days`],
  );
  const moved =
    shifts.length === 0 ? '' : `; the recorded day is played as a live tail, shifted in time (${shifts.join(', ')})`;
  return `Recorded data, not live (${names}). The history keeps its true times${moved}.`;
}

export interface StatusDeps {
  readonly tables: Tables;
  readonly log: Pick<Log, 'bounds'>;
  readonly sources: Pick<SourceStatusView, 'all' | 'get' | 'stream'>;
  readonly gateways: Pick<GatewayView, 'load'>;
  readonly progress: Pick<TableProgress, 'current'>;
  readonly cache: TtlCache;
  readonly logger: Logger;
  readonly startedAtMs: number;
}

/** GET /v1/status. Answers also while the tables are away, with nulls for what they would have told. */
export function createStatusRoute(deps: StatusDeps): Route {
  const held = async (topic: string) => {
    const { earliest, next } = await deps.log.bounds(topic, 0);
    return { length: next - earliest, next };
  };
  const counts = async (): Promise<CountsRow | null> => {
    try {
      const cached = await deps.cache.get('status-counts', COUNTS_CACHE_MS, () =>
        deps.tables.rows<CountsRow>(countsSql),
      );
      return cached.value[0] ?? null;
    } catch (error) {
      deps.logger.warn({ err: error }, 'status without the tables');
      return null;
    }
  };
  const alarms = async (): Promise<readonly UnknownEventRow[] | null> => {
    try {
      const cached = await deps.cache.get('status-alarms', ALARMS_CACHE_MS, () =>
        deps.tables.rows<UnknownEventRow>(unknownEventsSql),
      );
      return cached.value;
    } catch (error) {
      deps.logger.warn({ err: error }, 'alarms cannot be told without the tables');
      return null;
    }
  };
  return defineRoute({
    method: 'get',
    path: '/v1/status',
    apiGroup: 'v1',
    tag: 'Service',
    auth: 'key',
    summary: 'State of the service and its sources',
    success: {
      description: 'Status',
      schema: statusSchema,
      example: {
        node_connected: true,
        tables_connected: true,
        uptime_seconds: 3600,
        stream_length: 120000,
        events_stream_length: 118000,
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
        alarms: [],
        mode: 'recorded',
        notice:
          'Recorded data, not live (chain). The history keeps its true times; the recorded day is played as a live tail, shifted in time (chain by 40 days).',
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
            shift_days: 40,
            recorded_from: '2027-04-12T00:00:00Z',
          },
        ],
        tables: [
          {
            table: 'fills',
            state: 'loaded',
            position: 240000,
            target: 238000,
            percent: 100,
            complete_through_block: 90999989,
            complete_through: '2027-04-12T10:00:00Z',
            lag_seconds: 0,
          },
        ],
      },
    },
    async handler(_input, context): Promise<Reply<z.input<typeof statusSchema>>> {
      const statuses = deps.sources.all();
      const [chain, stream, row, unknown] = await Promise.all([
        held(topics.chainHead.name),
        held(topics.streamEvents.name),
        counts(),
        alarms(),
      ]);
      const sources = statuses.map((status) => sourceEntry(status, context.nowMs));
      const catalog = sources.find(({ source }) => source === 'catalog');
      const hydration = deps.sources.get('catalog')?.metadata;
      const frames = deps.sources.stream();
      const sockets = deps.gateways.load(context.nowMs);
      const number = (text: string | undefined): number | null => (text === undefined ? null : Number(text));
      return {
        body: {
          node_connected: sources.some((source) => source.source === 'chain' && source.connected),
          tables_connected: row !== null,
          uptime_seconds: Math.max(0, Math.floor((context.nowMs - deps.startedAtMs) / 1000)),
          stream_length: chain.length,
          events_stream_length: stream.length,
          pending_txs: statuses.reduce((sum, { pending }) => sum + (pending ?? 0), 0),
          ws_subscribers: sockets.connections,
          firehose_connections: sockets.firehoses,
          redis_memory: 'none',
          state: {
            market_count: number(row?.markets),
            wallet_count: number(row?.wallets),
            metadata_count: number(row?.tokens),
            events_buffered: stream.length,
            events_processed: stream.next,
            latest_block: number(row?.latest_block),
          },
          metadata_observability: {
            connected: catalog?.connected ?? false,
            last_event_age_seconds: catalog?.last_event_age_seconds ?? null,
            traded_tokens: number(row?.traded),
            described_tokens: number(row?.described),
            ws_settlement_missing_full: frames?.settlement_missing_full ?? 0,
            ws_settlement_missing_title: frames?.settlement_missing_title ?? 0,
            ws_status_missing_full: frames?.status_missing_full ?? 0,
            ws_status_missing_title: frames?.status_missing_title ?? 0,
            hydration_queued: hydration?.hydration_queued ?? 0,
            hydration_retries: hydration?.hydration_retries ?? 0,
            hydration_failures: hydration?.hydration_failures ?? 0,
            gamma_hydration_success: hydration?.gamma_hydration_success ?? 0,
            gamma_hydration_no_markets: hydration?.gamma_hydration_no_markets ?? 0,
            gamma_hydration_unusable: hydration?.gamma_hydration_unusable ?? 0,
            gamma_hydration_request_errors: hydration?.gamma_hydration_request_errors ?? 0,
            gamma_hydration_status_errors: hydration?.gamma_hydration_status_errors ?? 0,
            gamma_hydration_parse_errors: hydration?.gamma_hydration_parse_errors ?? 0,
          },
          history: {
            complete_from_block: row?.first_block == null ? null : Number(row.first_block),
            complete_from: isoFrom(row?.first_ms ?? null),
          },
          alarms: unknown?.map(alarmOf) ?? null,
          mode: statuses.length === 0 ? null : statuses.some((s) => s.mode === 'recorded') ? 'recorded' : 'live',
          notice: noticeOf(statuses),
          sources,
          tables: Object.values(deps.progress.current()?.groups ?? {}).map(tableGroupEntry),
        },
      };
    },
  });
}
