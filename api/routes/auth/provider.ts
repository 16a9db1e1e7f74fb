import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Logger } from '../../../infra/telemetry/logger.js';
import { unexpectedRejection } from '../../accounts/decide.js';
import { createCookie } from '../../auth/cookies.js';
import type { IdentityProvider, ProviderAttempt } from '../../auth/identity-provider.js';
import { newSession } from '../../auth/sessions.js';
import { emailField } from '../../auth/sign-in-fields.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { SignInDeps } from './deps.js';
import { throttled } from './responses.js';

const ATTEMPT_S = 600;
const attemptSchema = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() });

const encode = (attempt: ProviderAttempt): string => Buffer.from(JSON.stringify(attempt)).toString('base64url');
function decode(text: string | null): ProviderAttempt | undefined {
  try {
    return attemptSchema.safeParse(JSON.parse(Buffer.from(text ?? '', 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}

const redirect = { description: 'Redirect', schema: z.string(), example: '', contentType: 'text/plain', status: 303 };

/** GET /v1/auth/oidc/start and /v1/auth/oidc/callback: sign in by an OpenID Connect provider. None without a provider. */
export function createProviderRoutes(
  deps: SignInDeps & { provider: IdentityProvider | null; logger: Logger },
): readonly Route[] {
  const { provider, throttle, logger } = deps;
  if (provider === null) return [];
  const attempts = createCookie({ name: 'odds_oidc', secure: deps.baseUrl.startsWith('https:') });
  const common = {
    method: 'get',
    apiGroup: 'v1',
    tag: 'Sign-in',
    auth: 'none',
    success: redirect,
  } as const;
  const to = (path: string, setCookies: readonly string[]) => ({
    body: '',
    headers: { location: `${deps.baseUrl}${path}`, 'set-cookie': setCookies },
  });
  const failed = (problem: string) => to(`/dashboard/sign-in?problem=${problem}`, [attempts.clear()]);

  return [
    defineRoute({
      ...common,
      path: '/v1/auth/oidc/start',
      summary: 'Sign in by the provider of this installation',
      description: 'For browsers: redirects to the OpenID Connect provider.',
      // Not counted: it stores nothing and calls the provider once per process; a sign-in counts when it returns.
      async handler() {
        try {
          const { url, attempt } = await provider.start();
          return { body: '', headers: { location: url, 'set-cookie': attempts.set(encode(attempt), ATTEMPT_S) } };
        } catch (error) {
          logger.warn({ err: error }, 'the OpenID Connect provider is unreachable');
          return failed('provider');
        }
      },
    }),
    defineRoute({
      ...common,
      path: '/v1/auth/oidc/callback',
      summary: 'Return from the provider',
      description: 'For browsers: redirects to the dashboard, signed in.',
      otherResponses: throttled,
      allowUnknownQuery: true,
      async handler(_input, { clientIp, nowMs, headers, rawQuery }) {
        await throttle.signIn({ clientIp, nowMs });
        const attempt = decode(attempts.read(headers));
        if (attempt === undefined) return failed('provider');
        const user = await provider.finish(rawQuery, attempt).catch((error: { code?: unknown }) => {
          // The message of an error may have parts of the response.
          logger.warn({ code: error.code }, 'a sign-in by the OpenID Connect provider failed');
          return undefined;
        });
        if (user === undefined) return failed('provider');
        const email = emailField.safeParse(user.email);
        const { fields, reply } = newSession(deps.cookie, nowMs);
        const outcome = await deps.decide({
          'oddstream.SignInWithProvider': {
            account_id: randomUUID(),
            user_id: randomUUID(),
            issuer: user.issuer,
            subject: user.subject,
            email: email.data ?? '',
            email_verified: user.isEmailVerified && email.success,
            ...fields,
          },
        });
        if (outcome.code === 'unverified_email') return failed('unverified');
        if (!outcome.accepted) throw unexpectedRejection('SignInWithProvider', outcome);
        return to('/dashboard', [reply.headers['set-cookie'], attempts.clear()]);
      },
    }),
  ];
}
