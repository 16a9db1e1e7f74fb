import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { requestIdFrom, secureHeaderValues } from '../../infra/http/response-headers.js';

const EXPOSED =
  'x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, x-quota-used, x-quota-limit, retry-after, x-request-id, age, x-loading, x-lagging, x-complete-through, x-complete-through-block';

/** Sets `x-request-id` on every response: the caller's id if it is well-formed, else a new one. `requestIdOf` reads it. */
export function requestIds(): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    response.setHeader('x-request-id', requestIdFrom(request.headers['x-request-id']));
    next();
  };
}

export function requestIdOf(response: Response): string {
  return String(response.getHeader('x-request-id'));
}

/** Sets `secureHeaderValues` on every response. With https browsers use https for this host for a year. */
export function secureHeaders(serverOrigin: string): RequestHandler {
  const isHttps = serverOrigin.startsWith('https:');
  return (_request: Request, response: Response, next: NextFunction) => {
    for (const [name, value] of Object.entries(secureHeaderValues)) response.setHeader(name, value);
    if (isHttps) response.setHeader('strict-transport-security', 'max-age=31536000');
    next();
  };
}

/** Pages of any origin may read; only same-origin pages may write, so that no other page can create a key for its visitor and read it. */
export function cors(): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const reading = request.method === 'GET' || request.method === 'HEAD';
    if (reading || request.method === 'OPTIONS') {
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('access-control-expose-headers', EXPOSED);
    }
    if (request.method !== 'OPTIONS') {
      next();
      return;
    }
    response.setHeader('access-control-allow-methods', 'GET, HEAD');
    response.setHeader('access-control-allow-headers', 'x-api-key, authorization, content-type, x-request-id');
    response.setHeader('access-control-max-age', '86400');
    response.status(204).end();
  };
}
