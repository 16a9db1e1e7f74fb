import type { IncomingHttpHeaders } from 'node:http';

/**
 * The key as sent, from the first location that is present: `x-api-key`, `Authorization: Bearer`, `?key=`. A location that is present
 * but empty or repeated yields '' (malformed) instead of falling through to the next one: a client with a broken header must get an error.
 */
export function apiKeyFromRequest(headers: IncomingHttpHeaders, query: URLSearchParams): string | null {
  const header = headers['x-api-key'];
  if (header !== undefined) return typeof header === 'string' ? header.trim() : '';
  const authorization = headers.authorization;
  if (authorization !== undefined) {
    const match = /^Bearer +(\S+)\s*$/i.exec(authorization);
    if (match?.[1] !== undefined) return match[1];
    // Basic and other schemes are addressed to proxies and ignored here.
    if (/^Bearer\b/i.test(authorization)) return '';
  }
  const values = query.getAll('key');
  if (values.length === 0) return null;
  return values.length === 1 ? (values[0] ?? '') : '';
}
