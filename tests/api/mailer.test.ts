import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { SMTPServer } from 'smtp-server';
import { afterEach, expect, it } from 'vitest';
import { createMailer } from '../../api/mail/mailer.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';

interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: unknown;
  readonly text: string;
}

const LINK = `http://api.test/dashboard/link#${'t'.repeat(43)}`;
const mail = { to: 'desk@fund.example', subject: 'Your link', link: LINK, text: `Open this link:\n\n${LINK}\n` };

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A real mail server on loopback. */
async function startSmtp(options: { replyTo?: (attempt: number) => number | null } = {}) {
  const received: Received[] = [];
  const seen = { attempts: 0 };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    authOptional: true,
    onAuth: (auth, _session, done) => done(null, { user: `${auth.username}:${auth.password}` }),
    onRcptTo(_address, _session, done) {
      seen.attempts += 1;
      const responseCode = options.replyTo?.(seen.attempts) ?? null;
      done(responseCode === null ? null : Object.assign(new Error('not now'), { responseCode }));
    },
    onData(stream, session, done) {
      let text = '';
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        received.push({ from, to: rcptTo.map(({ address }) => address), user: session.user, text });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return { port: (server.server.address() as AddressInfo).port, received, seen };
}

function start(smtpUrl: string | undefined, retryDelaysMs: readonly number[] = [1, 2, 3, 4]) {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const metrics = createMetrics({ process: 'test', defaults: false });
  const settings = smtpUrl === undefined ? undefined : { smtpUrl, from: 'Oddstream <no-reply@odds.example>' };
  const mailer = createMailer({
    mail: settings,
    logger: pino({ level: 'trace' }, destination),
    metrics,
    retryDelaysMs,
  });
  return { mailer, lines, metrics };
}

it('sends a text mail to one recipient with the credentials of the URL, and logs nothing of it', async () => {
  const { port, received } = await startSmtp();
  const { mailer, lines } = start(`smtp://desk:s3cret@127.0.0.1:${port}`);
  mailer.send(mail);
  await expect.poll(() => received.length).toBe(1);
  const [one] = received;
  expect(one).toMatchObject({
    from: 'no-reply@odds.example',
    to: ['desk@fund.example'],
    user: 'desk:s3cret',
  });
  expect(one?.text).toMatch(/^Subject: Your link\r?$/m);
  expect(one?.text).toMatch(/^From: Oddstream <no-reply@odds.example>\r?$/m);
  expect(one?.text).toContain(LINK);
  expect(lines.join('')).toBe('');
});

it('gives up a mail that the server refuses for good, logs it without address and link, and counts it', async () => {
  const { port, seen } = await startSmtp({ replyTo: () => 550 });
  const { mailer, lines, metrics } = start(`smtp://127.0.0.1:${port}`);
  mailer.send(mail);
  await expect.poll(() => lines.length).toBe(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 50,
    msg: 'a mail is not sent: the mail server rejects it',
    responseCode: 550,
    attempts: 1,
  });
  expect(seen.attempts).toBe(1);
  expect(lines.join('')).not.toMatch(/desk@|#tttt/);
  expect(await metrics.registry.metrics()).toMatch(/api_mails_total\{[^}]*result="failed"[^}]*\} 1/);
});

it('sends a mail again that the server does not take at first, as with greylisting', async () => {
  const { port, received, seen } = await startSmtp({ replyTo: (attempt) => (attempt <= 2 ? 451 : null) });
  const { mailer, lines, metrics } = start(`smtp://127.0.0.1:${port}`);
  mailer.send(mail);
  await expect.poll(() => received.length).toBe(1);
  expect(seen.attempts).toBe(3);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject(
    [1, 2].map((retryInMs) => ({ level: 40, responseCode: 451, retryInMs })),
  );
  expect(lines.join('')).not.toMatch(/desk@|#tttt/);
  const text = () => metrics.registry.metrics();
  await expect.poll(text).toMatch(/api_mails_total\{[^}]*result="sent"[^}]*\} 1/);
  expect(await text()).toMatch(/api_mail_retries_total(\{[^}]*\})? 2/);
  expect(await text()).toMatch(/api_mails_unsent(\{[^}]*\})? 0/);
});

it('survives an unreachable mail server, and stops after the last retry', async () => {
  const { mailer, lines, metrics } = start('smtp://127.0.0.1:1', [1, 2]);
  mailer.send(mail);
  await expect.poll(() => lines.length).toBe(3);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 40, code: 'ESOCKET', retryInMs: 1 });
  expect(JSON.parse(lines[2] ?? '')).toMatchObject({ level: 50, code: 'ESOCKET', attempts: 3 });
  expect(await metrics.registry.metrics()).toMatch(/api_mails_total\{[^}]*result="failed"[^}]*\} 1/);
});

it('keeps at most 200 mails while the server is unreachable, and counts those it drops', async () => {
  const { mailer, metrics } = start('smtp://127.0.0.1:1', [600_000]);
  for (let n = 0; n < 203; n += 1) mailer.send(mail);
  const text = await metrics.registry.metrics();
  expect(text).toMatch(/api_mails_total\{[^}]*result="dropped"[^}]*\} 3/);
  expect(text).toMatch(/api_mails_unsent(\{[^}]*\})? 200/);
});

it('without a mail server writes the link into the log, at level warn', () => {
  const { mailer, lines } = start(undefined);
  mailer.send(mail);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 40,
    to: 'desk@fund.example',
    link: LINK,
    msg: 'SMTP_URL is not set, so this one-time link is not mailed: hand it to the owner of the address',
  });
});
