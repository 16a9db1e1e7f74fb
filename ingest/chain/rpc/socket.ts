import WebSocket from 'ws';
import { RpcError } from './rpc-error.js';

/** JSON-RPC with subscriptions over one WebSocket, until it closes. */
export interface RpcSocket {
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /** `onData` receives every notification of the new subscription, including those that arrive together with its confirmation. */
  subscribe(params: readonly unknown[], onData: (result: unknown) => void): Promise<void>;
  /** Resolves with the reason when either side closes the socket. */
  readonly closed: Promise<string>;
  close(reason: string): void;
}

/** Maximum frame size; a head or a log has a few kilobytes. */
const MAX_FRAME_BYTES = 8 * 1024 * 1024;

interface Frame {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };
  readonly method?: unknown;
  readonly params?: { readonly subscription?: unknown; readonly result?: unknown };
}

/** Connects; rejects with RpcError. `onMalformed` is called with frames that are not JSON, or that a listener cannot read. */
export async function openRpcSocket(options: {
  url: string;
  timeoutMs: number;
  onMalformed: (text: string) => void;
}): Promise<RpcSocket> {
  const { timeoutMs } = options;
  const socket = new WebSocket(options.url, {
    handshakeTimeout: timeoutMs,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
  });
  const calls = new Map<number, { onResult: (result: unknown) => void; onError: (error: RpcError) => void }>();
  const listeners = new Map<unknown, (result: unknown) => void>();
  let nextId = 1;
  let reason = '';
  let failure = '';
  socket.on('error', (error) => {
    failure = error.message;
  });
  const closed = new Promise<string>((resolve) => {
    socket.on('close', (code, text) => {
      const why = reason || failure || `closed by the node (${code}${text.length > 0 ? ` ${text.toString()}` : ''})`;
      for (const { onError } of calls.values()) onError(new RpcError(`WebSocket ${why}`));
      calls.clear();
      resolve(why);
    });
  });
  const onFrame = (frame: Frame) => {
    if (frame.method === 'eth_subscription') {
      listeners.get(frame.params?.subscription)?.(frame.params?.result);
      return;
    }
    const call = typeof frame.id === 'number' ? calls.get(frame.id) : undefined;
    if (call === undefined) return;
    calls.delete(frame.id as number);
    if (frame.error === undefined || frame.error === null) {
      call.onResult(frame.result);
      return;
    }
    const { code, message, data } = frame.error;
    const text = typeof message === 'string' ? message : 'The node returned an error without a message';
    call.onError(new RpcError(text, { code: typeof code === 'number' ? code : undefined, data }));
  };
  socket.on('message', (data) => {
    try {
      const frame = JSON.parse(data.toString()) as Frame | Frame[];
      for (const one of Array.isArray(frame) ? frame : [frame])
        if (typeof one === 'object' && one !== null) onFrame(one);
    } catch {
      // An error in this handler would end the process.
      options.onMalformed(data.toString());
    }
  });
  const call = <T>(method: string, params: readonly unknown[], onResult: (result: unknown) => T): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (socket.readyState !== WebSocket.OPEN) {
        reject(new RpcError('WebSocket is not open'));
        return;
      }
      const id = nextId;
      nextId += 1;
      const timer = setTimeout(() => {
        calls.delete(id);
        reject(new RpcError(`No response to ${method} within ${timeoutMs} ms`, { timedOut: true }));
      }, timeoutMs);
      timer.unref();
      calls.set(id, {
        onResult(result) {
          clearTimeout(timer);
          resolve(onResult(result));
        },
        onError(error) {
          clearTimeout(timer);
          reject(error);
        },
      });
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });

  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    void closed.then((why) => reject(new RpcError(`WebSocket: ${why}`)));
  });
  return {
    request: (method, params) => call(method, params, (result) => result),
    subscribe: (params, onData) =>
      call('eth_subscribe', params, (id) => {
        listeners.set(id, onData);
      }),
    closed,
    close(why) {
      reason ||= why;
      socket.terminate();
    },
  };
}
