import { z } from 'zod';
import type { AccountsReadModel } from '../../../infra/accounts/read-model.js';
import { accountTerms } from '../../../schemas/plans.js';
import { unexpectedRejection } from '../../accounts/decide.js';
import { userAuthor } from '../../auth/sessions.js';
import { emailField, passwordField } from '../../auth/sign-in-fields.js';
import { ApiError } from '../../errors/failure.js';
import { jsonBody } from '../../http/json-body.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { SignInDeps } from '../auth/deps.js';
import { requireSession } from '../auth/sessions.js';
import { confirmOwner } from './confirm.js';

/** How packages are paid; null: they are not sold here. */
export type Billing = 'test' | 'stripe' | null;

const limit = z.int().nullable();
const limitsSchema = z.object({
  standard_per_minute: z.int(),
  heavy_per_minute: limit.meta({ description: 'Trade history of /v3; null: not in the plan.' }),
  event_sockets: limit.meta({ description: 'null: unlimited.' }),
  orderbook_sockets: limit.meta({ description: 'null: unlimited.' }),
  api_keys: z.int(),
});
const accountSchema = z.object({
  account_id: z.string(),
  email: z.string(),
  plan: z.enum(['free', 'starter', 'growth', 'enterprise']),
  limits: limitsSchema,
  created_at: z.int().meta({ description: 'Unix seconds.' }),
  has_password: z.boolean(),
  session_expires_at: z.int().meta({ description: 'Unix seconds.' }),
  csrf_token: z.string().meta({ description: 'For the header `x-csrf-token` of requests that change something.' }),
  billing: z
    .enum(['test', 'stripe'])
    .nullable()
    .meta({ description: 'Who takes payments; null: nothing is sold here.' }),
});

/** GET and DELETE /v1/account. */
export function createAccountRoutes(
  deps: SignInDeps & { accounts: Pick<AccountsReadModel, 'account'>; billing: Billing },
): readonly Route[] {
  const common = { path: '/v1/account', apiGroup: 'v1', tag: 'Account', auth: 'session' } as const;
  return [
    defineRoute({
      ...common,
      method: 'get',
      summary: 'The signed-in user and the account',
      success: {
        description: 'User, plan and CSRF token',
        schema: accountSchema,
        example: {
          account_id: '5a4c1f6e-7e2b-4f0e-9a53-0d6c1a9b2e11',
          email: 'desk@fund.example',
          plan: 'starter',
          limits: {
            standard_per_minute: 1000,
            heavy_per_minute: 1000,
            event_sockets: 10,
            orderbook_sockets: 10,
            api_keys: 3,
          },
          created_at: 1790035200,
          has_password: true,
          session_expires_at: 1791244800,
          csrf_token: 'mA3fW7Yk2c0r9XJv1TnQeHs5LbUiOz8dPg4KxVtRyEw',
          billing: null,
        },
      },
      handler(_input, context) {
        const session = requireSession(context.session);
        const account = deps.accounts.account(session.accountId);
        const user = deps.users.user(session.userId);
        if (account === undefined || user === undefined) throw new ApiError({ kind: 'no_session' });
        const terms = accountTerms(account);
        return {
          body: {
            account_id: account.account_id,
            email: user.email,
            plan: account.plan,
            limits: {
              standard_per_minute: terms.standardPerMinute,
              heavy_per_minute: terms.heavyPerMinute,
              event_sockets: terms.eventSockets,
              orderbook_sockets: terms.orderbookSockets,
              api_keys: terms.apiKeys,
            },
            created_at: Math.floor(account.created_at_ms / 1000),
            has_password: user.password_hash !== null,
            session_expires_at: Math.floor(session.expiresAtMs / 1000),
            csrf_token: session.csrfToken,
            billing: deps.billing,
          },
        };
      },
    }),
    defineRoute({
      ...common,
      method: 'delete',
      jsonOnly: true,
      summary: 'Delete the account',
      description:
        'Revokes all keys, ends all sessions and removes users and copy-PnL pools. Unused packages are lost. `email` must be the one of the user. Needs the password, or a session that began in the last 15 minutes, else 403.',
      body: jsonBody({ email: emailField, password: passwordField.optional() }),
      success: {
        description: 'The account is deleted',
        schema: z.object({ deleted: z.literal(true) }),
        example: { deleted: true },
      },
      async handler({ body: { email, password } }, context) {
        const session = requireSession(context.session);
        if (email !== session.email)
          throw new ApiError({ kind: 'bad_body', message: 'Invalid email. Type the one you are signed in with.' });
        await confirmOwner(deps, session, password, context);
        const outcome = await deps.decide(
          { 'oddstream.DeleteAccount': { account_id: session.accountId } },
          { author: userAuthor(session.userId) },
        );
        if (!outcome.accepted) throw unexpectedRejection('DeleteAccount', outcome);
        return { body: { deleted: true as const }, headers: { 'set-cookie': deps.cookie.clear() } };
      },
    }),
  ];
}
