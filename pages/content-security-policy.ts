import { hostnameOf } from '../infra/http/request-guard.js';
import type { PageRequest } from './static-file.js';

/** Public address of the event socket. `url` null: the host of the request that opens the page, at `port`. */
export interface SocketAddress {
  readonly url: string | null;
  readonly port: number;
}

/** Policy of pages without a socket: scripts, styles and requests of this server only. Swagger UI sets inline styles. */
export const basePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/**
 * Source expression of the event socket. For IPv6 addresses it is only the scheme, because browsers ignore sources with an IPv6 address.
 */
const socketSource = ({ url, port }: SocketAddress, request: PageRequest): string => {
  const scheme = url === null ? (request.secure ? 'wss:' : 'ws:') : new URL(url).protocol;
  const name = url === null ? (hostnameOf(request.host ?? '') ?? 'localhost') : new URL(url).hostname;
  if (name.includes(':')) return scheme;
  return url === null ? `${scheme}//${name}:${port}` : new URL(url).origin;
};

/** Policy of /console: this server and the event socket. */
export const consolePolicy = (socket: SocketAddress, request: PageRequest): string =>
  basePolicy.replace("connect-src 'self'", `connect-src 'self' ${socketSource(socket, request)}`);

/** Policy of /app: as /console, without inline styles, with forms to this server only. */
export const appPolicy = (socket: SocketAddress, request: PageRequest): string =>
  consolePolicy(socket, request)
    .replace(" 'unsafe-inline'", '')
    .replace('; base-uri', "; form-action 'self'; base-uri");

/** Policy of /dashboard and /status: scripts, styles and requests of this server only, no inline styles, no forms but those that scripts send. */
export const dashboardPolicy = basePolicy
  .replace(" 'unsafe-inline'", '')
  .replace('; base-uri', "; form-action 'none'; base-uri");

/** Policy of /sql: as /dashboard, and one inline script with this hash, which is the import map of the page. */
export const sqlPolicy = (importMapHash: string): string =>
  dashboardPolicy.replace("script-src 'self'", `script-src 'self' '${importMapHash}'`);
