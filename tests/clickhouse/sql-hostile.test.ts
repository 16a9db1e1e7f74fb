import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EscapeServer, FILE_SECRET, ROW_SECRET, startEscapeServer } from './escape-server.js';
import { type EscapeAttempt, escapeAttempts } from './sql-escapes.js';

/** Concurrent inputs; the server runs two of them in the engine and the rest waits. */
const CONCURRENCY = 12;
const RUNS = Math.ceil(10_000 / CONCURRENCY);

let world: EscapeServer;
let tokens: readonly string[];
let known: readonly EscapeAttempt[];
beforeAll(async () => {
  world = await startEscapeServer();
  const { secretFile, newFile, listener } = world.targets;
  const names = await world.ch.client.query<{ name: string }>(
    'SELECT name FROM system.functions UNION ALL SELECT name FROM system.table_functions UNION ALL SELECT keyword FROM system.keywords',
  );
  const tables = await world.ch.client.query<{ name: string }>(
    "SELECT concat(database, '.', name) AS name FROM system.tables ORDER BY name",
  );
  tokens = [
    ...names.map((row) => row.name),
    ...tables.map((row) => row.name),
    ...[
      '(',
      ')',
      '(',
      ')',
      ',',
      ',',
      '*',
      '.',
      ';',
      '=',
      '->',
      '{a:Identifier}',
      '{a:String}',
      '--',
      '/*',
      '*/',
      '`',
      '"',
      "'",
    ],
    ...[
      'SELECT',
      'FROM',
      'SELECT',
      'FROM',
      'WHERE',
      'SETTINGS',
      'FORMAT',
      'INTO OUTFILE',
      'UNION ALL',
      'WITH',
      'AS',
      'IN',
      'JOIN',
    ],
    ...[
      'trades',
      'usage_days',
      'market',
      'internal',
      'system',
      '1',
      '0',
      'x',
      'max_memory_usage',
      'readonly',
      '\0',
      '\n',
      'é',
      '$$',
    ],
    ...[`'${secretFile}'`, `'${newFile}'`, `'${listener}/x'`],
  ];
  known = escapeAttempts(world.targets);
});
afterAll(() => world.stop());

/** Problems of a response: status 0 or 5xx, or text that must not be readable. */
function problemOf(input: unknown, { status, text }: { status: number; text: string }): readonly string[] {
  const leaks = text.includes(FILE_SECRET) || text.includes(ROW_SECRET);
  return status === 0 || status >= 500 || leaks ? [`${JSON.stringify(input)}: ${status} ${text.slice(0, 300)}`] : [];
}

async function expectNoProblem(inputs: fc.Arbitrary<Omit<EscapeAttempt, 'name'>>, runs: number): Promise<void> {
  const before = await world.state();
  await fc.assert(
    fc.asyncProperty(fc.array(inputs, { minLength: CONCURRENCY, maxLength: CONCURRENCY }), async (batch) => {
      const problems = await Promise.all(batch.map(async (input) => problemOf(input, await world.send(input))));
      expect(problems.flat()).toEqual([]);
    }),
    { numRuns: runs, endOnFailure: true },
  );
  expect(await world.state()).toEqual(before);
  expect(world.connections()).toBe(0);
  expect(await world.send({ body: 'SELECT count() FROM trades' })).toEqual({ status: 200, text: '3\n' });
}

const token = () => fc.integer({ min: 0, max: 1_000_000 }).map((n) => tokens[n % tokens.length] ?? '');
const sentence = () =>
  fc
    .tuple(
      fc.constantFrom('SELECT', 'SELECT * FROM', 'WITH', 'EXPLAIN', 'SHOW', 'DESCRIBE', 'FROM', '('),
      fc.array(token(), { maxLength: 25 }),
    )
    .map(([first, rest]) => [first, ...rest].join(' '));

