import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { LinkPurpose } from '../../../schemas/types.gen.js';
import { unexpectedRejection } from '../../accounts/decide.js';
import { hashToken, newToken } from '../../auth/session.js';
import { emailField } from '../../auth/sign-in-fields.js';
import { jsonBody } from '../../http/json-body.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { SignInDeps } from './deps.js';
import { throttled } from './responses.js';

const LINK_LIFE_MIN = 60;

const RESPONSE = {
  message: 'If a mail can be sent to this address, it is on its way. The link works once, for 60 minutes.',
};

/** Page, subject and first sentence by purpose. */
const mails: Readonly<Record<LinkPurpose, { page: string; subject: string; text: string }>> = {
  sign_in: {
    page: '/dashboard/link',
    subject: 'Your link to sign in to Oddstream',
    text: 'Open this link to sign in to Oddstream. If you have no account yet, it is created then:',
  },
  reset_password: {
    page: '/dashboard/reset',
    subject: 'Choose a new password for Oddstream',
    text: 'Open this link to choose a new password for Oddstream. All other sessions end then:',
  },
};

interface LinkRoute {
  readonly path: string;
  readonly purpose: LinkPurpose;
  readonly summary: string;
  readonly description: string;
}

const linkRoutes: readonly LinkRoute[] = [
  {
    path: '/v1/auth/sign-up',
    purpose: 'sign_in',
    summary: 'Mail a link that creates an account',
    description:
      'The account exists as soon as the link is used, with the password that is chosen then, if any. For an address that has an account the link signs in.',
  },
  {
    path: '/v1/auth/link',
    purpose: 'sign_in',
    summary: 'Mail a link to sign in',
    description: 'For an address without an account the link creates one.',
  },
  {
    path: '/v1/auth/reset',
    purpose: 'reset_password',
    summary: 'Mail a link to choose a new password',
    description: 'For an address without an account nothing is sent.',
  },
];

/**
 * Mails of one-time links. The response does not depend on whether the address has an account or too many links (at most 5 an hour), in content or in
 * what the request waits for. The token is in the fragment, which browsers do not send; a page posts it, so that a mail scanner does not use it up.
 */
export function createLinkRoutes(deps: SignInDeps): readonly Route[] {
  return linkRoutes.map(({ path, purpose, summary, description }) =>
    defineRoute({
      method: 'post',
      path,
      apiGroup: 'v1',
      tag: 'Sign-in',
      auth: 'none',
      jsonOnly: true,
      summary,
      description: `${description} The response is the same for every address.`,
      body: jsonBody({ email: emailField }),
      success: {
        status: 202,
        description: 'Accepted',
        schema: z.object({ message: z.string() }),
        example: RESPONSE,
      },
      otherResponses: throttled,
      async handler({ body: { email } }, { clientIp, nowMs }) {
        await deps.throttle.link({ clientIp, nowMs });
        const token = newToken();
        const outcome = await deps.decide({
          'oddstream.CreateLink': {
            account_id: randomUUID(),
            user_id: randomUUID(),
            link_hash: hashToken(token),
            purpose,
            email,
            expires_at_ms: nowMs + LINK_LIFE_MIN * 60_000,
          },
        });
        if (outcome.accepted) {
          const { page, subject, text } = mails[purpose];
          const link = `${deps.baseUrl}${page}#${token}`;
          const closing = `It works once, for ${LINK_LIFE_MIN} minutes. If you did not ask for it, ignore this mail.`;
          deps.mailer.send({ to: email, subject, link, text: `${text}\n\n${link}\n\n${closing}\n` });
        } else if (outcome.code !== 'rate_limited' && outcome.code !== 'unknown_user') {
          throw unexpectedRejection('CreateLink', outcome);
        }
        return { body: RESPONSE };
      },
    }),
  );
}
