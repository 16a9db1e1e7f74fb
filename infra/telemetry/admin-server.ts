import type { AddressInfo } from 'node:net';
import { createBoundedServer } from '../http/bounded-server.js';
import { browserHeadersOf, crossOriginRejection, hostRejection } from '../http/request-guard.js';
import type { Metrics } from './metrics.js';
import type { Readiness } from './readiness.js';

export type { Readiness } from './readiness.js';

/** A scrape does not wait longer than this for the checks; they then count as failing. */
const CHECKS_TIMEOUT_MS = 3_000;
const TIMED_OUT = 'timed out';

/** Probes and scrapes need few and short connections. */
const BOUNDS = {
  timeouts: { headersMs: 5_000, requestMs: 10_000, stalledMs: 30_000 },
  maxConnections: 256,
  maxUnreadBytes: 16 * 1024,
};

/** Every path of an admin port. */
export const adminPaths = ['/healthz', '/readyz', '/metrics'] as const;
type AdminPath = (typeof adminPaths)[number];

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * The admin port of a process: `/healthz` (alive), `/readyz` (caught up; 503 with the failing checks), `/metrics` (Prometheus). It requires no
 * key, so requests of web pages are rejected with 403: those for a host name outside of `allowedHosts` and those of other origins.
 * Every scrape also runs the checks: `oddstream_ready_check{check}` is 1 for those that pass, `oddstream_ready_check_loading{check}` for those that
 * only load. Port 0 selects a free port.
 */
export async function startAdminServer(options: {
  host: string;
  port: number;
  metrics: Metrics;
  readiness: () => Promise<Readiness> | Readiness;
  /** Names besides loopback names and IP addresses that requests may carry in `Host`. */
  allowedHosts: readonly string[];
}): Promise<AdminServer> {
  const verdicts = options.metrics.gauge('ready_check', 'Checks of /readyz: 1 passes, 0 fails', ['check']);
  const loading = options.metrics.gauge('ready_check_loading', 'Checks of /readyz that load: 1, all others 0', [
    'check',
  ]);
  const rejected = options.metrics.counter('admin_rejected_total', 'Rejected on the admin port, by what was wrong', [
    'reason',
  ]);
  const known = new Set<string>();
  const readiness = async () => options.readiness();
  const setVerdicts = async (): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<typeof TIMED_OUT>((resolve) => {
      timer = setTimeout(() => resolve(TIMED_OUT), CHECKS_TIMEOUT_MS);
    });
    const state = await Promise.race([readiness().catch(() => TIMED_OUT), timeout]).finally(() => clearTimeout(timer));
    const checks = typeof state === 'string' ? {} : state.checks;
    verdicts.set({ check: 'answered' }, typeof state === 'string' ? 0 : 1);
    for (const check of Object.keys(checks)) known.add(check);
    for (const check of known) {
      if (typeof state === 'string' || check in checks) {
        verdicts.set({ check }, checks[check]?.ok === true ? 1 : 0);
        loading.set({ check }, checks[check]?.ok === false && checks[check].loading === true ? 1 : 0);
      } else {
        // The check has ended, for example when its task moved to another process.
        verdicts.remove({ check });
        loading.remove({ check });
        known.delete(check);
      }
    }
  };
  const onConnectionRejected = () => rejected.inc({ reason: 'connections' });
  const server = createBoundedServer(
    (request, response) => {
      const path = (request.url ?? '/').split('?', 1)[0];
      const send = (status: number, type: string, body: string) => {
        response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' });
        response.end(body);
      };
      const fail = (status: number, error: string) => send(status, 'application/json', JSON.stringify({ error }));
      const onError = (error: unknown) => fail(500, String(error));
      const handlers: Readonly<Record<AdminPath, () => void>> = {
        '/healthz': () => send(200, 'text/plain', 'ok'),
        '/readyz': () => {
          readiness().then(
            (state) => send(state.ready ? 200 : 503, 'application/json', JSON.stringify(state)),
            onError,
          );
        },
        '/metrics': () => {
          setVerdicts()
            .then(() => options.metrics.registry.metrics())
            .then((text) => send(200, options.metrics.registry.contentType, text), onError);
        },
      };
      const headers = browserHeadersOf(request.headers);
      const rejection = hostRejection(headers, options.allowedHosts) ?? crossOriginRejection(headers);
      const known = adminPaths.find((candidate) => candidate === path);
      if (rejection !== undefined) {
        rejected.inc({ reason: 'host_or_origin' });
        fail(403, rejection);
      } else if (known === undefined) fail(404, 'Not found.');
      else if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('allow', 'GET, HEAD');
        fail(405, 'Method not allowed. Use GET or HEAD.');
      } else handlers[known]();
    },
    { ...BOUNDS, onConnectionRejected },
  );
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
