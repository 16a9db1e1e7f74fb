import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median, quantile } from './measure.js';
import type { BookClientsCommand, BookClientsResult } from './order-book-clients.child.js';
import type { BookServerCommand, BookServerResult } from './order-book-server.child.js';
import { type Figure, PER_MILLION } from './report/figure.js';

const BOOKS = 2_000;
const CONNECTIONS = 100;
const TOKENS_EACH = 200;
const CHANGES_PER_S = 5_000;
const ROUNDS = 5;
const ROUND_MS = 8_000;
const folder = dirname(fileURLToPath(import.meta.url));

interface Round {
  /** CPU of the server, ms per second. */
  readonly cpuMsPerS: number;
  readonly changesPerRow: number;
  readonly rowsPerFrame: number;
  readonly mbPerS: number;
  readonly ageP50: number;
  readonly ageP99: number;
}

/** 2,000 books with 5,000 changes per second and 100 subscribers of 200 tokens each: CPU of the server, coalescing, and ages of updates at the subscriber. */
export async function run(): Promise<readonly Figure[]> {
  const [socket, loop, twice]: [Round[], Round[], Round[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    loop.push(await measure('loop'));
    socket.push(await measure('socket'));
    twice.push(await measure('socket', 2 * CHANGES_PER_S));
  }
  const of = (rounds: readonly Round[], field: keyof Round) => median(rounds.map((one) => one[field]));
  console.log(
    `${BOOKS} books, ${CHANGES_PER_S} changes/s, ${CONNECTIONS} subscribers of ${TOKENS_EACH} tokens; medians of ${ROUNDS} rounds\n`,
  );
  console.log('| | CPU, % of a core | ratio | changes per row | rows per frame | MB/s | p50 age ms | p99 age ms |');
  console.log('|---|---|---|---|---|---|---|---|');
  const baseline = of(loop, 'cpuMsPerS');
  for (const [name, rounds] of [
    ['JSON per change and receiver (`ws`)', loop],
    ['order-book socket', socket],
  ] as const) {
    const cpu = of(rounds, 'cpuMsPerS');
    const cells = [
      (cpu / 10).toFixed(0),
      (cpu / baseline).toFixed(2),
      of(rounds, 'changesPerRow').toFixed(2),
      of(rounds, 'rowsPerFrame').toFixed(1),
      of(rounds, 'mbPerS').toFixed(1),
      of(rounds, 'ageP50').toFixed(0),
      of(rounds, 'ageP99').toFixed(0),
    ];
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
  const perMillion = (rounds: readonly Round[], changesPerS: number) =>
    rounds.map(({ cpuMsPerS }) => (cpuMsPerS / 1000 / changesPerS) * 1e6);
  const name = `changes to ${CONNECTIONS} subscribers of ${TOKENS_EACH} of ${BOOKS} books`;
  return [
    {
      name,
      unit: `${PER_MILLION} changes`,
      better: 'less',
      values: perMillion(socket, CHANGES_PER_S),
      baseline: { name: 'JSON per change and receiver (`ws`)', values: perMillion(loop, CHANGES_PER_S) },
      twice: { work: `${2 * CHANGES_PER_S} changes/s`, values: perMillion(twice, 2 * CHANGES_PER_S) },
    },
    ...(['ageP50', 'ageP99'] as const).map(
      (field): Figure => ({
        name: `${field === 'ageP50' ? 'p50' : 'p99'} age of a change at the subscriber`,
        unit: 'ms',
        better: 'less',
        values: socket.map((one) => one[field]),
        baseline: { name: '`ws` loop', values: loop.map((one) => one[field]) },
      }),
    ),
    {
      name: 'sent',
      unit: 'MB/s',
      better: 'less',
      values: socket.map(({ mbPerS }) => mbPerS),
      baseline: { name: '`ws` loop', values: loop.map(({ mbPerS }) => mbPerS) },
    },
  ];
}

async function measure(mode: 'socket' | 'loop', changesPerS = CHANGES_PER_S): Promise<Round> {
  const server = fork(join(folder, 'order-book-server.child.js'), [mode]);
  const clients = fork(join(folder, 'order-book-clients.child.js'));
  try {
    const [{ port = 0 }] = await Promise.all([nextMessage<BookServerResult>(server), nextMessage(clients)]);
    const tokens = Array.from({ length: BOOKS }, (_, n) => `${800_000_000_000 + n}`);
    const all = { port, connections: CONNECTIONS, tokensEach: TOKENS_EACH, tokens };
    await request(clients, { do: 'subscribe', ...all } satisfies BookClientsCommand);
    await request(server, { perS: changesPerS, ms: 2_000 } satisfies BookServerCommand);
    await sleep(500);
    await request(clients, { do: 'report' } satisfies BookClientsCommand);
    const load = await request<BookServerResult>(server, {
      perS: changesPerS,
      ms: ROUND_MS,
    } satisfies BookServerCommand);
    await sleep(500);
    const { frames, rows, bytes, ages } = await request<BookClientsResult>(clients, {
      do: 'report',
    } satisfies BookClientsCommand);
    // Each token has CONNECTIONS * TOKENS_EACH / BOOKS subscribers.
    const deliveries = ((load.changes ?? 0) * CONNECTIONS * TOKENS_EACH) / BOOKS;
    const seconds = ROUND_MS / 1_000;
    return {
      cpuMsPerS: (load.cpuMs ?? 0) / seconds,
      changesPerRow: deliveries / rows,
      rowsPerFrame: rows / frames,
      mbPerS: bytes / seconds / 1e6,
      ageP50: median(ages),
      ageP99: quantile(ages, 0.99),
    };
  } finally {
    for (const child of [clients, server]) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
}

async function nextMessage<T>(child: ChildProcess): Promise<T> {
  return ((await once(child, 'message')) as [T])[0];
}
async function request<T>(child: ChildProcess, command: object): Promise<T> {
  const answered = nextMessage<T>(child);
  child.send(command);
  return answered;
}
