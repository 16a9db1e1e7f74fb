import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';

/** GETs a local URL; null when there is no response within `timeoutMs`. */
export async function probe(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  timeoutMs = 2000,
): Promise<{ readonly status: number; readonly body: string } | null> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
    return { status: response.status, body: await response.text() };
  } catch {
    return null;
  }
}

/** Repeats `check` every `everyMs` until it is true, the time is over (false) or the signal aborts (false). */
export async function waitFor(
  check: () => Promise<boolean>,
  options: { timeoutMs: number; everyMs?: number; signal: AbortSignal },
): Promise<boolean> {
  const deadlineMs = Date.now() + options.timeoutMs;
  while (!options.signal.aborted && Date.now() < deadlineMs) {
    if (await check()) return true;
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 150));
  }
  return false;
}

/** True when something already listens there. */
export function portInUse(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.setTimeout(1000);
    const end = (used: boolean) => {
      socket.destroy();
      resolve(used);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}

/** Why no port of `host` can be bound on this machine, with the addresses that can; null if one can. */
export function whyNotBindable(host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const own = Object.values(networkInterfaces()).flatMap((entries) =>
        (entries ?? []).map(({ address }) => address),
      );
      const reason =
        error.code === 'EADDRNOTAVAIL' ? 'is not an address of this machine' : `cannot be used: ${error.message}`;
      resolve(`${host} ${reason}; use 0.0.0.0, :: or one of ${own.join(', ')}`);
    });
    server.listen({ host, port: 0 }, () => server.close(() => resolve(null)));
  });
}
