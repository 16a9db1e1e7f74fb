import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { browserHeadersOf, crossOriginRejection, hostRejection } from '../../infra/http/request-guard.js';
import { ApiError } from '../errors/failure.js';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Rejects requests for a name that is not ours with 403, whatever the path: a page under a rebound name must read nothing. */
export function guardHost(allowedHosts: readonly string[]): RequestHandler {
  return (request: Request, _response: Response, next: NextFunction) => {
    const rejection = hostRejection(browserHeadersOf(request.headers), allowedHosts);
    if (rejection !== undefined) throw new ApiError({ kind: 'forbidden', message: rejection });
    next();
  };
}

/** Rejects with 403 what web pages of other sites send by a method that can change something. `ownOrigin` is the public address. */
export function guardWrites(serverOrigin: string): RequestHandler {
  return (request: Request, _response: Response, next: NextFunction) => {
    if (!SAFE_METHODS.has(request.method)) rejectCrossOrigin(request, serverOrigin);
    next();
  };
}

/**
 * For pages and their assets: other sites may link to them (a navigation of the whole window), but neither load nor read them. The CORS
 * headers of the API do not apply here.
 */
export function guardPage(serverOrigin: string): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    response.removeHeader('access-control-allow-origin');
    response.removeHeader('access-control-expose-headers');
    const { headers } = request;
    const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
    if (!isLink) rejectCrossOrigin(request, serverOrigin);
    next();
  };
}

function rejectCrossOrigin(request: Request, serverOrigin: string): void {
  const rejection = crossOriginRejection(browserHeadersOf(request.headers), [serverOrigin]);
  if (rejection !== undefined) throw new ApiError({ kind: 'forbidden', message: rejection });
}
