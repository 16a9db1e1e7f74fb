import { z } from 'zod';
import type { Log } from '../../../infra/log/port.js';
import type { Check } from '../../../infra/telemetry/readiness.js';
import { topics } from '../../../schemas/topics.js';
import { defineRoute, type Route } from '../../http/route.js';
import { healthOf, type SourceStatusView } from '../../sources/source-status-view.js';
import type { Tables } from '../../tables/port.js';

export interface HealthDeps {
  readonly tables: Pick<Tables, 'reachable'>;
  readonly log: Pick<Log, 'bounds'>;
  readonly sources: Pick<SourceStatusView, 'get'>;
}

const readySchema = z.object({
  node_connected: z.boolean().meta({ description: 'The chain source is connected.' }),
  redis_connected: z.boolean().meta({ description: 'The stores behind this API (log and tables) are reachable.' }),
  log_connected: z.boolean(),
  tables_connected: z.boolean(),
  error: z.string().optional().meta({ description: 'What is missing; only with 503.' }),
});

/** The chain source, as the operator's door tells of it. Before ingest has ever told, it is still starting. */
export function chainCheck(sources: HealthDeps['sources'], nowMs: number): Check {
  const chain = sources.get('chain');
  if (chain === undefined) return { ok: false, loading: true, detail: 'ingest has not told of it yet' };
  const health = healthOf(chain, nowMs);
  return health === 'connected' ? { ok: true } : { ok: false, detail: health };
}

const LOG_ANSWERS_WITHIN_MS = 2_000;

async function answers(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), LOG_ANSWERS_WITHIN_MS);
  });
  const answered = work.then(
    () => true,
    () => false,
  );
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}

/** Whether this API can do its work now, and what is missing. */
export async function readiness(deps: HealthDeps, nowMs: number): Promise<z.input<typeof readySchema>> {
  const chain = deps.sources.get('chain');
  const chainHealth = chain === undefined ? 'not started' : healthOf(chain, nowMs);
  const [log, tables] = await Promise.all([answers(deps.log.bounds(topics.sources.name, 0)), deps.tables.reachable()]);
  const missing = [
    ...(chainHealth === 'connected' ? [] : [`chain source ${chainHealth}`]),
    ...(log ? [] : ['log unreachable']),
    ...(tables ? [] : ['tables unreachable']),
  ];
  return {
    node_connected: chainHealth === 'connected',
    redis_connected: log && tables,
    log_connected: log,
    tables_connected: tables,
    ...(missing.length === 0 ? {} : { error: missing.join('; ') }),
  };
}

/** GET /healthz and GET /readyz: no key. */
export function createHealthRoutes(deps: HealthDeps): readonly Route[] {
  const ready = { node_connected: true, redis_connected: true, log_connected: true, tables_connected: true };
  return [
    defineRoute({
      method: 'get',
      path: '/healthz',
      family: 'root',
      tag: 'Service',
      auth: 'none',
      anyQuery: true,
      summary: 'Alive',
      success: {
        description: 'The process answers.',
        schema: z.string(),
        example: 'ok',
        contentType: 'text/plain',
      },
      handler: () => ({ body: 'ok' }),
    }),
    defineRoute({
      method: 'get',
      path: '/readyz',
      family: 'root',
      tag: 'Service',
      auth: 'none',
      anyQuery: true,
      summary: 'Ready to serve',
      success: { description: 'Chain source, log and tables are there.', schema: readySchema, example: ready },
      otherResponses: {
        503: {
          description: 'Something is missing; `error` names it.',
          schema: readySchema,
          example: { ...ready, node_connected: false, error: 'chain source disconnected' },
        },
      },
      async handler(_input, context) {
        const body = await readiness(deps, context.nowMs);
        return { status: body.error === undefined ? 200 : 503, body };
      },
    }),
  ];
}
