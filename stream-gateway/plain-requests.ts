import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { requestIdOf } from './upgrade.js';

/** A HEAD request has the headers of GET; a body would be read as the start of the next response. */
function end(response: HttpResponse, request: HttpRequest, body: string): void {
  if (request.getMethod() === 'head')
    response.writeHeader('content-length', String(Buffer.byteLength(body))).endWithoutBody();
  else response.end(body);
}

/**
 * Responds to requests that are not upgrades of a WebSocket at `/ws`: 426 there, 404 elsewhere, and at `/healthz`, if `accepts` is given, 200 while it is
 * true, else 503. `name`: of the socket, for the error text.
 */
export function respondToPlainRequests(app: TemplatedApp, name: string, accepts?: () => boolean): void {
  if (accepts !== undefined) {
    const health = (response: HttpResponse, request: HttpRequest) => {
      const [status, body] = accepts()
        ? (['200 OK', 'ok'] as const)
        : (['503 Service Unavailable', 'loading'] as const);
      response
        .writeStatus(status)
        .writeHeader('content-type', 'text/plain')
        .writeHeader('x-request-id', requestIdOf(request));
      end(response, request, body);
    };
    app.get('/healthz', health).head('/healthz', health);
  }
  app.any('/*', (response, request) => {
    const isSocket = request.getUrl() === '/ws';
    response
      .writeStatus(isSocket ? '426 Upgrade Required' : '404 Not Found')
      .writeHeader('content-type', 'application/json')
      .writeHeader('x-request-id', requestIdOf(request));
    if (isSocket) response.writeHeader('upgrade', 'websocket');
    const error = isSocket
      ? 'This is a WebSocket: connect to /ws?key=<API_KEY> with a WebSocket client.'
      : `Not found. The ${name} socket is at /ws?key=<API_KEY>.`;
    end(response, request, JSON.stringify({ error }));
  });
}
