import * as client from 'openid-client';
import type { OidcConfig } from '../../infra/config/sign-in-config.js';

/** What the browser keeps between the two redirects. */
export interface ProviderAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A user as the provider knows it. */
export interface ProviderUser {
  readonly issuer: string;
  readonly subject: string;
  /** As the provider writes it; '' without one. */
  readonly email: string;
  readonly isEmailVerified: boolean;
}

/** An OpenID Connect provider, with the authorization code flow, PKCE, state and nonce. */
export interface IdentityProvider {
  /** Where to send the browser. Rejects while the provider is unreachable. */
  start(): Promise<{ readonly url: string; readonly attempt: ProviderAttempt }>;
  /** Exchanges the code in the query of the callback. Rejects when the response does not belong to the attempt. */
  finish(query: URLSearchParams, attempt: ProviderAttempt): Promise<ProviderUser>;
}

const TIMEOUT_S = 10;

/** `redirectUri`: public URL of the callback route. The provider's metadata is read at the first use. */
export function createIdentityProvider(config: OidcConfig, redirectUri: string): IdentityProvider {
  let discovered: Promise<client.Configuration> | undefined;
  const discover = (): Promise<client.Configuration> => {
    if (discovered !== undefined) return discovered;
    const issuer = new URL(config.issuer);
    const isPlain = issuer.protocol === 'http:';
    const reading = client.discovery(issuer, config.clientId, config.clientSecret, undefined, {
      timeout: TIMEOUT_S,
      execute: isPlain ? [client.allowInsecureRequests] : [],
    });
    discovered = reading;
    reading.catch(() => {
      discovered = undefined;
    });
    return reading;
  };

  return {
    async start() {
      const provider = await discover();
      const attempt = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: 'openid email',
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, attempt };
    },
    async finish(query, attempt) {
      const provider = await discover();
      const url = new URL(redirectUri);
      url.search = query.toString();
      const tokens = await client.authorizationCodeGrant(provider, url, {
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        pkceCodeVerifier: attempt.verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('The provider sent no ID token');
      // Many providers return the email in the user info only.
      const { email, email_verified: isVerified } =
        claims.email === undefined && provider.serverMetadata().userinfo_endpoint !== undefined
          ? await client.fetchUserInfo(provider, tokens.access_token, claims.sub)
          : claims;
      return {
        issuer: claims.iss,
        subject: claims.sub,
        email: typeof email === 'string' ? email : '',
        isEmailVerified: isVerified === true,
      };
    },
  };
}
