import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { randomInt } from './random.js';
import { walletOf } from './world.js';

/** REST clients, analysts and hostile clients of the soak. Argument: JSON of LoadOptions. The message 'counts' requests the counts. */
export interface LoadOptions {
  readonly api: string;
  readonly socket: string;
  readonly clickhouse: string;
  readonly key: string;
  readonly hostile: number;
  readonly analysts: number;
  readonly seed: number;
  readonly wallets: number;
}

/** Responses by client and status; `unreachable`: no response, as while a process restarts. */
export type LoadCounts = Readonly<Record<'rest' | 'analyst' | 'hostile', Readonly<Record<string, number>>>>;

const options = JSON.parse(process.argv[2] ?? '{}') as LoadOptions;
const counts = { rest: {}, analyst: {}, hostile: {} } as Record<keyof LoadCounts, Record<string, number>>;
const count = (client: keyof LoadCounts, outcome: number | string) => {
  counts[client][outcome] = (counts[client][outcome] ?? 0) + 1;
};
const REST_INTERVAL_MS = 250;
const ANALYST_INTERVAL_MS = 1_000;
const HOSTILE_INTERVAL_MS = 500;
/** Hostile clients have an address of their own: what they exceed must not concern the others. */
const HOSTILE_ADDRESS = '127.0.0.2';

let n = 0;
async function rest(): Promise<void> {
  for (;;) {
    n += 1;
    const wallet = walletOf(randomInt(options.wallets, options.seed, n));
    const paths = [
      '/v3/trades?limit=100',
      `/v3/wallets/${wallet}/positions?limit=50`,
      `/v3/wallets/${wallet}/trades?limit=50`,
      '/v3/leaderboard?limit=50',
      '/v1/status',
      '/v2/onchain/positions?tag_slug=soak&limit=50',
      `/v3/wallets/${wallet}/pnl`,
    ];
    await fetch(options.api + paths[n % paths.length], {
      headers: { 'x-api-key': options.key },
      signal: AbortSignal.timeout(20_000),
    })
      .then(async (response) => {
        await response.arrayBuffer();
        count('rest', response.status);
      })
      .catch(() => count('rest', 'unreachable'));
    await sleep(REST_INTERVAL_MS);
  }
}

/** The number of groups of each is bounded, so that what they need does not grow with the history. */
const statements = [
  'SELECT wallet, sum(party_usd) AS usd, count() AS fills FROM trade_parties GROUP BY wallet ORDER BY usd DESC LIMIT 100',
  'SELECT slug, toStartOfMinute(traded_at) AS minute, sum(match_usd), quantile(0.99)(price) FROM trades WHERE traded_at > now() - INTERVAL 10 MINUTE GROUP BY slug, minute ORDER BY minute DESC',
  'SELECT wallet, sum(realized_pnl_usd) AS pnl, uniq(token_id) FROM positions GROUP BY wallet ORDER BY pnl DESC LIMIT 100',
];
async function analyst(index: number): Promise<void> {
  for (;;) {
    await fetch(`${options.clickhouse}/?database=market&default_format=JSONCompact`, {
      method: 'POST',
      body: statements[index % statements.length] as string,
      signal: AbortSignal.timeout(60_000),
    })
      .then(async (response) => {
        await response.arrayBuffer();
        count('analyst', response.status);
      })
      .catch(() => count('analyst', 'unreachable'));
    await sleep(ANALYST_INTERVAL_MS);
  }
}

const { hostname, port } = new URL(options.api);
const http = (method: string, path: string, headers: Record<string, string>, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, method, path, headers, localAddress: HOSTILE_ADDRESS, timeout: 10_000 },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error('timeout')));
    sent.end(body);
  });
const socket = (key: string, messages: readonly (string | Buffer)[]): Promise<string> =>
  new Promise((resolve) => {
    const client = new WebSocket(`${options.socket}?key=${key}`, { localAddress: HOSTILE_ADDRESS });
    const end = setTimeout(() => client.terminate(), 3_000);
    client.on('open', () => {
      for (const message of messages) client.send(message);
    });
    client.on('unexpected-response', (_request, response) => {
      clearTimeout(end);
      response.resume();
      resolve(String(response.statusCode));
    });
    client.on('error', () => undefined);
    client.on('close', (code) => {
      clearTimeout(end);
      resolve(`close ${code}`);
    });
  });
/** A request whose header never ends. */
const unfinished = (): Promise<string> =>
  new Promise((resolve) => {
    const client = connect({ host: hostname, port: Number(port), localAddress: HOSTILE_ADDRESS }, () =>
      client.write('GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: '),
    );
    setTimeout(() => client.destroy(), 5_000);
    client.on('error', () => undefined);
    client.on('close', () => resolve('closed'));
  });
const manyItems = JSON.stringify({
  action: 'subscribe',
  type: 'trades',
  filters: { wallets: Array.from({ length: 120_000 }, (_, wallet) => walletOf(wallet)) },
});
const attacks: readonly (() => Promise<number | string>)[] = [
  () => socket('wrong-key', []),
  () => socket(options.key, ['{"action":', 'null', '[]', '{"action":"subscribe","type":"nothing"}']),
  () => socket(options.key, [Buffer.alloc(200_000, 1)]),
  () => socket(options.key, [manyItems]),
  () =>
    socket(
      options.key,
      Array.from({ length: 300 }, () => '{"action":"ping"}'),
    ),
  () => http('GET', `/v3/trades?limit=${'9'.repeat(6_000)}`, { 'x-api-key': options.key }, ''),
  () =>
    http(
      'POST',
      '/v1/sql',
      { 'x-api-key': options.key, 'content-type': 'application/json' },
      `{"query":"${'('.repeat(50_000)}`,
    ),
  () => http('GET', '/v3/trades', { 'x-api-key': 'wrong' }, ''),
  () => http('GET', '/v3/trades', { host: 'evil.example' }, ''),
  unfinished,
];
async function hostile(index: number): Promise<void> {
  for (let step = 0; ; step += 1) {
    const attack = attacks[randomInt(attacks.length, options.seed, index, step)] as () => Promise<number | string>;
    count('hostile', await attack().catch(() => 'unreachable'));
    await sleep(HOSTILE_INTERVAL_MS);
  }
}

process.on('message', (message) => {
  if (message === 'counts') process.send?.(counts satisfies LoadCounts);
});
process.on('disconnect', () => process.exit(0));
void rest();
for (let index = 0; index < options.analysts; index += 1) void analyst(index);
for (let index = 0; index < options.hostile; index += 1) void hostile(index);
