import { inflateRawSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Product, startProduct, untilUp } from '../support/product.js';
import { adminOf, type ProductUser, signInAtProduct } from '../support/product-user.js';
import { shortHistory } from '../support/short-recording.js';
import { type ByteCounter, countBytes, type Received, sumOf } from '../support/usage-client.js';

/** One product for all tests; each test counts the usage from its own start. */
let product: Product;
let user: ProductUser;
let accountId: string;
let key: string;
beforeAll(async () => {
  // A short history, then the live day.
  product = await startProduct({ env: { LOG_LEVEL: 'info', RECORDED_DIR: shortHistory().RECORDED_DIR } });
  await untilUp(product);
  const admin = adminOf(product);
  user = await signInAtProduct(product, admin, 'desk@fund.example');
  await admin('set-plan', 'desk@fund.example', 'enterprise');
  ({ account_id: accountId } = await user.get<{ account_id: string }>('/v1/account'));
  ({ api_key: key } = await user.post<{ api_key: string }>('/v1/account/keys', { name: 'desk' }));
});
afterAll(() => product?.dispose());

const sockets: ByteCounter[] = [];
afterEach(() => {
  for (const { socket } of sockets.splice(0)) socket.terminate();
});

const everything = [
  { type: 'global', filters: { snapshot_count: 50 } },
  { type: 'chainlink', filters: {} },
  { type: 'trades', filters: { side: 'BUY', snapshot_count: 7 } },
];
const meters = ['onchain_event_bytes', 'orderbook_chainlink_bytes'] as const;
type Sums = Record<Received['meter'], number>;

async function recorded(): Promise<Sums> {
  const rows = await product.sql<{ meter: Received['meter']; used: string }>(
    `SELECT meter, toString(sum(used)) AS used FROM usage_monthly WHERE account_id = '${accountId}' GROUP BY meter`,
  );
  const sums = { onchain_event_bytes: 0, orderbook_chainlink_bytes: 0 };
  for (const { meter, used } of rows) if (meter in sums) sums[meter] = Number(used);
  return sums;
}

async function connect(query = ''): Promise<ByteCounter> {
  return eventually('a connection', async () => {
    const counter = await countBytes(`${product.socket}?key=${key}${query}`, everything, (message) =>
      inflateRawSync(message),
    );
    sockets.push(counter);
    return counter;
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Ticks of the recorded day are up to 387 s apart (after 10:59:58 UTC), on-chain events up to 136 s; in quiet minutes little but a tick a second comes. */
const LONGEST_GAP_MS = 387_000;
const FRAMES_TIMEOUT_MS = LONGEST_GAP_MS + 60_000;
const TEST_TIMEOUT_MS = 2 * FRAMES_TIMEOUT_MS;
const frames = (counter: ByteCounter, count: number) =>
  eventually(`${count} frames`, async () => counter.received.length >= count, FRAMES_TIMEOUT_MS);
const framesOfBothMeters = ({ received }: ByteCounter) =>
  eventually(
    'frames of both meters',
    async () => meters.every((meter) => sumOf(received)[meter] > 0),
    FRAMES_TIMEOUT_MS,
  );

describe('usage of the event socket', () => {
  it(
    'equals the bytes that clients received, text and compressed, without faults',
    async () => {
      const text = await connect();
      const zipped = await connect('&compress=zlib');
      await Promise.all([frames(text, 40), frames(zipped, 40)]);
      // While the history loads, ticks or trades may come first.
      await framesOfBothMeters(text);
      for (const counter of [text, zipped]) {
        counter.socket.send(JSON.stringify({ action: 'unsubscribe' }));
        counter.socket.send(JSON.stringify({ action: 'ping' }));
      }
      await pause(1_000);
      for (const { socket, closed } of [text, zipped]) {
        socket.close();
        await closed;
      }
      const sums = [text, zipped].map(({ received }) => sumOf(received));
      const expected = {
        onchain_event_bytes: (sums[0]?.onchain_event_bytes ?? 0) + (sums[1]?.onchain_event_bytes ?? 0),
        orderbook_chainlink_bytes:
          (sums[0]?.orderbook_chainlink_bytes ?? 0) + (sums[1]?.orderbook_chainlink_bytes ?? 0),
      };
      for (const meter of meters) expect(expected[meter]).toBeGreaterThan(0);
      await expect.poll(recorded).toEqual(expected);
      const usage = () => user.get<{ plan: string; meters: { used: number }[] }>('/v1/account/usage');
      expect(await usage()).toMatchObject({
        plan: 'enterprise',
        meters: [
          { meter: 'api_requests', used: 0 },
          { used: expected.orderbook_chainlink_bytes },
          { used: expected.onchain_event_bytes },
        ],
      });
      await fetch(`${product.api}/v1/event/nothing`, { headers: { 'x-api-key': key } });
      await eventually('the first request in the table', async () => (await usage()).meters[0]?.used === 1);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'loses at most the last second before each kill -9 and counts nothing twice',
    async () => {
      const before = await recorded();
      const lives: { counter: ByteCounter; killedMs: number }[] = [];
      for (let life = 0; life < 4; life++) {
        const counter = await connect();
        await frames(counter, 12 + 6 * (life % 3));
        if (life === 0) await framesOfBothMeters(counter);
        await pause(1_500 + ((life * 379) % 900));
        const pid = product.pid('stream-gateway');
        if (pid === null) throw new Error('no gateway');
        const killedMs = Date.now();
        process.kill(pid, 'SIGKILL');
        await counter.closed;
        lives.push({ counter, killedMs });
      }
      const last = await connect();
      await frames(last, 12);
      last.socket.close();
      await last.closed;
      lives.push({ counter: last, killedMs: Number.POSITIVE_INFINITY });

      const most = { ...before };
      const least = { ...before };
      for (const { counter, killedMs } of lives)
        for (const meter of meters) {
          most[meter] += sumOf(counter.received)[meter];
          least[meter] += sumOf(counter.received, killedMs - 1_000)[meter];
        }
      await eventually('the last life in the table', async () => {
        const now = await recorded();
        return meters.every((meter) => now[meter] >= least[meter]);
      });
      // The totals are final: the last process has ended, and its usage is in the log within a second.
      await pause(3_000);
      const used = await recorded();
      for (const meter of meters) {
        expect(least[meter]).toBeGreaterThan(before[meter]);
        expect(used[meter]).toBeGreaterThanOrEqual(least[meter]);
        expect(used[meter]).toBeLessThanOrEqual(most[meter]);
      }
    },
    TEST_TIMEOUT_MS,
  );
});
