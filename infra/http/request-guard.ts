import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

/** The headers of a request that identify the site it comes from. Missing ones are undefined. */
export interface BrowserHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`: sent by browsers only. */
  readonly secFetchSite: string | undefined;
}

/** Extracts these headers from a request parsed by Node. */
export const browserHeadersOf = (headers: IncomingHttpHeaders): BrowserHeaders => ({
  host: headers.host,
  origin: headers.origin,
  secFetchSite: headers['sec-fetch-site'],
});

/** Host name of a `Host` header or of an origin's host, lowercase, without port and brackets. undefined when it is malformed. */
export function hostnameOf(host: string): string | undefined {
  const url = `http://${host}`;
  if (!/^[^\s/?#@\\]+$/.test(host) || !URL.canParse(url)) return undefined;
  return new URL(url).hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

/**
 * Why a request must be rejected for its `Host`, or undefined. A page whose name an attacker resolves to this server's address (DNS rebinding) sends
 * that name, so names must be known: loopback names and `allowed`. IP addresses cannot be rebound and pass.
 */
export function hostRejection(headers: BrowserHeaders, allowed: readonly string[]): string | undefined {
  const { host } = headers;
  if (host === undefined || host === '') return 'The Host header is missing.';
  const name = hostnameOf(host);
  if (name === undefined) return 'The Host header is malformed.';
  if (isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || allowed.includes(name))
    return undefined;
  return `Host '${name}' is not served here. Add it to ALLOWED_HOSTS if it is a name of this server.`;
}

/**
 * Why a request must be rejected because a web page of another origin sent it, or undefined. `allowedOrigins` (scheme://host[:port]) pass like
 * the server's origin. Requests without browser headers pass: programs do not send them.
 */
export function crossOriginRejection(
  headers: BrowserHeaders,
  allowedOrigins: readonly string[] = [],
): string | undefined {
  const { host, origin, secFetchSite } = headers;
  if (origin !== undefined) {
    if (allowedOrigins.includes(origin)) return undefined;
    const isSameOrigin = URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
    if (!isSameOrigin) return 'Requests of web pages from another origin are not allowed here.';
  }
  if (secFetchSite === undefined || secFetchSite === 'same-origin' || secFetchSite === 'none') return undefined;
  return 'Requests of web pages from another site are not allowed here.';
}
