import { z } from 'zod';
import { unexpectedRejection } from '../../accounts/decide.js';
import { hashToken, isToken } from '../../auth/session.js';
import { newSession, userAuthor } from '../../auth/sessions.js';
import { emailField, newPasswordField, passwordField } from '../../auth/sign-in-fields.js';
import { ApiError } from '../../errors/failure.js';
import { jsonBody } from '../../http/json-body.js';
import { defineRoute, errorSchema, type Route } from '../../http/route.js';
import type { SignInDeps } from './deps.js';
import { throttled } from './responses.js';

const WRONG_PASSWORD = 'Email or password is wrong.';
const WRONG_LINK = 'This link does not work any more. Request a new one.';

const signedIn = {
  description: 'Signed in; the cookie of the session is set',
  schema: z.object({ csrf_token: z.string() }),
  example: { csrf_token: 'mA3fW7Yk2c0r9XJv1TnQeHs5LbUiOz8dPg4KxVtRyEw' },
};

const rejected = (error: string) => ({
  401: { description: 'Not signed in', schema: errorSchema, example: { error } },
  ...throttled,
});

/** POST /v1/auth/sign-in and /v1/auth/use-link: begin a session. */
export function createSignInRoutes(deps: SignInDeps): readonly Route[] {
  const { cookie, decide, passwords, throttle } = deps;
  const common = { method: 'post', apiGroup: 'v1', tag: 'Sign-in', auth: 'none', jsonOnly: true } as const;
  return [
    defineRoute({
      ...common,
      path: '/v1/auth/sign-in',
      summary: 'Sign in by password',
      description: '10 attempts per email and 30 per client address in 15 minutes.',
      body: jsonBody({ email: emailField, password: passwordField }),
      success: signedIn,
      otherResponses: rejected(WRONG_PASSWORD),
      async handler({ body: { email, password } }, { clientIp, nowMs }) {
        await throttle.password(email, { clientIp, nowMs });
        const user = deps.users.userByEmail(email);
        const passwordHash = user?.password_hash ?? null;
        const matches = await passwords.verify(password, passwordHash);
        const wrong = new ApiError({ kind: 'not_signed_in', message: WRONG_PASSWORD });
        if (!matches || user === undefined || passwordHash === null) throw wrong;
        const { fields, reply } = newSession(cookie, nowMs);
        const outcome = await decide(
          {
            'oddstream.StartSession': {
              account_id: user.account_id,
              user_id: user.user_id,
              password_hash: passwordHash,
              ...fields,
            },
          },
          { author: userAuthor(user.user_id) },
        );
        // The user was deleted, or chose another password, meanwhile.
        if (!outcome.accepted) throw wrong;
        return reply;
      },
    }),
    defineRoute({
      ...common,
      path: '/v1/auth/use-link',
      summary: 'Sign in by a mailed link',
      description:
        '`token` is what follows `#` in the link. `password` becomes the password of the account and ends its other sessions; a link to reset the password requires it.',
      body: jsonBody({
        token: z.string({ error: 'Invalid token. Use a string.' }).max(100),
        password: newPasswordField.optional(),
      }),
      success: signedIn,
      otherResponses: rejected(WRONG_LINK),
      async handler({ body: { token, password } }, { clientIp, nowMs }) {
        await throttle.signIn({ clientIp, nowMs });
        const wrong = new ApiError({ kind: 'not_signed_in', message: WRONG_LINK });
        if (!isToken(token)) throw wrong;
        const passwordHash = password === undefined ? null : await passwords.hash(password);
        const { fields, reply } = newSession(cookie, nowMs);
        const outcome = await decide({
          'oddstream.UseLink': { account_id: '', link_hash: hashToken(token), password_hash: passwordHash, ...fields },
        });
        if (outcome.code === 'password_required')
          throw new ApiError({ kind: 'bad_body', message: 'This link is for a new password: send `password`.' });
        if (outcome.code === 'unknown_link') throw wrong;
        if (!outcome.accepted) throw unexpectedRejection('UseLink', outcome);
        return reply;
      },
    }),
  ];
}
