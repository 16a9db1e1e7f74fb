import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.js';
import type { Readiness } from './readiness.js';

export type { Readiness } from './readiness.js';

/** A scrape does not wait longer than this for the checks; they then count as failing. */
const CHECKS_WITHIN_MS = 3_000;
const TIMED_OUT = 'timed out';

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * The operator's door of a process: `/healthz` (alive), `/readyz` (caught up; 503 with the failing checks), `/metrics` (Prometheus).
 * Every scrape also runs the checks: `oddstream_ready_check{check}` is 1 for those that pass. Port 0 takes a free one.
 */
export async function startAdminServer(options: {
  host: string;
  port: number;
  metrics: Metrics;
  readiness: () => Promise<Readiness> | Readiness;
}): Promise<AdminServer> {
  const verdicts = options.metrics.gauge('ready_check', 'Checks of /readyz: 1 passes, 0 fails', ['check']);
  const known = new Set<string>();
  const readiness = async () => options.readiness();
  const setVerdicts = async (): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<typeof TIMED_OUT>((resolve) => {
      timer = setTimeout(() => resolve(TIMED_OUT), CHECKS_WITHIN_MS);
    });
    const state = await Promise.race([readiness().catch(() => TIMED_OUT), timeout]).finally(() => clearTimeout(timer));
    const checks = typeof state === 'string' ? {} : state.checks;
    verdicts.set({ check: 'answered' }, typeof state === 'string' ? 0 : 1);
    for (const check of Object.keys(checks)) known.add(check);
    for (const check of known) verdicts.set({ check }, checks[check]?.ok === true ? 1 : 0);
  };
  const server: Server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0];
    const send = (status: number, type: string, body: string) => {
      response.writeHead(status, { 'content-type': type });
      response.end(body);
    };
    const fail = (error: unknown) => send(500, 'application/json', JSON.stringify({ error: String(error) }));
    if (path === '/healthz') send(200, 'text/plain', 'ok');
    else if (path === '/readyz') {
      readiness().then((state) => send(state.ready ? 200 : 503, 'application/json', JSON.stringify(state)), fail);
    } else if (path === '/metrics') {
      setVerdicts()
        .then(() => options.metrics.registry.metrics())
        .then((text) => send(200, options.metrics.registry.contentType, text), fail);
    } else send(404, 'application/json', JSON.stringify({ error: 'Not found.' }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
