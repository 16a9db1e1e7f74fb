import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAnalystSettings, DEFAULT_ANALYST_LIMITS } from '../../infra/clickhouse/embedded/analyst-profile.js';
import { loadNative, type NativeConnection, type NativeEngine } from '../../infra/clickhouse/embedded/native.js';
import { escapeStatements } from '../clickhouse/sql-escapes.js';

const deploy = join(import.meta.dirname, '../../infra/deploy/clickhouse');
const usersFile = readFileSync(join(deploy, 'users.d/oddstream.xml'), 'utf8');
const serverFile = readFileSync(join(deploy, 'config.d/server.xml'), 'utf8');
const FILE_SECRET = 'CANARY-OF-A-FILE';
const ROW_SECRET = 'CANARY-OF-A-TABLE';

/**
 * The embedded engine does not read `access_control_improvements`, and rejects `changeable_in_readonly` without them. So it runs the profile in two
 * halves: closed (read-only, without the list of changeable settings), and with the list as bounds of a user who may change all settings.
 */
const closed = (text: string) => text.replace(/<(\w+)>(<min>.*?<\/max>)?<changeable_in_readonly\/><\/\1>/g, '');
const withBounds = (text: string) =>
  text.replaceAll('<changeable_in_readonly/>', '').replace('<readonly>1</readonly>', '<readonly>2</readonly>');
const withoutDefault = (text: string) => text.replace(/<default>[\s\S]*?<\/default>/, '');
/** The engine's session is always that of user `default`, without a password: here it has the profile and the grants of another one. */
const asDefault = (user: string) => (text: string) =>
  withoutDefault(text)
    .replace(`<${user}>`, '<default>')
    .replace(`</${user}>`, '</default>')
    .replace(/(<default>\s*)<password [^>]*>/, '$1<password/>');
const ownerUsers =
  '<users><default><password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></default></users>';

/**
 * Where the embedded engine is laxer than a server: INTO OUTFILE is the client's, and a server rejects it over HTTP; the scalar function `file` reads
 * `user_files` of a server only; DEFAULT passed by bounds in engines before 26.7.6 (docs/SECURITY.md); `python` exists in chDB only; a server requires a
 * grant for system tables (server.xml).
 */
const NOT_AS_IN_A_SERVER =
  /INTO OUTFILE|scalar function file|an alias with a line break|SETTINGS = DEFAULT|^python in |^system\./;
/** Attempts that grants do not reject, because they return only generated rows, declared columns or the user's own grants. */
const HARMLESS = [
  ...['executable in DESCRIBE', 'mergeTreeIndex in DESCRIBE', 'mergeTreeAnalyzeIndexes in DESCRIBE'],
  ...['FROM', 'a subquery', 'a CTE', 'IN', 'a scalar', 'UNION', 'EXPLAIN', 'DESCRIBE', 'a table function'].map(
    (place) => `viewIfPermitted in ${place}`,
  ),
  ...['input', 'generateRandom', 'fuzzQuery', 'fuzzJSON'].flatMap((name) => [
    `${name} in EXPLAIN`,
    `${name} in DESCRIBE`,
  ]),
  ...['format with a file in DESCRIBE', 'SHOW GRANTS', 'SHOW FILESYSTEM CACHES', 'IN with a function'],
  ...['getServerSetting', 'serverUUID', 'filesystemAvailable', 'logTrace', 'structureToProtobufSchema'],
  // The value that the setting has, an empty profile, and settings of a subquery, which do not lift the limits of the whole.
  ...['SETTINGS additional_table_filters', 'SETTINGS profile', 'SETTINGS in IN', 'SETTINGS in a UNION'],
  ...['SETTINGS in a subquery', 'SETTINGS in a CTE', 'SETTINGS of a view function'],
  // Without a table: those that the user may stop, which are none. And all roles of a user without any.
  ...['SYSTEM STOP MERGES', 'SET ROLE'],
  // Of the user's own statements; a server requires a grant for system.processes.
  ...['KILL QUERY', 'SHOW PROCESSLIST'],
  // Only what the user may see: nothing of another database.
  ...['SHOW TABLES', 'SHOW COLUMNS'].map((what) => `${what} of another database`),
  ...['SHOW INDEX', 'SHOW DICTIONARIES', 'SHOW CLUSTERS', 'SHOW SETTINGS', 'SHOW ENGINES', 'SHOW FUNCTIONS'],
  // The statement's own syntax.
  ...['EXPLAIN CURRENT TRANSACTION', 'EXPLAIN AST of another database'],
];

