import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Hex } from '../../ingest/chain/source.js';

const require = createRequire(import.meta.url);
const here = dirname(fileURLToPath(import.meta.url));

const listening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** A real EVM node that mines only on request; its finalized block is 2 x `slots` behind the head. `stop` saves the state to `stateFile`. */
export async function startAnvil(options: { port: number; slots: number; stateFile: string }) {
  const bin = join(dirname(require.resolve('@foundry-rs/anvil/package.json')), 'bin.mjs');
  const args = ['--port', String(options.port), '--chain-id', '137', '--no-mining', '--silent'];
  args.push('--slots-in-an-epoch', String(options.slots), '--state', options.stateFile, '--preserve-historical-states');
  // A separate process group, so that a signal reaches the node that the launcher starts.
  const child: ChildProcess = spawn(process.execPath, [bin, ...args], { stdio: 'ignore', detached: true });
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${options.port}`;
  const rpc = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const reply = (await response.json()) as { result?: T; error?: { message: string } };
    if (reply.error !== undefined) throw new Error(`${method}: ${reply.error.message}`);
    return reply.result as T;
  };
  for (let alive = false; !alive; ) {
    if (child.exitCode !== null) throw new Error(`anvil ended with ${child.exitCode}`);
    alive = await rpc('eth_chainId').then(
      () => true,
      () => new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 50)),
    );
  }
  return {
    rpc,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        process.kill(-child.pid!, 'SIGINT');
        await exited;
        // The launcher may end before the node has written its state and closed its port.
        while (await listening(options.port)) await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}
export type Anvil = Awaited<ReturnType<typeof startAnvil>>;

/** A TCP proxy to a port. While it is interrupted it closes open connections and rejects new ones. */
export async function startTcpProxy(targetPort: number) {
  const sockets = new Set<Socket>();
  let open = true;
  const server = createServer((socket) => {
    if (!open) {
      socket.destroy();
      return;
    }
    const target = connect(targetPort, '127.0.0.1');
    for (const end of [socket, target]) {
      sockets.add(end);
      end.on('close', () => {
        sockets.delete(end);
        socket.destroy();
        target.destroy();
      });
      // An error of one side closes both; the error itself is not needed.
      end.on('error', () => undefined);
    }
    socket.pipe(target).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const interrupt = () => {
    open = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    interrupt,
    resume() {
      open = true;
    },
    async close() {
      interrupt();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Compiles a contract of tests/e2e/contracts and returns its runtime code. */
export function compileContract(file: string, name: string): Hex {
  const solc = require('solc') as { compile(input: string): string };
  const content = readFileSync(join(here, '..', 'e2e', 'contracts', file), 'utf8');
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { [file]: { content } },
        settings: {
          viaIR: true,
          optimizer: { enabled: true, runs: 1 },
          outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
        },
      }),
    ),
  ) as {
    errors?: { severity: string; formattedMessage: string }[];
    contracts?: Record<string, Record<string, { evm: { deployedBytecode: { object: string } } }>>;
  };
  const failure = output.errors?.find(({ severity }) => severity === 'error');
  if (failure !== undefined) throw new Error(failure.formattedMessage);
  return `0x${output.contracts![file]![name]!.evm.deployedBytecode.object}`;
}
