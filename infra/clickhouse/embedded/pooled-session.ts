import type { EngineSession } from './engine.js';

/** A session for one request. */
export interface PooledSession {
  readonly session: EngineSession;
  /** Statements to run on the session before the request's statement, each ending in `;`, or ''. */
  readonly prelude: string;
  /** Call it once, after the last query on the session has ended; `clean` when no query failed or was cancelled. */
  release(clean: boolean): Promise<void>;
}