let directory: string;
let native: NativeEngine;
let connections = 0;
const listener = createServer((socket) => {
  connections += 1;
  socket.destroy();
});
/** Read by the engine from the environment of this process. */
const passwords = ['WRITER', 'READER', 'ANALYST'].map((user) => `ODDSTREAM_${user}_PASSWORD`);

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'oddstream-users-'));
  writeFileSync(join(directory, 'secret'), `${FILE_SECRET}\n`);
  for (const name of passwords) process.env[name] = 'not used here';
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  native = loadNative();
  await run(undefined, [
    'CREATE DATABASE oddstream',
    'CREATE DATABASE market',
    ...['usage_days', 'chunks', 'schema_migrations', 'fills'].flatMap((table) => [
      `CREATE TABLE oddstream.${table} (id UInt64, wallet String, name String, size UInt64) ENGINE = MergeTree ORDER BY id`,
      `INSERT INTO oddstream.${table} SELECT number, '0xabc', '${ROW_SECRET}', 5 FROM numbers(3)`,
    ]),
    'CREATE VIEW market.trades DEFINER = oddstream SQL SECURITY DEFINER AS SELECT id, wallet, size FROM oddstream.fills',
  ]);
});
afterAll(() => {
  listener.close();
  rmSync(directory, { recursive: true, force: true });
  for (const name of passwords) delete process.env[name];
});

/** Runs statements one after the other, with the users file as edited. undefined: as a user with all rights. Gives each one's answer or error. */
async function run(
  edit: ((text: string) => string) | undefined,
  statements: readonly string[],
): Promise<readonly string[]> {
  const place = mkdtempSync(join(directory, 'config-'));
  mkdirSync(join(place, 'users.d'));
  const users = edit === undefined ? ownerUsers : '<users/>';
  const text = edit === undefined ? withoutDefault(closed(usersFile)) : edit(usersFile);
  writeFileSync(join(place, 'users.d/oddstream.xml'), text);
  writeFileSync(
    join(place, 'users.xml'),
    `<clickhouse><profiles><default/></profiles><quotas><default/></quotas>${users}</clickhouse>`,
  );
  const config = join(place, 'config.xml');
  writeFileSync(config, `<clickhouse><users_config>${join(place, 'users.xml')}</users_config></clickhouse>`);
  const connection: NativeConnection = native.CreateConnection(join(directory, 'data'), [`--config-file=${config}`]);
  const answers: string[] = [];
  try {
    for (const statement of statements) {
      answers.push(
        await native.QueryAsyncConnection(connection, statement, 'TSV').then(
          ({ bytes }) => Buffer.from(bytes).toString('utf8').trimEnd(),
          (error: Error) => error.message,
        ),
      );
    }
  } finally {
    native.CloseConnection(connection);
  }
  return answers;
}
const withAnalyst = (edit: (text: string) => string) => (text: string) => asDefault('analyst')(edit(text));
/** As `analyst`, with little time: sources without an end run into it. */
const analyst = (edit: (text: string) => string) => (text: string) =>
  withAnalyst(edit)(text).replaceAll('<max_execution_time>60<', '<max_execution_time>1<');

const profileOf = (name: string) => usersFile.split(`<${name}>`)[1]?.split(`</${name}>`)[0] ?? '';
const changeable = [
  ...profileOf('oddstream_analyst').matchAll(/<(\w+)>(?:<min>\d+<\/min><max>(\d+)<\/max>)?<changeable_in_readonly\/>/g),
];

