import type { Cookie } from './cookies.js';
import { csrfTokenOf, hashToken, newToken } from './session.js';

const SESSION_S = 14 * 86_400;

/** A session that begins when its command is accepted. */
export function newSession(cookie: Cookie, nowMs: number) {
  const token = newToken();
  return {
    /** Fields of the command that starts it. */
    fields: { session_hash: hashToken(token), session_expires_at_ms: nowMs + SESSION_S * 1000 },
    /** The successful response of a sign-in. */
    reply: { body: { csrf_token: csrfTokenOf(token) }, headers: { 'set-cookie': cookie.set(token, SESSION_S) } },
  };
}

/** Author of the commands of a signed-in user. */
export const userAuthor = (userId: string): string => `user:${userId}`;
