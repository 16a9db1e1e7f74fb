import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Below the range from which Linux takes the ports of outgoing connections: any connection could take a port of that range before
 * its process listens.
 */
const FIRST = 10_240;
const LAST = 32_767;
/**
 * Every vitest worker uses a separate range of ports: between the release of a port here and the start of the process that listens on it,
 * another worker could otherwise choose the same one.
 */
const SLICES = 16;
const SLICE_PORTS = Math.floor((LAST - FIRST + 1) / SLICES);
const sliceStart = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % SLICES) * SLICE_PORTS;

async function listenOn(port: number): Promise<Server | null> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  } catch {
    return null;
  }
}

/** Ports that this worker has given out or found in use: their processes may not listen yet, or may be started again on the same port. */
const given = new Set<number>();

/** Distinct free ports that no earlier call returned; all are opened and closed again together. */
export async function freePorts(count: number): Promise<number[]> {
  const taken = new Map<number, Server>();
  while (taken.size < count) {
    const port = randomInt(sliceStart, sliceStart + SLICE_PORTS);
    if (given.has(port)) continue;
    // Before it is opened: a call at the same time would open it as soon as this one has closed it.
    given.add(port);
    const server = await listenOn(port);
    if (server !== null) taken.set(port, server);
  }
  await Promise.all([...taken.values()].map((server) => new Promise((resolve) => server.close(resolve))));
  return [...taken.keys()];
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port as number;
}
