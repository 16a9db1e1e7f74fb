import { z } from 'zod';
import { STREAM_SOURCE } from '../../../infra/sources/freshness.js';
import { defineRoute, type Reply, type Route } from '../../http/route.js';
import { tableGroupEntry } from '../../readiness/load-status.js';
import { isoFrom } from '../../tables/values.js';
import { alarmOf, alarmSchema } from './alarms.js';
import { noticeOf, sourceEntry, sourceSchema, streamEntry } from './source-entry.js';
import type { StatusDeps } from './status.js';
import { exampleStatus, statusSchema } from './status.schema.js';

/** A source without `detail`, which can name upstream addresses. */
const publicSourceSchema = sourceSchema.omit({ detail: true });

const publicStatusSchema = statusSchema
  .pick({
    tables_connected: true,
    uptime_seconds: true,
    stream: true,
    history: true,
    mode: true,
    notice: true,
    tables: true,
  })
  .extend({
    checked_at: z.string().meta({ description: 'Time of this response.' }),
    versions: z.object({
      product: z.string().meta({ description: 'Version of the program.' }),
      api: z.string().meta({ description: 'Version of the API contract.' }),
    }),
    alarms: z.array(alarmSchema.pick({ kind: true, message: true, last_at: true })).nullable(),
    sources: z.array(publicSourceSchema),
  });

const example: z.input<typeof publicStatusSchema> = {
  checked_at: '2027-05-22T12:00:01Z',
  versions: { product: '0.1.0', api: '1.0.0' },
  tables_connected: exampleStatus.tables_connected,
  uptime_seconds: exampleStatus.uptime_seconds,
  stream: exampleStatus.stream,
  history: exampleStatus.history,
  mode: exampleStatus.mode,
  notice: exampleStatus.notice,
  alarms: [],
  sources: exampleStatus.sources.map(({ detail: _detail, ...source }) => source),
  tables: exampleStatus.tables,
};

/** GET /v1/status/public: the part of the state that people may see without a key. Reads nothing that `/v1/status` does not, from the same caches. */
export function createPublicStatusRoute(
  deps: Pick<StatusDeps, 'facts' | 'sources' | 'progress' | 'startedAtMs'> & {
    readonly versions: { readonly product: string; readonly api: string };
  },
): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/status/public',
    apiGroup: 'v1',
    tag: 'Service',
    auth: 'none',
    summary: 'State of the service, without a key',
    description:
      'What the page `/status` shows: sources, lag of the tables, alarms and versions. No addresses, connections or counts of users.',
    success: { description: 'Status', schema: publicStatusSchema, example },
    async handler(_input, context): Promise<Reply<z.input<typeof publicStatusSchema>>> {
      const [row, unknown] = await Promise.all([deps.facts.counts(), deps.facts.alarms()]);
      const statuses = deps.sources.all();
      const freshness = new Map(deps.sources.freshness(context.nowMs).map((one) => [one.source, one]));
      return {
        body: {
          checked_at: new Date(context.nowMs).toISOString(),
          versions: deps.versions,
          tables_connected: row !== null,
          uptime_seconds: Math.max(0, Math.floor((context.nowMs - deps.startedAtMs) / 1000)),
          stream: streamEntry(freshness.get(STREAM_SOURCE)),
          history: {
            complete_from_block: row?.first_block == null ? null : Number(row.first_block),
            complete_from: isoFrom(row?.first_ms ?? null),
          },
          mode: statuses.length === 0 ? null : statuses.some((s) => s.mode === 'recorded') ? 'recorded' : 'live',
          notice: noticeOf(statuses),
          alarms: unknown?.map(alarmOf).map(({ kind, message, last_at }) => ({ kind, message, last_at })) ?? null,
          sources: statuses.map((status) => {
            const { detail: _detail, ...entry } = sourceEntry(status, freshness.get(status.source), context.nowMs);
            return entry;
          }),
          tables: Object.values(deps.progress.current()?.groups ?? {}).map(tableGroupEntry),
        },
      };
    },
  });
}
