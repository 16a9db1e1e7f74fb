import type { TemplatedApp } from 'uWebSockets.js';
import { requestIdOf } from './upgrade.js';

/** Responds to requests that are not upgrades of a WebSocket at `/ws`: 426 there, 404 elsewhere. `name`: of the socket, for the error text. */
export function respondToPlainRequests(app: TemplatedApp, name: string): void {
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
