import type { EngineSession } from './engine.js';

/** A session for one request. */
export interface PooledSession {
  readonly session: EngineSession;
  /** Statements to run on it before the request's own, each ending in `;`, or ''. */
  readonly prelude: string;
  /** To be called once, when no query runs on it any more; `clean` when everything went well. */
  release(clean: boolean): Promise<void>;
}