describe('user analyst of a server', () => {
  it('reads the views as their definer reads the tables, and nothing of the tables', async () => {
    const [views, tables, shown] = await run(analyst(closed), [
      'SELECT count(), sum(size) FROM market.trades',
      'SELECT * FROM oddstream.fills',
      "SELECT groupArray(name) FROM system.tables WHERE database IN ('market', 'oddstream')",
    ]);
    expect(views).toBe('3\t15');
    expect(tables).toMatch(/^Code: 497/);
    expect(shown).toBe("['trades']");
  });

  it('reaches nothing outside the views with a statement of the table of escapes', async () => {
    const newFile = join(directory, 'new');
    const attempts = escapeStatements({
      secretFile: join(directory, 'secret'),
      newFile,
      listener: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
      internal: 'oddstream',
      database: 'market',
    }).filter(({ name }) => !NOT_AS_IN_A_SERVER.test(name));
    expect(attempts.length).toBeGreaterThan(600);
    const state = () =>
      run(undefined, [
        'SELECT name FROM system.databases ORDER BY name',
        "SELECT database, name, create_table_query FROM system.tables WHERE database IN ('oddstream', 'market') ORDER BY database, name",
        'SELECT count(), sum(size) FROM oddstream.fills',
        "SELECT name FROM system.functions WHERE origin != 'System'",
        'SELECT name FROM system.users ORDER BY name',
      ]);
    const before = await state();
    const answers = await run(
      analyst(closed),
      attempts.map(({ body }) => body),
    );
    const answered = attempts.filter((_, i) => !/^Code: \d+/.test(answers[i] as string));
    expect(attempts.filter((_, i) => /CANARY/.test(answers[i] as string)).map(({ name }) => name)).toEqual([]);
    expect(answered.map(({ name }) => name).sort()).toEqual([...HARMLESS].sort());
    expect(existsSync(newFile)).toBe(false);
    expect(connections).toBe(0);
    expect(await state()).toEqual(before);
  });

  it('has the time limit of the whole statement for subqueries that lift theirs', async () => {
    const endless = 'SELECT SHA256(toString(number)) AS h FROM numbers(1000000000)';
    const answers = await run(analyst(closed), [
      `SELECT count() FROM (${endless} SETTINGS max_execution_time = 0) WHERE h = ''`,
      `WITH x AS (${endless} SETTINGS readonly = 0, max_execution_time = 0) SELECT count() FROM x WHERE h = ''`,
      `SELECT count() FROM view(${endless} SETTINGS max_execution_time = 0) WHERE h = ''`,
    ]);
    expect(answers.map((answer) => answer.slice(0, 9))).toEqual(['Code: 159', 'Code: 159', 'Code: 159']);
  });

  it('changes no setting while the profile is closed', async () => {
    const answers = await run(analyst(closed), [
      'SELECT 1 SETTINGS extremes = 1',
      'SELECT 1 SETTINGS max_untracked_memory = 1000000000000',
      'SELECT 1 SETTINGS log_queries = 0',
      'SET readonly = 0',
      "SET profile = 'oddstream_writer'",
    ]);
    for (const answer of answers) expect(answer).toMatch(/^Code: 164/);
  });

  it('may lower limits, not raise or lift them, and may shape the output', async () => {
    const bounds = changeable.flatMap(([, name, max]) => (max === undefined ? [] : [[name as string, max] as const]));
    expect(bounds.map(([name]) => name)).toEqual([
      ...['max_memory_usage', 'max_execution_time', 'max_result_rows', 'max_result_bytes', 'max_rows_to_read'],
      ...['max_bytes_to_read', 'max_query_size', 'max_block_size', 'max_threads'],
    ]);
    const rejected = bounds.flatMap(([name, max]) =>
      ['0', '-1', String(BigInt(max) + 1n), '18446744073709551615']
        // As many threads as the machine has cores, and bounded like any other number.
        .filter((value) => name !== 'max_threads' || value !== '0')
        .map((value) => `SELECT 1 SETTINGS ${name} = ${value}`),
    );
    const answers = await run(withAnalyst(withBounds), [
      'SELECT 1 SETTINGS max_execution_time = 0.0000001',
      ...rejected,
      ...bounds.map(([name, max]) => `SELECT 1 SETTINGS ${name} = ${max === '60' || max === '4' ? 1 : 60_000}`),
      'SELECT toUInt256(number) AS a FROM numbers(1) FORMAT JSONEachRow',
      'SELECT toUInt64(1) AS a FORMAT JSONEachRow SETTINGS output_format_json_quote_64bit_integers = 0',
    ]);
    const refusals = answers.slice(0, rejected.length + 1);
    // A negative number is a very large one, or none of the setting's type.
    for (const [i, answer] of refusals.entries()) expect(answer, rejected[i - 1]).toMatch(/^Code: (452|36|70|72|27)\b/);
    expect(answers.slice(rejected.length + 1)).toEqual([...bounds.map(() => '1'), '{"a":"0"}', '{"a":1}']);
  });

  it('meets the limits of memory, rows, bytes and time, also in a subquery that sets higher limits', async () => {
    const [rows, bytes, memory] = await run(withAnalyst(closed), [
      'SELECT number FROM numbers(1100000)',
      'SELECT repeat(toString(number), 200) FROM numbers(900000)',
      'SELECT repeat(toString(number), 100000) FROM numbers(6000)',
    ]);
    const [time, subquery] = await run(analyst(closed), [
      'SELECT sum(sipHash64(number)) FROM numbers(1900000000)',
      'SELECT (SELECT sum(sipHash64(number)) FROM numbers(1000000000000) SETTINGS max_execution_time = 0, max_rows_to_read = 0)',
    ]);
    expect(rows).toMatch(/^Code: 396.*max rows/);
    expect(bytes).toMatch(/^Code: 396.*max bytes/);
    expect(memory).toMatch(/^Code: 241/);
    expect(time).toMatch(/^Code: 159/);
    expect(subquery).toMatch(/^Code: 159/);
  });

  it('may change no setting that the embedded SQL port rejects', () => {
    expect(changeable.length).toBeGreaterThan(40);
    for (const [, name] of changeable) {
      const values = new Map([
        ['union_default_mode', 'ALL'],
        ['max_block_size', '1000'],
      ]);
      if (name === 'enable_http_compression' || name === 'http_wait_end_of_query') continue; // parameters of HTTP there
      expect(
        () => checkAnalystSettings({ [name as string]: values.get(name as string) ?? '1' }, DEFAULT_ANALYST_LIMITS),
        name,
      ).not.toThrow();
    }
    expect(serverFile).toContain('<settings_constraints_replace_previous>true</settings_constraints_replace_previous>');
    expect(serverFile).toContain('<select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>');
  });
});

