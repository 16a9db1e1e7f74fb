import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLog } from '../../infra/log/open-log.js';
import type { Log } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { runOrderBook } from '../../ingest/orderbook/run-orderbook.js';
import { type FakeVenue, startFakeVenue } from '../../ingest/orderbook/testing/fake-venue.js';
import { createVenueFeed } from '../../ingest/orderbook/venue-feed.js';
import { createSourceStatus } from '../../ingest/shared/source-status.js';
import { displayedKeyPrefix, hashKey, newRawKey } from '../../schemas/api-keys.js';
import { createCodec } from '../../schemas/codec.js';
import { topics, topicsOnOneMachine } from '../../schemas/topics.js';
import type { AccountState } from '../../schemas/types.gen.js';
import { type ClientBook, connectBookClient } from '../../stream-gateway/order-book/testing.js';
import { catalogMarket, condition } from '../support/catalog-market.js';
import { freePorts } from '../support/ports.js';
import { eventually } from '../support/product.js';

const script = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist', 'stream-gateway', 'main.js');
const codec = createCodec();
const key = newRawKey();
const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-books-'));
const token = (n: number) => `9000000000${n}`;
let venue: FakeVenue;
let log: Log;
let gateway: ChildProcess;
let output = '';
let port = 0;
let admin = 0;
let stop = new AbortController();
let ingest: Promise<unknown>;

async function accountState(entity: string, state: AccountState['state']): Promise<void> {
  const value = codec.encode('account_state', { entity, updated_at_ms: 1, command_id: 'c', state });
  await log.append(topics.accountsState.name, [{ key: entity, value, timestampMs: 1 }]);
}
async function createAccount(): Promise<void> {
  const at = { created_at_ms: 1 };
  const account = { account_id: 'a', plan: 'enterprise', label: 'a', active_keys: 1, custom_limits: null } as const;
  await accountState('account:a', {
    'oddstream.Account': { ...account, ledger_entries: 0, deleted_at_ms: null, terms_since_ms: 0, ...at },
  });
  const key_hash = hashKey(key);
  const own = { key_hash, key_prefix: displayedKeyPrefix(key), account_id: 'a', name: 'k', active: true } as const;
  await accountState(`key:${key_hash}`, {
    'oddstream.Key': { ...own, expires_at_ms: null, replaced_by: null, first_key_hash: null, ...at },
  });
}

/** Order-book ingest on the log; `stopIngest` ends it as a failure does, without a word. */
function startIngest(): void {
  stop = new AbortController();
  const metrics = createMetrics({ process: 'test', defaults: false });
  const status = createSourceStatus({ log, codec, logger: silentLogger(), source: 'orderbook', mode: 'live' });
  const { signal } = stop;
  signal.addEventListener('abort', () => status.close().catch(() => undefined));
  ingest = runOrderBook({
    openFeed: (events, ends) =>
      createVenueFeed({
        url: venue.wsUrl,
        restUrl: venue.restUrl,
        events,
        logger: silentLogger(),
        metrics,
        signal: ends,
        tokensPerConnection: 2,
        times: { openMs: 5_000, pingMs: 200, deadMs: 2_000 },
      }),
    log,
    codec,
    status,
    metrics,
    logger: silentLogger(),
    signal,
    maxTokens: 100,
    onRejected: () => undefined,
    times: { refreshMs: 100, firstRepairDelayMs: 20 },
  }).catch(() => undefined);
}
async function stopIngest(): Promise<void> {
  stop.abort();
  await ingest;
}

async function startGateway(): Promise<void> {
  const [events = 0] = await freePorts(1);
  gateway = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    env: {
      ...process.env,
      ODDSTREAM_DATA: dataDir,
      GATEWAY_PORT: String(events),
      ORDERBOOK_PORT: String(port),
      ADMIN_PORT_GATEWAY: String(admin),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [gateway.stdout, gateway.stderr]) stream?.on('data', (chunk) => (output += chunk));
  await eventually(
    'readiness of the gateway',
    async () => {
      if (gateway.exitCode !== null) throw new Error(output);
      return (await fetch(`http://127.0.0.1:${admin}/readyz`)).status === 200;
    },
    60_000,
  );
}
async function stopGateway(signal: NodeJS.Signals): Promise<void> {
  gateway.kill(signal);
  if (gateway.exitCode === null && gateway.signalCode === null) await once(gateway, 'exit');
}

