import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { fileURLToPath } from 'node:url';
import { applyCommand } from '../../processors/accounts/apply-command.js';
import { createAccountsState } from '../../processors/accounts/state.js';
import type { AccountCommand } from '../../schemas/types.gen.js';
import { untilTablesComplete } from '../support/digest.js';
import { eventually, startProduct, untilUp } from '../support/product.js';
import { createKeys } from './create-keys.js';
import { median, quantile } from './measure.js';
import { usageOf } from './process-usage.js';
import { type Figure, PER_THOUSAND_REQUESTS } from './report/figure.js';

const ROUNDS = 5;
/** Requests of a round, one after the other. Requests without a key are limited to 1,200 per minute and address. */
const REQUESTS = 150;
const CLIENTS = 32;
const RATE_MS = 5_000;
/** Many accounts, because the rate limit of one is below the total request rate. */
const ACCOUNTS = 200;
const COMMANDS = 200_000;
/** A cached page that needs no key, and takes one. */
const OPTIONAL_KEY = '/api/datasets/sports-esports/wallets/overlap?tags=crypto,up-or-down&limit=5';
const CACHED = '/v1/crypto/series';

/** Milliseconds of one GET; throws unless it returns 200. */
function timed({ api }: { readonly api: string }, agent: Agent, path: string, key: string | null): Promise<number> {
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    get(`${api}${path}`, { agent, headers: key === null ? {} : { 'x-api-key': key } }, (response) => {
      response.resume();
      response.once('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startMs);
        else reject(new Error(`${path} returned ${response.statusCode}`));
      });
    }).once('error', reject);
  });
}

/** Commands per second of the processor's decisions, without the log: accounts, their keys, changes of plan and repeated commands. */
function decisionsPerSecond(count: number): number {
  const state = createAccountsState();
  const issued_at_ms = Date.UTC(2026, 0, 1);
  const commands = Array.from({ length: count }, (_, n): AccountCommand => {
    const account_id = `a${Math.floor(n / 4)}`;
    const wishes: readonly AccountCommand['command'][] = [
      { 'oddstream.CreateAccount': { account_id, plan: 'growth', label: '' } },
      { 'oddstream.CreateKey': { account_id, key_hash: `k${n}`, key_prefix: 'p', name: 'n' } },
      { 'oddstream.SetPlan': { account_id, plan: 'starter' } },
      { 'oddstream.RevokeKey': { account_id, key_hash: `k${n - 2}` } },
    ];
    const command = wishes[n % 4] as AccountCommand['command'];
    return { id: String(n), issued_at_ms: issued_at_ms + n, command, author: 'system' };
  });
  const startMs = performance.now();
  for (const command of commands) applyCommand(state, command);
  return count / ((performance.now() - startMs) / 1000);
}

