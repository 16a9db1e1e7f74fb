import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { UsersView } from '../../infra/accounts/users-view.js';

/** The signed-in user of a request. */
export interface SessionCaller {
  readonly accountId: string;
  readonly userId: string;
  readonly email: string;
  /** SHA-256 hex of the session token. */
  readonly sessionHash: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** What requests that change something send as `x-csrf-token`. */
  readonly csrfToken: string;
}

/** Lookup of sessions. Unknown, ended and expired sessions are all `null`. */
export interface SessionDirectory {
  lookup(token: string, nowMs: number): SessionCaller | null;
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** A random token of 32 bytes, base64url: of a session or a one-time link. Only its hash is stored. */
export const newToken = (): string => randomBytes(32).toString('base64url');
export const isToken = (text: string): boolean => TOKEN.test(text);
/** SHA-256 hex, the only form of a token that is written to the log. */
export const hashToken = (token: string): string => createHash('sha256').update(token, 'utf8').digest('hex');

/**
 * The CSRF token of a session: an HMAC under the session's own token, which only the browser's cookie contains. All API processes derive
 * the same one, and it does not reveal the session's token.
 */
export const csrfTokenOf = (sessionToken: string): string =>
  createHmac('sha256', sessionToken).update('csrf', 'utf8').digest('base64url');

/** True if the header is the CSRF token of the session. Takes the same time wherever they differ. */
export function isCsrfTokenOf(session: SessionCaller, header: unknown): boolean {
  if (typeof header !== 'string') return false;
  const [given, expected] = [header, session.csrfToken].map((text) => createHash('sha256').update(text).digest());
  return given !== undefined && expected !== undefined && timingSafeEqual(given, expected);
}

/** Looks up sessions in the accounts' read model. */
export function createSessionDirectory(users: Pick<UsersView, 'session'>): SessionDirectory {
  return {
    lookup(token, nowMs) {
      if (!isToken(token)) return null;
      const sessionHash = hashToken(token);
      const found = users.session(sessionHash, nowMs);
      if (found === undefined) return null;
      return {
        accountId: found.user.account_id,
        userId: found.user.user_id,
        email: found.user.email,
        sessionHash,
        createdAtMs: found.session.created_at_ms,
        expiresAtMs: found.session.expires_at_ms,
        csrfToken: csrfTokenOf(token),
      };
    },
  };
}
