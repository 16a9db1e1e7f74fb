import type { TemplatedApp } from 'uWebSockets.js';
import { requestIdOf } from './upgrade.js';

/**
 * Responds to requests that are not upgrades of a WebSocket at `/ws`: 426 there, 404 elsewhere, and at `/healthz`, if `accepts` is given, 200 while it is
 * true, else 503. `name`: of the socket, for the error text.
 */
export function respondToPlainRequests(app: TemplatedApp, name: string, accepts?: () => boolean): void {
  if (accepts !== undefined)
    app.get('/healthz', (response, request) => {
      const [status, body] = accepts() ? ['200 OK', 'ok'] : ['503 Service Unavailable', 'loading'];
      response
        .writeStatus(status)
        .writeHeader('content-type', 'text/plain')
        .writeHeader('x-request-id', requestIdOf(request))
        .end(body);
    });
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
    response.end(JSON.stringify({ error }));
  });
}
