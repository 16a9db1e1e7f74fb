import type { HttpRequest } from 'uWebSockets.js';

/**
 * The API key of an upgrade request, from the first location that is present: `x-api-key`, `Authorization: Bearer`, `?key=`; '' without one. The rules are
 * those of the REST API: a header that is present but empty or repeated yields '' instead of falling through, because a broken client must get an error.
 * Of a repeated `key` the library returns one.
 */
export function apiKeyOf(request: Pick<HttpRequest, 'forEach' | 'getQuery'>): string {
  let header: string | undefined;
  let authorization: string | undefined;
  // The library's getHeader returns '' for an absent header too.
  request.forEach((name, value) => {
    if (name === 'x-api-key') header = header === undefined ? value.trim() : '';
    else if (name === 'authorization') authorization ??= value;
  });
  if (header !== undefined) return header;
  // Basic and other schemes are addressed to proxies and ignored here.
  if (authorization !== undefined && /^Bearer\b/i.test(authorization))
    return /^Bearer +(\S+)\s*$/i.exec(authorization)?.[1] ?? '';
  return request.getQuery('key') ?? '';
}
