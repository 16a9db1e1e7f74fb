import WebSocket from 'ws';

/** Subscribers of the order-book benchmark. */
export interface BookClientsCommand {
  readonly do: 'subscribe' | 'report';
  readonly port?: number;
  readonly connections?: number;
  readonly tokensEach?: number;
  readonly tokens?: readonly string[];
}
export interface BookClientsResult {
  readonly frames: number;
  readonly rows: number;
  readonly bytes: number;
  /** Age of each row's change at its arrival, ms. */
  readonly ages: readonly number[];
}

let result = { frames: 0, rows: 0, bytes: 0, ages: [] as number[] };

const receive = (data: Buffer) => {
  const nowMs = Date.now();
  const frame = JSON.parse(data.toString()) as { type: string; updates?: { assets?: { size: string }[] }[] };
  if (frame.type !== 'batch') return;
  result.frames++;
  result.bytes += data.length;
  for (const { assets } of frame.updates ?? [])
    for (const { size } of assets ?? []) {
      result.rows++;
      result.ages.push(nowMs - Number(size));
    }
};

async function subscribe({
  port = 0,
  connections = 0,
  tokensEach = 0,
  tokens = [],
}: BookClientsCommand): Promise<void> {
  const opening = Array.from({ length: connections }, async (_, n) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws?key=bench`, { perMessageDeflate: false });
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('open', () => {
        // Every token has the same number of subscribers.
        const markets = Array.from({ length: tokensEach }, (_, i) => tokens[(n * tokensEach + i * 7) % tokens.length]);
        socket.send(JSON.stringify({ action: 'subscribe', markets: [...new Set(markets)] }));
      });
      socket.on('message', (data: Buffer) => {
        if (data.includes('snapshots_done')) resolve();
        receive(data);
      });
    });
  });
  await Promise.all(opening);
}

process.on('message', async (command: BookClientsCommand) => {
  if (command.do === 'subscribe') await subscribe(command);
  process.send?.(result);
  result = { frames: 0, rows: 0, bytes: 0, ages: [] };
});
process.send?.({ ready: true });