beforeAll(async () => {
  venue = await startFakeVenue();
  log = await openLog(`lmdb:${join(dataDir, 'log')}`, { logger: silentLogger() });
  await log.ensureTopics(topicsOnOneMachine);
  await createAccount();
  for (const n of [1, 2]) venue.add(condition(1), token(n));
  venue.order(token(1), 'BUY', 300, '10');
  const market = catalogMarket(1, { token_ids: [token(1), token(2)] });
  await log.append(topics.catalog.name, [
    { key: `market:${market.id}`, timestampMs: Date.now(), value: codec.encode('catalog_market', market) },
  ]);
  [port = 0, admin = 0] = await freePorts(2);
  startIngest();
  await startGateway();
});
afterAll(async () => {
  await stopIngest();
  await stopGateway('SIGTERM');
  await log.close();
  await venue.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Books of the venue at every state it had, to tell a wrong book from an old one. */
const states = new Map<string, Set<string>>();
const venueText = (tokenId: string): string => JSON.stringify(venue.book(tokenId).bestFirst());
const clientText = ({ BUY, SELL }: ClientBook): string => {
  const list = (side: Map<string, string>, sign: number) =>
    [...side].sort(([a], [b]) => sign * (Number(a) - Number(b))).map(([price, size]) => ({ price, size }));
  return JSON.stringify({ bids: list(BUY, -1), asks: list(SELL, 1) });
};
function remember(): void {
  for (const n of [1, 2]) {
    const seen = states.get(token(n)) ?? new Set();
    states.set(token(n), seen.add(venueText(token(n))));
  }
}
const order = (...args: Parameters<FakeVenue['order']>) => {
  venue.order(...args);
  remember();
};

async function subscriber(integrity: boolean) {
  const client = await connectBookClient(
    { port },
    {
      key,
      ...(integrity ? { integrity: '1' } : {}),
      onFrame(books) {
        for (const [tokenId, book] of books)
          if (book.verified && !states.get(tokenId)?.has(clientText(book)))
            throw new Error(`a book that the venue never had: ${clientText(book)}`);
      },
    },
  );
  client.send({ action: 'subscribe', markets: [condition(1), token(1)] });
  expect(await client.nextOf('subscribed')).toMatchObject({ markets: 2 });
  return client;
}
const current = (client: Awaited<ReturnType<typeof subscriber>>, n = 1) =>
  eventually(
    `the verified book of token ${n}`,
    async () => {
      client.verify();
      const book = client.books.get(token(n));
      return book?.verified === true && clientText(book) === venueText(token(n));
    },
    30_000,
  );
/** A `book_status`, or a book sent again within the same batch, that names the reason. */
const sawReason = (client: Awaited<ReturnType<typeof subscriber>>, reason: string) =>
  client.frames.some(({ updates }) =>
    ((updates ?? []) as { type: string; reason?: string }[]).some((one) => one.reason === reason),
  );

describe('order-book socket of a gateway process', () => {
  it('serves the books of ingest: snapshots, changes, lost and falsified messages, never a wrong one', async () => {
    remember();
    const clients = [await subscriber(false), await subscriber(true)];
    for (const client of clients) await current(client);
    order(token(1), 'SELL', 400, '20');
    order(token(2), 'BUY', 600, '20');
    for (const client of clients) for (const n of [1, 2]) await current(client, n);
    order(token(1), 'BUY', 310, '5', 'lost');
    order(token(1), 'BUY', 290, '5');
    for (const client of clients) await current(client);
    venue.failRest(500);
    order(token(1), 'BUY', 280, '5', 'wrongHash');
    await eventually('the notice', async () => clients.every((client) => sawReason(client, 'hash_mismatch')), 20_000);
    venue.failRest(null);
    for (const client of clients) await current(client);
    venue.match(token(1), 'BUY', 80);
    remember();
    for (const client of clients) await current(client);
    expect(clients[0]?.frames.some(({ updates }) => JSON.stringify(updates ?? '').includes('last_trade_price'))).toBe(
      true,
    );
    for (const client of clients) client.socket.terminate();
  });

  it('tells of a lost connection to the venue and of a stopped source, and sends fresh books after', async () => {
    const client = await subscriber(false);
    await current(client);
    venue.cut();
    order(token(1), 'BUY', 250, '1');
    await eventually('the notice', async () => sawReason(client, 'silent'), 20_000);
    await current(client);
    await stopIngest();
    await eventually('the notice', async () => sawReason(client, 'source_unreachable'), 20_000);
    order(token(1), 'BUY', 240, '1');
    startIngest();
    await current(client);
    client.socket.terminate();
  });

  it('has the books again after it was killed', async () => {
    const client = await subscriber(true);
    await current(client);
    await stopGateway('SIGKILL');
    expect((await client.closed).code).toBe(1006);
    order(token(1), 'SELL', 500, '3');
    await startGateway();
    const again = await subscriber(true);
    await current(again);
    expect(await again.nextOf('snapshots_done')).toMatchObject({ total: 2 });
    again.socket.terminate();
  });
});
