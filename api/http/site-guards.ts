import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { browserHeadersOf, crossOriginRejection, hostRejection } from '../../infra/http/request-guard.js';
import { ApiError } from '../errors/failure.js';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Rejects requests with an unknown `Host` with 403 on all paths: protects against DNS rebinding. */
export function guardHost(allowedHosts: readonly string[]): RequestHandler {
  return (request: Request, _response: Response, next: NextFunction) => {
    const rejection = hostRejection(browserHeadersOf(request.headers), allowedHosts);
    if (rejection !== undefined) throw new ApiError({ kind: 'forbidden', message: rejection });
    next();
  };
}

/** Rejects requests by pages of other origins with methods that can change state with 403. `serverOrigin`: public origin of this API. */
export function guardWrites(serverOrigin: string): RequestHandler {
  return (request: Request, _response: Response, next: NextFunction) => {
    if (!SAFE_METHODS.has(request.method)) rejectCrossOrigin(request, serverOrigin);
    next();
  };
}

/** Guard for pages and their assets: other sites may link to them (top-level navigation), but neither embed nor read them. Overrides the API's CORS headers. */
export function guardPage(serverOrigin: string): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const { headers } = request;
    const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
    if (isLink) removeCors(response);
    else hideFromOtherOrigins(request, response, serverOrigin);
    next();
  };
}

/** Rejects requests by pages of other origins with 403, reads included. Overrides the API's CORS headers. */
export function hideFromOtherOrigins(request: Request, response: Response, serverOrigin: string): void {
  removeCors(response);
  rejectCrossOrigin(request, serverOrigin);
}

function removeCors(response: Response): void {
  response.removeHeader('access-control-allow-origin');
  response.removeHeader('access-control-expose-headers');
}

function rejectCrossOrigin(request: Request, serverOrigin: string): void {
  const rejection = crossOriginRejection(browserHeadersOf(request.headers), [serverOrigin]);
  if (rejection !== undefined) throw new ApiError({ kind: 'forbidden', message: rejection });
}
