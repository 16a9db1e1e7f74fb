import type { Engine, EngineSession } from './engine.js';
import { ServerException } from './errors.js';
import { createNamedSessions } from './named-sessions.js';
import type { QueryRequest } from './request.js';
import { quoteIdentifier, setClause } from './sql-text.js';
import type { Statement } from './statement.js';

/** A session for one request. */
export interface Lease {
  readonly session: EngineSession;
  /** Statements to run on it before the request's own, each ending in `;`, or ''. */
  readonly prelude: string;
  /** To be called once, when no query runs on it any more; `clean` when everything went well. */
  release(clean: boolean): Promise<void>;
}

/** Gives every request an engine session that has exactly its settings; only a `session_id` makes state outlive the request. */
export interface Sessions {
  lease(request: QueryRequest, statement: Statement): Promise<Lease>;
  close(): void;
}

/** Sessions kept for the next request with the same database, settings and names of parameters; about 130 KB each. */
const MAX_IDLE = 32;
/** Output of a read-only identity may be shaped; nothing else of the engine may be set. */
const OUTPUT_SETTING = /^(output_format_|format_|date_time_output_format|interval_output_format|extremes$)/;

export function createSessions(options: { engine: Engine }): Sessions {
  const { engine } = options;
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
    // Set anew, so that the map's order is that of the last use.
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
    lease: async (request, statement) => {
      checkReadonly(request);
      if (request.session !== undefined && request.identity.readonly !== true) {
        return named.lease(request, statement, (session) => profile(request, session, true));
      }
      // Reading changes nothing in a session; what other statements do to it ends with it.
      const key = statement.kind === 'select' || statement.kind === 'show' ? profileKey(request) : undefined;
      const known = key === undefined ? undefined : unpark(key);
      const session = known ?? (await engine.session());
      const statements = known === undefined ? profile(request, session, false) : parameters(request);
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

/** Everything that is set in a session the request has used, values of parameters apart: those are always set again. */
function profileKey(request: QueryRequest): string {
  const settings = Object.entries(request.settings).sort(([a], [b]) => (a < b ? -1 : 1));
  const readonly = request.identity.readonly === true ? 1 : request.readonlyMethod ? 2 : 0;
  return JSON.stringify([readonly, request.database ?? null, settings, Object.keys(request.params).sort()]);
}

function checkReadonly(request: QueryRequest): void {
  if (request.identity.readonly !== true) return;
  for (const name of Object.keys(request.settings)) {
    if (OUTPUT_SETTING.test(name)) continue;
    throw new ServerException(164, 'READONLY', `Cannot modify '${name}' setting in readonly mode.`);
  }
}

function profile(request: QueryRequest, session: EngineSession, lasting: boolean): readonly string[] {
  const statements: string[] = [];
  const settings = { ...request.settings };
  if (settings.log_comment !== undefined) settings.log_comment = `${settings.log_comment} ${session.label}`;
  if (request.database !== undefined) statements.push(`USE ${quoteIdentifier(request.database)}`);
  // A session that lives on could not be told to write again.
  if (request.readonlyMethod && request.identity.readonly !== true && !lasting) {
    statements.push(setClause({ readonly: '2' }));
  }
  if (Object.keys(settings).length > 0) statements.push(setClause(settings));
  statements.push(...parameters(request));
  if (request.identity.readonly === true) statements.push(setClause({ readonly: '1' }));
  return statements;
}

function parameters(request: QueryRequest): readonly string[] {
  return Object.keys(request.params).length === 0 ? [] : [setClause(request.params)];
}
