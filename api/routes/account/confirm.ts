import type { User } from '../../../schemas/types.gen.js';
import type { SessionCaller } from '../../auth/session.js';
import { ApiError } from '../../errors/failure.js';
import type { SignInDeps } from '../auth/deps.js';

/** A session that began this recently replaces the password. */
const FRESH_MS = 15 * 60_000;

/**
 * Makes sure that the owner is at the keyboard before a change that a forgotten open browser must not make: the password if it is given, else a
 * session of the last 15 minutes. Throws ApiError (forbidden, rate_limited, no_session).
 */
export async function confirmOwner(
  deps: Pick<SignInDeps, 'users' | 'passwords' | 'throttle'>,
  session: SessionCaller,
  password: string | undefined,
  request: { readonly clientIp: string; readonly nowMs: number },
): Promise<User> {
  const user = deps.users.user(session.userId);
  if (user === undefined) throw new ApiError({ kind: 'no_session' });
  if (password === undefined) {
    if (request.nowMs - session.createdAtMs <= FRESH_MS) return user;
    throw new ApiError({ kind: 'forbidden', message: 'Send your password, or sign in again first.' });
  }
  await deps.throttle.password(user.email, request);
  if (await deps.passwords.verify(password, user.password_hash ?? null)) return user;
  throw new ApiError({ kind: 'forbidden', message: 'The password is wrong.' });
}