describe('user api of a server', () => {
  it('reads the tables, writes nothing and reaches no file', async () => {
    const answers = await run(
      (text) => asDefault('api')(closed(text)),
      [
        'SELECT count() FROM oddstream.fills',
        'INSERT INTO oddstream.fills (id) VALUES (9)',
        'CREATE TABLE oddstream.x (a UInt8) ENGINE = Memory',
        `SELECT * FROM file('${join(directory, 'secret')}', 'LineAsString')`,
      ],
    );
    expect(answers[0]).toBe('3');
    for (const answer of answers.slice(1)) expect(answer).toMatch(/^Code: (164|497|392)\b/);
  });
});

describe('user oddstream of a server', () => {
  it('may create, fill, wait for, exchange, empty and drop the tables of a rebuild, and has no other database', async () => {
    const table = '(id UInt64) ENGINE = MergeTree ORDER BY id';
    const allowed = [
      'CREATE DATABASE oddstream_rebuild',
      `CREATE TABLE oddstream_rebuild.events ${table}`,
      `CREATE TABLE oddstream.events ${table}`,
      'INSERT INTO oddstream_rebuild.events VALUES (1)',
      'EXCHANGE TABLES oddstream.events AND oddstream_rebuild.events',
      'TRUNCATE TABLE oddstream.events SYNC',
      'DROP DATABASE oddstream_rebuild SYNC',
      'DROP TABLE oddstream.events SYNC',
    ];
    const waits = ['oddstream', 'oddstream_rebuild'].map((name) => `SYSTEM SYNC REPLICA ${name}.events LIGHTWEIGHT`);
    const denied = ['SYSTEM SYNC REPLICA market.trades LIGHTWEIGHT', 'CREATE DATABASE other'];
    const answers = await run(
      (text) => asDefault('oddstream')(closed(text)),
      [...allowed.slice(0, 4), ...waits, ...allowed.slice(4), ...denied],
    );
    expect([...answers.slice(0, 4), ...answers.slice(6, -denied.length)]).toEqual(allowed.map(() => ''));
    // The engine has no replicated tables, and says so; without the right it would say that.
    for (const answer of answers.slice(4, 6)) expect(answer).toMatch(/^Code: 36.* is not replicated/);
    for (const answer of answers.slice(-denied.length)) expect(answer).toMatch(/^Code: 497/);
  });
});
