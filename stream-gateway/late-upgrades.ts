import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { listen } from './listen.js';

const RECONNECT_MS = 100;

/** Upgrades that run after the request's callback has returned, because admission is asynchronous. */
export interface LateUpgrades {
  /** Runs `upgrade`, which calls `response.upgrade` once. */
  run(response: HttpResponse, upgrade: () => void): void;
  close(): void;
}

/**
 * Works around a bug of the library (up to the version in use): `response.cork(() => response.upgrade(...))` outside of the request's callback may
 * close the new socket at once, because cork reads the flags of the response from memory that belongs to the socket by then. An uncorked
 * upgrade works, but the library warns about it on stderr. This module therefore corks another response, which is never finished: that of a
 * request which the process sends to itself on a private loopback port. While no such response is pending, the request's own response is corked.
 */
export async function createLateUpgrades(app: TemplatedApp): Promise<LateUpgrades> {
  const path = `/${randomUUID()}`;
  let pending: HttpResponse | null = null;
  let socket: Socket | null = null;
  let closed = false;
  let resolveFirstRequest: () => void = () => undefined;

  app.get(path, (response) => {
    response.onAborted(() => {
      pending = null;
    });
    pending = response;
    resolveFirstRequest();
  });
  const listener = await listen(app, '127.0.0.1', 0);
  const request = () => {
    socket = connect(listener.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (!closed) setTimeout(request, RECONNECT_MS).unref();
    });
    socket.unref();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  };
  const firstRequest = new Promise<void>((resolve) => {
    resolveFirstRequest = resolve;
  });
  request();
  await firstRequest;

  return {
    run(response, upgrade) {
      (pending ?? response).cork(upgrade);
    },
    close() {
      closed = true;
      socket?.destroy();
      listener.close();
    },
  };
}
