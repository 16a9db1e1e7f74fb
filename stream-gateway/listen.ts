import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import uws from 'uWebSockets.js';

/** uSockets' LIBUS_LISTEN_EXCLUSIVE_PORT; without it several processes may listen on one port. */
const EXCLUSIVE_PORT = 1;

export interface Listener {
  readonly port: number;
  /** Accepts no further connections. May be called repeatedly. */
  close(): void;
}

/** Listens on a port (0: any free one). `shared`: other processes may listen on it, too. Rejects when the port is in use. */
export async function listen(app: TemplatedApp, host: string, port: number, shared = false): Promise<Listener> {
  const token = await new Promise<us_listen_socket>((resolve, reject) => {
    const done = (listening: us_listen_socket | false) => {
      if (listening) resolve(listening);
      else reject(new Error(`Cannot listen on ${host}:${port}; is the port in use?`));
    };
    // The overload with host, port and options is missing in the library's types.
    type ListenWithOptions = (host: string, port: number, options: number, done: unknown) => void;
    (app.listen as unknown as ListenWithOptions).call(app, host, port, shared ? 0 : EXCLUSIVE_PORT, done);
  });
  let isOpen = true;
  return {
    port: uws.us_socket_local_port(token),
    close() {
      // A closed listening socket is freed: closing it again would close whatever has its memory and descriptor by then.
      if (isOpen) uws.us_listen_socket_close(token);
      isOpen = false;
    },
  };
}
