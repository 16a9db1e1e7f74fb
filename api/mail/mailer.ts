import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
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
  /**
   * Sends in the background, so that the time of a response does not depend on it. A mail that the server does not take for now is sent again, at most
   * four times in 13 minutes. Failures are logged without address and text.
   */
  send(mail: Mail): void;
}

const CONCURRENT = 2;
/** Mails that are being sent, wait, or wait to be sent again. */
const MAX_UNSENT = 200;
const TIMEOUT_MS = 15_000;
/** Pauses before a mail is sent again: long enough for greylisting and a restart of the server, and over well before the link in the mail expires. */
const RETRY_DELAYS_MS = [5_000, 30_000, 120_000, 600_000];

interface SendError {
  readonly code?: unknown;
  readonly responseCode?: unknown;
}

/** Whether the server has rejected the mail for good: a 5xx reply, such as for an unknown mailbox or wrong credentials. */
const isFinal = ({ responseCode }: SendError): boolean => typeof responseCode === 'number' && responseCode >= 500;

/** `mail` undefined: links are written to the log at level warn instead. `retryDelaysMs`: for tests. */
export function createMailer(deps: {
  mail: { readonly smtpUrl: string; readonly from: string } | undefined;
  logger: Logger;
  metrics: Metrics;
  retryDelaysMs?: readonly number[];
}): Mailer {
  const { mail: settings, logger, retryDelaysMs = RETRY_DELAYS_MS } = deps;
  const mails = deps.metrics.counter('api_mails_total', 'Mails by result', ['result']);
  if (settings === undefined)
    return {
      send({ to, subject, link }) {
        mails.inc({ result: 'logged' });
        logger.warn(
          { to, subject, link },
          'SMTP_URL is not set, so this one-time link is not mailed: hand it to the owner of the address',
        );
      },
    };
  const retries = deps.metrics.counter('api_mail_retries_total', 'Attempts to send a mail again');
  const waiting = deps.metrics.gauge('api_mails_unsent', 'Mails that are being sent or wait for the mail server');
  const transport = createTransport({
    url: settings.smtpUrl,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const limit = pLimit(CONCURRENT);
  let unsent = 0;
  const count = (change: number) => {
    unsent += change;
    waiting.set(unsent);
  };
  const deliver = async (message: Parameters<typeof transport.sendMail>[0]): Promise<'sent' | 'failed'> => {
    // After the response: what the first steps of sending cost does not show in its time.
    await setImmediate();
    for (let attempt = 0; ; attempt += 1) {
      try {
        await limit(() => transport.sendMail(message));
        return 'sent';
      } catch (error) {
        const { code, responseCode } = error as SendError;
        const delayMs = isFinal({ responseCode }) ? undefined : retryDelaysMs[attempt];
        if (delayMs === undefined) {
          logger.error({ code, responseCode, attempts: attempt + 1 }, 'a mail is not sent: the mail server rejects it');
          return 'failed';
        }
        logger.warn(
          { code, responseCode, retryInMs: delayMs },
          'the mail server did not take a mail: sending it again',
        );
        retries.inc();
        // Does not keep a process alive that shuts down.
        await sleep(delayMs, undefined, { ref: false });
      }
    }
  };
  return {
    send({ to, subject, text }) {
      if (unsent >= MAX_UNSENT) {
        mails.inc({ result: 'dropped' });
        logger.warn({ unsent }, 'a mail is dropped: too many are waiting for the mail server');
        return;
      }
      count(1);
      // An address object is one recipient, whatever characters it has.
      void deliver({ from: settings.from, to: { name: '', address: to }, subject, text }).then((result) => {
        count(-1);
        mails.inc({ result });
      });
    },
  };
}
