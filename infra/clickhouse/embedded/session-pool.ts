import type { Engine, EngineSession } from './engine.js';
import { createNamedSessions } from './named-sessions.js';
import type { PooledSession } from './pooled-session.js';
import type { QueryRequest } from './request.js';
import { quoteIdentifier, setClause } from './sql-text.js';
import type { Statement } from './statement.js';

/** Provides each request with an engine session that has exactly its settings; state outlives the request only with a `session_id`. */
export interface SessionPool {
  acquire(request: QueryRequest, statement: Statement): Promise<PooledSession>;
  close(): void;
}

/** Idle sessions that are kept for a later request with the same database, settings and names of parameters; about 130 KB each. */
const MAX_IDLE = 32;
export function createSessionPool(options: {
  engine: Engine;
  /** Base settings of analysts' sessions; settings that they send override them. */
  analystSettings: Readonly<Record<string, string>>;
}): SessionPool {
  const { engine } = options;
  const profile = (request: QueryRequest, session: EngineSession, lasting: boolean) =>
    request.identity.role === 'analyst'
      ? analystSessionSetup(request, session, options.analystSettings)
      : ownerSessionSetup(request, session, lasting);
  const named = createNamedSessions(engine);
  const idle = new Map<string, EngineSession[]>();
  let idleCount = 0;

  function park(key: string, session: EngineSession): void {
    if (idleCount >= MAX_IDLE) {
      const [oldest, sessions] = idle.entries().next().value as [string, EngineSession[]];
      sessions.shift()?.close();
      idleCount -= 1;
      if (sessions.length === 0) idle.delete(oldest);
    }
    const sessions = idle.get(key) ?? [];
    // Deleted and set again, so that the map's order is that of the last use.
    idle.delete(key);
    idle.set(key, [...sessions, session]);
    idleCount += 1;
  }
  function unpark(key: string): EngineSession | undefined {
    const sessions = idle.get(key);
    const session = sessions?.pop();
    if (session === undefined) return undefined;
    idleCount -= 1;
    if (sessions?.length === 0) idle.delete(key);
    return session;
  }

  return {
    acquire: async (request, statement) => {
      // Analysts have no named sessions: no state persists between their requests.
      if (request.session !== undefined && request.identity.role !== 'analyst') {
        return named.acquire(request, statement, (session) => profile(request, session, true));
      }
      // Only sessions that just read are reused, since other statements may change them. Analysts' sessions are closed after each request:
      // their varying settings would evict the product's idle sessions.
      const reads = statement.kind === 'select' || statement.kind === 'show';
      const key = reads && request.identity.role === 'owner' ? sessionKey(request) : undefined;
      const known = key === undefined ? undefined : unpark(key);
      const session = known ?? (await engine.session());
      const statements = known === undefined ? profile(request, session, false) : parameterStatements(request);
      return {
        session,
        prelude: statements.map((sql) => `${sql};\n`).join(''),
        release: async (clean) => {
          if (key !== undefined && clean) park(key, session);
          else session.close();
        },
      };
    },
    close: () => {
      for (const sessions of idle.values()) for (const session of sessions) session.close();
      idle.clear();
      named.close();
    },
  };
}

/** All state that a request sets in its session, except values of parameters: those are always set again. */
function sessionKey(request: QueryRequest): string {
  const settings = Object.entries(request.settings).sort(([a], [b]) => (a < b ? -1 : 1));
  const readonly = request.readonlyMethod ? 2 : 0;
  return JSON.stringify([readonly, request.database ?? null, settings, Object.keys(request.params).sort()]);
}

function ownerSessionSetup(request: QueryRequest, session: EngineSession, lasting: boolean): readonly string[] {
  const statements: string[] = [];
  if (request.database !== undefined) statements.push(`USE ${quoteIdentifier(request.database)}`);
  // `readonly` cannot be unset, so a named session would stay read-only.
  if (request.readonlyMethod && !lasting) statements.push(setClause({ readonly: '2' }));
  const settings = withSessionLabel(request.settings, session);
  if (Object.keys(settings).length > 0) statements.push(setClause(settings));
  return [...statements, ...parameterStatements(request)];
}

/** `readonly = 1` comes last: after it no setting can be changed. */
function analystSessionSetup(
  request: QueryRequest,
  session: EngineSession,
  base: Readonly<Record<string, string>>,
): readonly string[] {
  const settings = { ...base, ...withSessionLabel(request.settings, session) };
  const database = request.database === undefined ? [] : [`USE ${quoteIdentifier(request.database)}`];
  return [...database, setClause(settings), ...parameterStatements(request), setClause({ readonly: '1' })];
}

/** The session's label stays in the comment of its queries, since they are killed by it. */
function withSessionLabel(settings: Readonly<Record<string, string>>, session: EngineSession): Record<string, string> {
  if (settings.log_comment === undefined) return { ...settings };
  return { ...settings, log_comment: `${settings.log_comment} ${session.label}` };
}

function parameterStatements(request: QueryRequest): readonly string[] {
  return Object.keys(request.params).length === 0 ? [] : [setClause(request.params)];
}
