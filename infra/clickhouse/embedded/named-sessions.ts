import { setTimeout as wait } from 'node:timers/promises';
import type { Engine, EngineSession } from './engine.js';
import { parseEngineError, ServerException } from './errors.js';
import type { PooledSession } from './pooled-session.js';
import type { QueryRequest } from './request.js';
import { quoteIdentifier, quoteString, setClause } from './sql-text.js';
import type { Statement } from './statement.js';

/** Sessions with a `session_id`: changes of a statement persist for the next request of the same user and id. */
export interface NamedSessions {
  acquire(
    request: QueryRequest,
    statement: Statement,
    profile: (session: EngineSession) => readonly string[],
  ): Promise<PooledSession>;
  close(): void;
}

const LOCK_WAIT_MS = 1000;

interface NamedSession {
  readonly session: EngineSession;
  busy: boolean;
  /** Resolves when the request that uses the session has released it. */
  released: Promise<void>;
  timer: NodeJS.Timeout | undefined;
}

export function createNamedSessions(engine: Engine): NamedSessions {
  const named = new Map<string, NamedSession>();

  const acquire: NamedSessions['acquire'] = async (request, statement, profile) => {
    const { id, timeoutS, mustExist } = request.session!;
    if (request.readonlyMethod && statement.kind !== 'select' && statement.kind !== 'show') {
      throw new ServerException(164, 'READONLY', 'Cannot execute query in readonly mode: use POST.');
    }
    const key = JSON.stringify([request.identity.user, id]);
    // The next request of a client can arrive shortly before the session of its previous one has been restored.
    const freed = named.get(key)?.released;
    if (freed !== undefined) await Promise.race([freed, wait(LOCK_WAIT_MS, undefined, { ref: false })]);
    let entry = named.get(key);
    if (entry?.busy === true) {
      throw new ServerException(373, 'SESSION_IS_LOCKED', `Session ${id} is locked by a concurrent client`);
    }
    if (entry === undefined) {
      if (mustExist) throw new ServerException(372, 'SESSION_NOT_FOUND', `Session ${id} not found`);
      entry = await addNamed(key);
    }
    return lease(request, statement, profile(entry.session), key, entry, timeoutS);
  };

  async function addNamed(key: string): Promise<NamedSession> {
    const session = await engine.session();
    const other = named.get(key);
    if (other !== undefined) {
      session.close();
      throw new ServerException(373, 'SESSION_IS_LOCKED', 'The session is being created by a concurrent client');
    }
    const created: NamedSession = { session, busy: false, released: Promise.resolve(), timer: undefined };
    named.set(key, created);
    return created;
  }

  async function lease(
    request: QueryRequest,
    statement: Statement,
    prelude: readonly string[],
    key: string,
    entry: NamedSession,
    timeoutS: number,
  ): Promise<PooledSession> {
    const { session } = entry;
    if (entry.busy) {
      throw new ServerException(373, 'SESSION_IS_LOCKED', 'The session is locked by a concurrent client');
    }
    entry.busy = true;
    clearTimeout(entry.timer);
    let free: () => void = () => undefined;
    entry.released = new Promise((resolve) => {
      free = resolve;
    });
    const finish = async (restore: readonly string[]) => {
      try {
        for (const sql of restore) await session.run(sql);
      } finally {
        entry.busy = false;
        entry.timer = setTimeout(() => {
          named.delete(key);
          session.close();
        }, timeoutS * 1000);
        entry.timer.unref();
        free();
      }
    };
    const restore: string[] = [];
    try {
      // Settings of this request must not persist in the session.
      const names = ['readonly', ...Object.keys(request.settings)].map(quoteString);
      const before = await session.run(
        `SELECT name, value, currentDatabase() AS db FROM system.settings WHERE name IN (${names.join(', ')})`,
        'JSONEachRow',
      );
      const rows = Buffer.from(before.bytes)
        .toString('utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { name: string; value: string; db: string });
      const set = Object.fromEntries(rows.filter((row) => row.name !== 'readonly').map((row) => [row.name, row.value]));
      if (Object.keys(set).length > 0) restore.push(setClause(set));
      const database = request.database === undefined ? undefined : `USE ${quoteIdentifier(rows[0]?.db ?? 'default')}`;
      const used = statement.kind === 'command' && statement.keyword === 'USE';
      if (database !== undefined && !used) restore.push(database);
      return { session, prelude: prelude.map((sql) => `${sql};\n`).join(''), release: () => finish(restore) };
    } catch (error) {
      await finish(restore);
      throw parseEngineError(error);
    }
  }

  return {
    acquire,
    close: () => {
      for (const entry of named.values()) {
        clearTimeout(entry.timer);
        if (!entry.busy) entry.session.close();
      }
      named.clear();
    },
  };
}
