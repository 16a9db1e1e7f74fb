import { z } from 'zod';
import type { Log } from '../../../infra/log/port.js';
import { healthOf, type SourceStatusView } from '../../../infra/sources/source-status-view.js';
import type { Check } from '../../../infra/telemetry/readiness.js';
import { topics } from '../../../schemas/topics.js';
import { defineRoute, type Route } from '../../http/route.js';
import { exampleTableGroup, loadStatusText, tableGroupEntry, tableGroupSchema } from '../../readiness/load-status.js';
import type { TableProgress } from '../../readiness/table-progress.js';
import type { Tables } from '../../tables/port.js';

export interface HealthDeps {
  readonly tables: Pick<Tables, 'reachable'>;
  readonly log: Pick<Log, 'bounds'>;
  readonly sources: Pick<SourceStatusView, 'get'>;
  readonly progress: Pick<TableProgress, 'current'>;
}

const readySchema = z.object({
  node_connected: z.boolean().meta({ description: 'The chain source is connected.' }),
  redis_connected: z.boolean().meta({ description: 'The stores behind this API (log and tables) are reachable.' }),
  log_connected: z.boolean(),
  tables_connected: z.boolean(),
  history_loaded: z
    .boolean()
    .meta({ description: 'The tables contain all history that the sources announced as complete.' }),
  tables: z.array(tableGroupSchema).meta({ description: 'Load progress per table group; empty while it is unknown.' }),
  error: z.string().optional().meta({ description: 'Reason of the 503; absent otherwise.' }),
});

/** Health check of the chain source, as shown by the admin server. Without a report from ingest the source counts as starting. */
export function chainCheck(sources: HealthDeps['sources'], nowMs: number): Check {
  const chain = sources.get('chain');
  if (chain === undefined) return { ok: false, loading: true, detail: 'ingest has not reported yet' };
  const health = healthOf(chain, nowMs);
  return health === 'connected' ? { ok: true } : { ok: false, detail: health };
}

const LOG_TIMEOUT_MS = 2_000;

async function respondsInTime(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), LOG_TIMEOUT_MS);
  });
  const succeeded = work.then(
    () => true,
    () => false,
  );
  return Promise.race([succeeded, late]).finally(() => clearTimeout(timer));
}

/** Readiness of this API, with the unavailable dependencies. */
async function readiness(deps: HealthDeps, nowMs: number): Promise<z.input<typeof readySchema>> {
  const chain = deps.sources.get('chain');
  const chainHealth = chain === undefined ? 'not started' : healthOf(chain, nowMs);
  const [log, tables] = await Promise.all([
    respondsInTime(deps.log.bounds(topics.sources.name, 0)),
    deps.tables.reachable(),
  ]);
  const loading = deps.progress.current();
  const loadingWords =
    loading === null ? 'history: load progress unknown' : `history is loading: ${loadStatusText(loading)}`;
  const missing = [
    ...(chainHealth === 'connected' ? [] : [`chain source ${chainHealth}`]),
    ...(log ? [] : ['log unreachable']),
    ...(tables ? [] : ['tables unreachable']),
    ...(loading?.ready === true ? [] : [loadingWords]),
  ];
  return {
    node_connected: chainHealth === 'connected',
    redis_connected: log && tables,
    log_connected: log,
    tables_connected: tables,
    history_loaded: loading?.ready === true,
    tables: loading === null ? [] : Object.values(loading.groups).map(tableGroupEntry),
    ...(missing.length === 0 ? {} : { error: missing.join('; ') }),
  };
}

/** GET /healthz and GET /readyz: no key. */
export function createHealthRoutes(deps: HealthDeps): readonly Route[] {
  const ready = {
    node_connected: true,
    redis_connected: true,
    log_connected: true,
    tables_connected: true,
    history_loaded: true,
    tables: [exampleTableGroup],
  };
  return [
    defineRoute({
      method: 'get',
      path: '/healthz',
      apiGroup: 'root',
      tag: 'Service',
      auth: 'none',
      allowUnknownQuery: true,
      summary: 'Alive',
      success: {
        description: 'The process responds.',
        schema: z.string(),
        example: 'ok',
        contentType: 'text/plain',
      },
      handler: () => ({ body: 'ok' }),
    }),
    defineRoute({
      method: 'get',
      path: '/readyz',
      apiGroup: 'root',
      tag: 'Service',
      auth: 'none',
      allowUnknownQuery: true,
      summary: 'Ready to serve',
      success: {
        description: 'Chain source, log and tables are reachable, and the history is loaded.',
        schema: readySchema,
        example: ready,
      },
      otherResponses: {
        503: {
          description: 'Not ready; `error` names the reason.',
          schema: readySchema,
          example: {
            ...ready,
            history_loaded: false,
            tables: [{ ...exampleTableGroup, state: 'loading', position: 81000, percent: 34 }],
            error: 'history is loading: fills 34 %',
          },
        },
      },
      async handler(_input, context) {
        const body = await readiness(deps, context.nowMs);
        return { status: body.error === undefined ? 200 : 503, body };
      },
    }),
  ];
}
