import { FatalError } from '../errors.js';
import type { ParsedEnvironment } from './environment.js';
import { requirePublicUrl } from './public-url.js';
import { requireHttps } from './require-https.js';
import { rejectUnused } from './unused-settings.js';

/** How users sign in, besides by password. */
export interface SignInConfig {
  /** undefined: links are written to the log instead of mailed. */
  readonly mail: { readonly smtpUrl: string; readonly from: string } | undefined;
  /** OpenID Connect provider. */
  readonly oidc: OidcConfig | undefined;
}

export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Throws FatalError when a setting that another one needs is missing, or one is given that has no effect without another. */
export function signInOf(e: ParsedEnvironment): SignInConfig {
  const missing = (name: string, because: string) =>
    new FatalError(`Bad configuration:\n  ${name}: missing, although ${because} is given`);
  if (e.SMTP_URL === undefined) rejectUnused(e, ['MAIL_FROM'], 'SMTP_URL is missing');
  else if (e.MAIL_FROM === undefined) throw missing('MAIL_FROM', 'SMTP_URL');
  const linksFor = e.SMTP_URL !== undefined ? 'SMTP_URL' : e.OIDC_ISSUER !== undefined ? 'OIDC_ISSUER' : undefined;
  if (linksFor !== undefined) requirePublicUrl(e, `${linksFor} is given`);
  const mail = e.SMTP_URL === undefined ? undefined : { smtpUrl: e.SMTP_URL, from: e.MAIL_FROM ?? '' };
  if (e.OIDC_ISSUER === undefined) {
    rejectUnused(e, ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'], 'OIDC_ISSUER is missing');
    return { mail, oidc: undefined };
  }
  requireHttps(e, 'OIDC_ISSUER');
  if (e.OIDC_CLIENT_ID === undefined) throw missing('OIDC_CLIENT_ID', 'OIDC_ISSUER');
  if (e.OIDC_CLIENT_SECRET === undefined) throw missing('OIDC_CLIENT_SECRET', 'OIDC_ISSUER');
  return {
    mail,
    oidc: { issuer: e.OIDC_ISSUER, clientId: e.OIDC_CLIENT_ID, clientSecret: e.OIDC_CLIENT_SECRET },
  };
}
