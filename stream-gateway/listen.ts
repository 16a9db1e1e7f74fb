import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';

/** uSockets' LIBUS_LISTEN_EXCLUSIVE_PORT; without it several processes may listen on one port. */
const EXCLUSIVE_PORT = 1;

/** Listens on a port, which `shared` lets several processes do. The overload with host, port and options is missing in the library's types. */
export function listen(
  app: TemplatedApp,
  host: string,
  port: number,
  shared: boolean,
  done: (listening: us_listen_socket | false) => void,
): void {
  (app.listen as unknown as (host: string, port: number, options: number, done: unknown) => void).call(
    app,
    host,
    port,
    shared ? 0 : EXCLUSIVE_PORT,
    done,
  );
}
