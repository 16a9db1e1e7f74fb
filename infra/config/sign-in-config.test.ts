import { describe, expect, it } from 'vitest';
import { FatalError } from '../errors.js';
import { loadConfig } from './config.js';

const mail = { SMTP_URL: 'smtp://mail.example', MAIL_FROM: 'a@b.example' };
const provider = { OIDC_ISSUER: 'https://login.example', OIDC_CLIENT_ID: 'odds', OIDC_CLIENT_SECRET: 'secret' };

describe('settings of sign-in', () => {
  it.each(['0.0.0.0', '::', '192.168.1.5', 'server.example'])(
    'need PUBLIC_URL on %s, because links and redirects would not reach the API',
    (ODDSTREAM_HOST) => {
      for (const [name, given] of [
        ['SMTP_URL', mail],
        ['OIDC_ISSUER', provider],
      ] as const) {
        expect(() => loadConfig({ ODDSTREAM_HOST, ...given })).toThrow(FatalError);
        expect(() => loadConfig({ ODDSTREAM_HOST, ...given })).toThrow(
          `Bad configuration:\n  PUBLIC_URL: missing, although ODDSTREAM_HOST is ${ODDSTREAM_HOST} and ${name} is given`,
        );
        const config = loadConfig({ ODDSTREAM_HOST, ...given, PUBLIC_URL: 'https://api.example' });
        expect(config.publicUrl).toBe('https://api.example');
      }
      loadConfig({ ODDSTREAM_HOST });
    },
  );

  it.each(['a@b.example', 'Odds & Co. <a@b.example>', '"Odds, Inc." <a@b.example>', '<a@b.example>'])(
    'take %s as the sender of mails',
    (MAIL_FROM) => {
      expect(loadConfig({ ...mail, MAIL_FROM }).signIn.mail?.from).toBe(MAIL_FROM);
    },
  );

  it.each(['127.0.0.1', '127.0.0.2', 'localhost', '::1'])('need no PUBLIC_URL on %s', (ODDSTREAM_HOST) => {
    expect(loadConfig({ ODDSTREAM_HOST, ...mail }).signIn.mail?.from).toBe('a@b.example');
    expect(loadConfig({ ODDSTREAM_HOST, ...provider }).signIn.oidc?.clientId).toBe('odds');
  });
});