test('statements of random words leak nothing, change nothing and never get a 5xx status', async () => {
  await expectNoProblem(
    sentence().map((body) => ({ body })),
    Math.floor(RUNS * 0.4),
  );
}, 600_000);

/** One edit of a text: truncation, repetition, change of case, or insertion. */
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  kind: fc.constantFrom('cut', 'double', 'case', 'comment', 'nul', 'quote', 'bracket', 'space', 'backslash'),
});
function apply(text: string, { at, kind }: { at: number; kind: string }): string {
  const i = Math.floor(at * text.length);
  const [head, tail] = [text.slice(0, i), text.slice(i)];
  const put: Record<string, string> = {
    comment: '/**/',
    nul: '\0',
    quote: "'",
    bracket: ')',
    space: '\n',
    backslash: '\\',
  };
  if (kind === 'cut') return head + tail.slice(1);
  if (kind === 'double') return head + tail + tail;
  if (kind === 'case') return head.toUpperCase() + tail.toLowerCase();
  return head + (put[kind] ?? '') + tail;
}

test('edited escape attempts leak nothing, change nothing and never get a 5xx status', async () => {
  const edited = fc.tuple(fc.nat(), fc.array(edit, { minLength: 1, maxLength: 3 })).map(([n, edits]) => {
    const { name: _, ...attempt } = known[n % known.length] as EscapeAttempt;
    return attempt.body === undefined ? attempt : { ...attempt, body: edits.reduce(apply, attempt.body) };
  });
  await expectNoProblem(edited, Math.floor(RUNS * 0.4));
}, 600_000);

test('random parameters and bodies leak nothing, change nothing and never get a 5xx status', async () => {
  const settings = await world.ch.client.query<{ name: string }>('SELECT name FROM system.settings ORDER BY name');
  const name = fc.oneof(
    fc.nat().map((n) => settings[n % settings.length]?.name ?? ''),
    fc.constantFrom(
      'user',
      'password',
      'database',
      'query',
      'query_id',
      'session_id',
      'role',
      'param_a',
      'default_format',
      'compress',
      '__proto__',
    ),
    fc.string(),
  );
  const value = fc.oneof(
    fc.constantFrom('0', '1', '-1', '', '1e999', 'NaN', '\0', 'default', 'oddstream', '../../etc/passwd'),
    fc.string(),
  );
  const input = fc.record({
    body: fc.oneof(fc.constant('SELECT count() FROM trades'), fc.string({ unit: 'binary' }), sentence()),
    params: fc.dictionary(name, value, { maxKeys: 4 }),
    method: fc.constantFrom('POST' as const, 'GET' as const),
  });
  // A GET has its statement in the URL.
  const inputs = input.map(({ body, ...rest }) =>
    rest.method === 'GET' ? { ...rest, params: { query: body, ...rest.params } } : { ...rest, body },
  );
  await expectNoProblem(inputs, Math.ceil(RUNS * 0.2));
}, 600_000);

test('bytes that are no HTTP only close the connection', async () => {
  const raw = (bytes: Uint8Array) =>
    new Promise<void>((resolve) => {
      const socket = connect(world.ch.server.port, '127.0.0.1', () => socket.end(bytes));
      socket.on('error', () => resolve());
      socket.on('close', () => resolve());
      socket.resume();
    });
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc
      .string({ maxLength: 200 })
      .map((text) => Buffer.from(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${text}\r\n\r\n${text}`)),
    fc.string({ maxLength: 200 }).map((text) => Buffer.from(`GET ${text} HTTP/1.1\r\nHost: localhost\r\n\r\n`)),
    fc
      .string({ maxLength: 200 })
      .map((text) => Buffer.from(`POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${text}`)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { minLength: 20, maxLength: 20 }), async (all) => {
      await Promise.all(all.map(raw));
    }),
    { numRuns: 50 },
  );
  expect(await world.send({ body: 'SELECT count() FROM trades' })).toEqual({ status: 200, text: '3\n' });
});
