import { createTransport } from 'nodemailer';
import pLimit from 'p-limit';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The link in the text, for the log of an installation without mail. */
  readonly link: string;
}

export interface Mailer {
  /** Sends in the background, so that the time of a response does not depend on it. Failures are logged without address and text. */
  send(mail: Mail): void;
}

const CONCURRENT = 2;
const MAX_WAITING = 200;
const TIMEOUT_MS = 15_000;

/** `mail` undefined: links are written to the log at level warn instead. */
export function createMailer(deps: {
  mail: { readonly smtpUrl: string; readonly from: string } | undefined;
  logger: Logger;
  metrics: Metrics;
}): Mailer {
  const { mail: settings, logger } = deps;
  const sent = deps.metrics.counter('api_mails_total', 'Mails by result', ['result']);
  if (settings === undefined)
    return {
      send({ to, subject, link }) {
        sent.inc({ result: 'logged' });
        logger.warn(
          { to, subject, link },
          'SMTP_URL is not set, so this one-time link is not mailed: hand it to the owner of the address',
        );
      },
    };
  const transport = createTransport({
    url: settings.smtpUrl,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const limit = pLimit(CONCURRENT);
  return {
    send({ to, subject, text }) {
      if (limit.pendingCount >= MAX_WAITING) {
        sent.inc({ result: 'dropped' });
        logger.warn({ waiting: MAX_WAITING }, 'a mail is dropped: too many are waiting for the mail server');
        return;
      }
      // An address object is one recipient, whatever characters it has.
      const message = { from: settings.from, to: { name: '', address: to }, subject, text };
      void limit(() => transport.sendMail(message)).then(
        () => sent.inc({ result: 'sent' }),
        (error: { code?: unknown; responseCode?: unknown }) => {
          sent.inc({ result: 'failed' });
          logger.warn({ code: error.code, responseCode: error.responseCode }, 'the mail server did not take a mail');
        },
      );
    },
  };
}
