import { once } from 'node:events';
import WebSocket from 'ws';

export type Frame = Record<string, unknown> & { type: string; data?: Record<string, unknown> };

export interface FrameClient {
  readonly socket: WebSocket;
  /** Everything received so far, oldest first. */
  readonly frames: readonly Frame[];
  send(message: object): void;
  /** The first matching frame, already received or later. */
  until(matches: (frame: Frame) => boolean, timeoutMs?: number): Promise<Frame>;
  close(): void;
}

export async function connectFrames(url: string): Promise<FrameClient> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const frames: Frame[] = [];
  const watchers = new Set<() => void>();
  socket.on('message', (data) => {
    frames.push(JSON.parse(data.toString()) as Frame);
    for (const watcher of watchers) watcher();
  });
  await once(socket, 'open');
  return {
    socket,
    frames,
    send: (message) => socket.send(JSON.stringify(message)),
    until(fits, timeoutMs = 30_000) {
      return new Promise((resolve, reject) => {
        const check = () => {
          const found = frames.find(fits);
          if (found === undefined) return;
          clearTimeout(timer);
          watchers.delete(check);
          resolve(found);
        };
        const timer = setTimeout(() => {
          watchers.delete(check);
          const seen = [...new Set(frames.map((frame) => frame.type))].join(', ');
          reject(new Error(`no such frame within ${timeoutMs} ms; seen ${frames.length} frames: ${seen}`));
        }, timeoutMs);
        watchers.add(check);
        check();
      });
    },
    close: () => socket.terminate(),
  };
}
