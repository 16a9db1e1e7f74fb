import type { z } from 'zod';
import type { Log } from '../../../infra/log/port.js';
import { STREAM_SOURCE } from '../../../infra/sources/freshness.js';
import type { SourceStatusView } from '../../../infra/sources/source-status-view.js';
import { topics } from '../../../schemas/topics.js';
import type { SourceStatus } from '../../../schemas/types.gen.js';
import { defineRoute, type Reply, type Route } from '../../http/route.js';
import { ORDER_BOOK_SOURCE } from '../../order-books/reader.js';
import { tableGroupEntry } from '../../readiness/load-status.js';
import type { TableProgress } from '../../readiness/table-progress.js';
import type { GatewayView } from '../../sources/gateway-view.js';
import { isoFrom } from '../../tables/values.js';
import { alarmOf } from './alarms.js';
import { createLogStart } from './log-start.js';
import { metadataObservabilityFrom, numberFrom } from './metadata-observability.js';
import { noticeOf, sourceEntry, streamEntry } from './source-entry.js';
import { exampleStatus, statusSchema } from './status.schema.js';
import type { TableFacts } from './table-facts.js';

export interface StatusDeps {
  readonly log: Pick<Log, 'bounds' | 'read'>;
  readonly sources: Pick<SourceStatusView, 'all' | 'get' | 'stream' | 'freshness'>;
  readonly gateways: Pick<GatewayView, 'load'>;
  readonly progress: Pick<TableProgress, 'current'>;
  readonly facts: TableFacts;
  readonly startedAtMs: number;
}

type BooksEntry = z.input<typeof statusSchema>['order_books'];

/** Serializes the state of the order books. */
const orderBooksEntry = (state: SourceStatus['order_books']): BooksEntry => {
  if (state === null) return null;
  const { epoch: _, ...shown } = state;
  const { followed, synthetic, verified } = shown;
  // Synthetic books exist for traded tokens only, and their hash is not the venue's.
  return {
    ...shown,
    verified_share: followed === 0 || synthetic ? null : Math.floor((verified / followed) * 1e4) / 1e4,
  };
};

/** GET /v1/status: state of the service. Also responds while the tables are unreachable; fields that need them are null then. */
export function createStatusRoute(deps: StatusDeps): Route {
  const retained = async (topic: string) => {
    const { earliest, next } = await deps.log.bounds(topic, 0);
    return { length: next - earliest, next };
  };
  const logStart = createLogStart(deps.log);
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
      example: exampleStatus,
    },
    async handler(_input, context): Promise<Reply<z.input<typeof statusSchema>>> {
      const statuses = deps.sources.all();
      const [chain, stream, rawHistory, row, unknown] = await Promise.all([
        retained(topics.chainHead.name),
        retained(topics.streamEvents.name),
        logStart(),
        deps.facts.counts(),
        deps.facts.alarms(),
      ]);
      const freshness = new Map(deps.sources.freshness(context.nowMs).map((one) => [one.source, one]));
      const sources = statuses.map((status) => sourceEntry(status, freshness.get(status.source), context.nowMs));
      const sockets = deps.gateways.load(context.nowMs);
      return {
        body: {
          node_connected: sources.some((source) => source.source === 'chain' && source.connected),
          tables_connected: row !== null,
          uptime_seconds: Math.max(0, Math.floor((context.nowMs - deps.startedAtMs) / 1000)),
          stream_length: chain.length,
          events_stream_length: stream.length,
          stream_epoch: deps.sources.stream()?.epoch ?? null,
          stream: streamEntry(freshness.get(STREAM_SOURCE)),
          pending_txs: statuses.reduce((sum, { pending }) => sum + (pending ?? 0), 0),
          ws_subscribers: sockets.connections,
          firehose_connections: sockets.firehoses,
          redis_memory: 'none',
          state: {
            market_count: numberFrom(row?.markets),
            wallet_count: numberFrom(row?.wallets),
            metadata_count: numberFrom(row?.tokens),
            events_buffered: stream.length,
            events_processed: stream.next,
            latest_block: numberFrom(row?.latest_block),
          },
          metadata_observability: metadataObservabilityFrom({
            catalog: sources.find(({ source }) => source === 'catalog'),
            counts: row,
            lookups: deps.sources.get('catalog')?.metadata,
            frames: deps.sources.stream(),
          }),
          history: {
            complete_from_block: row?.first_block == null ? null : Number(row.first_block),
            complete_from: isoFrom(row?.first_ms ?? null),
          },
          raw_history: rawHistory,
          alarms: unknown?.map(alarmOf) ?? null,
          mode: statuses.length === 0 ? null : statuses.some((s) => s.mode === 'recorded') ? 'recorded' : 'live',
          notice: noticeOf(statuses),
          order_books: orderBooksEntry(deps.sources.get(ORDER_BOOK_SOURCE)?.order_books ?? null),
          sources,
          tables: Object.values(deps.progress.current()?.groups ?? {}).map(tableGroupEntry),
        },
      };
    },
  });
}
