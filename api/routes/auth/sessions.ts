import { z } from 'zod';
import { unexpectedRejection } from '../../accounts/decide.js';
import type { SessionCaller } from '../../auth/session.js';
import { userAuthor } from '../../auth/sessions.js';
import { ApiError } from '../../errors/failure.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { SignInDeps } from './deps.js';

/** The session of a route that requires one. */
export function requireSession(session: SessionCaller | null): SessionCaller {
  if (session === null) throw new ApiError({ kind: 'no_session' });
  return session;
}

/** POST /v1/auth/sign-out and /v1/account/sign-out-everywhere: end this session, or all sessions of the user. */
export function createSignOutRoutes(deps: Pick<SignInDeps, 'decide' | 'cookie'>): readonly Route[] {
  const endings = [
    { path: '/v1/auth/sign-out', tag: 'Sign-in', summary: 'End this session', isAll: false },
    { path: '/v1/account/sign-out-everywhere', tag: 'Account', summary: 'End all sessions of the user', isAll: true },
  ] as const;
  return endings.map(({ path, tag, summary, isAll }) =>
    defineRoute({
      method: 'post',
      path,
      apiGroup: 'v1',
      tag,
      auth: 'session',
      summary,
      success: {
        description: 'Signed out; the cookie is removed',
        schema: z.object({ signed_out: z.literal(true) }),
        example: { signed_out: true },
      },
      async handler(_input, context) {
        const session = requireSession(context.session);
        const outcome = await deps.decide(
          {
            'oddstream.EndSessions': {
              account_id: session.accountId,
              user_id: session.userId,
              session_hash: isAll ? null : session.sessionHash,
              except_session_hash: null,
            },
          },
          { author: userAuthor(session.userId) },
        );
        // A deleted user has no sessions left.
        if (!outcome.accepted && outcome.code !== 'unknown_user') throw unexpectedRejection('EndSessions', outcome);
        return { body: { signed_out: true as const }, headers: { 'set-cookie': deps.cookie.clear() } };
      },
    }),
  );
}
