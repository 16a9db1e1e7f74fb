import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_ANALYST_LIMITS } from '../../infra/clickhouse/embedded/analyst-profile.js';
import { startTestClickHouse, type TestClickHouse } from '../../infra/clickhouse/testing.js';
import type { EscapeAttempt, EscapeTargets } from './sql-escapes.js';

export const FILE_SECRET = 'CANARY-OF-A-FILE';
export const ROW_SECRET = 'CANARY-OF-A-TABLE';

export interface HttpResult {
  /** 0: the connection ended without a response. */
  readonly status: number;
  readonly text: string;
}

/** A server with one public view, internal tables and a file with secrets, and a listener that must not be reached. */
export interface EscapeServer {
  readonly ch: TestClickHouse;
  readonly owner: { readonly user: string; readonly password: string };
  readonly targets: EscapeTargets;
  /** Connections to the listener so far. */
  connections(): number;
  /** Sends exactly these headers: fetch would reject some of them. */
  send(attempt: Omit<EscapeAttempt, 'name'>): Promise<HttpResult>;
  /** All state that an attempt could change. */
  state(): Promise<unknown>;
  stop(): Promise<void>;
}

const STATEMENTS = [
  'CREATE DATABASE internal',
  ...['usage_days', 'chunks', 'schema_migrations', 'fills'].flatMap((table) => [
    `CREATE TABLE internal.${table} (id UInt64, wallet String, name String, size UInt64) ENGINE = ReplacingMergeTree ORDER BY id`,
    `INSERT INTO internal.${table} SELECT number, '0xabc', '${ROW_SECRET}', 5 FROM numbers(3)`,
  ]),
  'CREATE VIEW market.trades AS SELECT id, wallet, size FROM internal.fills FINAL',
];

export async function startEscapeServer(): Promise<EscapeServer> {
  const owner = { user: 'oddstream', password: 'a password of the product' };
  const directory = mkdtempSync(join(tmpdir(), 'oddstream-escapes-'));
  writeFileSync(join(directory, 'secret'), `${FILE_SECRET}\n`);
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const ch = await startTestClickHouse({
    owners: [owner],
    analyst: { password: undefined, database: 'market', concurrency: 2, limits: DEFAULT_ANALYST_LIMITS },
  });
  for (const statement of STATEMENTS) await ch.client.command(statement);
  const newFile = join(directory, 'new');
  return {
    ch,
    owner,
    targets: {
      secretFile: join(directory, 'secret'),
      newFile,
      listener: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
      internal: 'internal',
      database: 'market',
    },
    connections: () => connections,
    send: ({ body, params = {}, headers = {}, method = 'POST' }) =>
      new Promise((resolve) => {
        const sent = request(`${ch.url}/?${new URLSearchParams(params)}`, { method, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('close', () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          );
        });
        sent.on('error', () => resolve({ status: 0, text: '' }));
        sent.end(body);
      }),
    state: async () => ({
      file: existsSync(newFile),
      databases: await ch.client.query('SELECT name FROM system.databases ORDER BY name'),
      tables: await ch.client.query(
        "SELECT database, name, create_table_query FROM system.tables WHERE database IN ('internal', 'market', 'default', 'test') ORDER BY database, name",
      ),
      rows: await ch.client.query(
        'SELECT (SELECT count() FROM internal.fills) AS fills, (SELECT count() FROM internal.usage_days) AS usage',
      ),
      functions: await ch.client.query("SELECT name FROM system.functions WHERE origin != 'System'"),
      settings: await ch.client.query(
        "SELECT value FROM system.settings WHERE name IN ('readonly', 'max_memory_usage')",
      ),
    }),
    stop: async () => {
      await ch.stop();
      listener.close();
      rmSync(directory, { recursive: true });
    },
  };
}