/** What a key costs a cached request, requests per second through one api process, and decisions per second. */
export async function run(): Promise<readonly Figure[]> {
  const decisions = (count: number) => Array.from({ length: ROUNDS + 1 }, () => decisionsPerSecond(count)).slice(1);
  const [rates, ratesOfTwice] = [decisions(COMMANDS), decisions(2 * COMMANDS)];
  console.log(`account commands decided per second: ${Math.round(median(rates)).toLocaleString('en')} (goal 100,000)`);

  const product = await startProduct({ env: { RECORDED_HISTORY_ONLY: '1', LOG_LEVEL: 'warn' } });
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  try {
    await untilUp(product);
    await untilTablesComplete(product);
    const keys = await createKeys(product, ACCOUNTS);
    const last = keys.at(-1) ?? '';
    for (const [path, key] of [
      [CACHED, last],
      [OPTIONAL_KEY, null],
    ] as const)
      await eventually(path, async () => (await timed(product, agent, path, key)) > 0);
    const round = async (key: (n: number) => string | null) => {
      const times: number[] = [];
      for (let n = 0; n < REQUESTS; n++) times.push(await timed(product, agent, OPTIONAL_KEY, key(n)));
      return quantile(times, 0.5);
    };
    const keyed = (n: number) => keys[n % keys.length] ?? last;
    await round(keyed);
    const added: number[] = [];
    const without: number[] = [];
    for (let n = 0; n < ROUNDS; n++) {
      const open = await round(() => null);
      added.push((await round(keyed)) - open);
      without.push(open);
    }
    console.log(
      `a cached page: p50 ${median(without).toFixed(2)} ms without a key; authentication, limits and metering add ${median(added).toFixed(2)} ms (goal 0.3)`,
    );

    const bytes = (await (await fetch(product.api + CACHED, { headers: { 'x-api-key': last } })).arrayBuffer())
      .byteLength;
    const { perSecond, cost } = await load(product, CLIENTS, keyed, product.pid('api'));
    const twice = await load(product, 2 * CLIENTS, keyed, product.pid('api'));
    const bare = await loadBareServer(bytes, keyed);
    console.log(
      `GET ${CACHED}, ${CLIENTS} clients, ${ACCOUNTS} accounts: ${Math.round(median(perSecond)).toLocaleString('en')} requests/s through one api process (goal 3,000)`,
    );
    const server = "Node's HTTP server with a constant response";
    return [
      {
        name: 'account commands decided',
        unit: 'commands/s',
        better: 'more',
        values: rates,
        twice: { work: `${(2 * COMMANDS).toLocaleString('en')} commands`, values: ratesOfTwice },
      },
      {
        name: 'p50 of a cached page with a key',
        unit: 'ms',
        better: 'less',
        values: without.map((ms, n) => ms + (added[n] ?? Number.NaN)),
        baseline: { name: 'without a key', values: without },
      },
      {
        name: `GET ${CACHED} with keys, one api process`,
        unit: 'requests/s',
        better: 'more',
        values: perSecond,
        baseline: { name: server, values: bare.perSecond },
        twice: { work: `${2 * CLIENTS} clients`, values: twice.perSecond },
      },
      {
        name: `GET ${CACHED} with keys, api`,
        unit: PER_THOUSAND_REQUESTS,
        better: 'less',
        values: cost,
        baseline: { name: server, values: bare.cost },
        twice: { work: `${2 * CLIENTS} clients`, values: twice.cost },
      },
    ];
  } finally {
    agent.destroy();
    await product.stop();
  }
}

interface Load {
  readonly perSecond: readonly number[];
  /** Processor seconds of the server per thousand requests. */
  readonly cost: readonly number[];
}

/** Rounds of requests for the cached response without pauses. `pid`: the server. */
async function load(
  server: { readonly api: string },
  clients: number,
  key: (n: number) => string,
  pid: number | null | undefined,
): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const cpuS = () => (usageOf(pid ?? -1)?.cpuMs ?? Number.NaN) / 1000;
  const perSecond: number[] = [];
  const cost: number[] = [];
  for (let n = 0; n <= ROUNDS; n++) {
    const untilMs = performance.now() + RATE_MS;
    const before = cpuS();
    let count = 0;
    await Promise.all(
      Array.from({ length: clients }, async (_, client) => {
        for (let i = client; performance.now() < untilMs; i += clients) {
          await timed(server, agent, CACHED, key(i));
          count++;
        }
      }),
    );
    if (n === 0) continue;
    perSecond.push(count / (RATE_MS / 1000));
    cost.push(((cpuS() - before) / count) * 1000);
  }
  agent.destroy();
  return { perSecond, cost };
}

async function loadBareServer(bytes: number, key: (n: number) => string): Promise<Load> {
  const child = fork(fileURLToPath(new URL('./report/http.child.js', import.meta.url)), [String(bytes)]);
  try {
    const [port] = (await once(child, 'message')) as [number];
    return await load({ api: `http://127.0.0.1:${port}` }, CLIENTS, key, child.pid);
  } finally {
    child.kill('SIGKILL');
  }
}
