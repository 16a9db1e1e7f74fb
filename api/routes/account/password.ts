import { z } from 'zod';
import { unexpectedRejection } from '../../accounts/decide.js';
import { userAuthor } from '../../auth/sessions.js';
import { newPasswordField, passwordField } from '../../auth/sign-in-fields.js';
import { jsonBody } from '../../http/json-body.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { SignInDeps } from '../auth/deps.js';
import { requireSession } from '../auth/sessions.js';
import { confirmOwner } from './confirm.js';

/** POST /v1/account/password: sets the password and ends all other sessions. */
export function createPasswordRoute(deps: SignInDeps): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/account/password',
    apiGroup: 'v1',
    tag: 'Account',
    auth: 'session',
    jsonOnly: true,
    summary: 'Set the password',
    description:
      'Ends all other sessions. Needs the present password, or a session that began in the last 15 minutes, else 403.',
    body: jsonBody({ password: newPasswordField, current_password: passwordField.optional() }),
    success: {
      description: 'The password is set',
      schema: z.object({ password_set: z.literal(true) }),
      example: { password_set: true },
    },
    async handler({ body: { password, current_password: current } }, context) {
      const session = requireSession(context.session);
      const user = await confirmOwner(deps, session, current, context);
      const outcome = await deps.decide(
        {
          'oddstream.SetPassword': {
            account_id: user.account_id,
            user_id: user.user_id,
            password_hash: await deps.passwords.hash(password),
            keep_session_hash: session.sessionHash,
          },
        },
        { author: userAuthor(user.user_id) },
      );
      if (!outcome.accepted) throw unexpectedRejection('SetPassword', outcome);
      return { body: { password_set: true as const } };
    },
  });
}
