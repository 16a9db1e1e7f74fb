import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.js';

const secrets = {
  BILLING_PROVIDER: 'stripe',
  STRIPE_SECRET_KEY: 'sk_test_1234',
  STRIPE_WEBHOOK_SECRET: 'whsec_1234',
  OIDC_CLIENT_ID: 'odds',
  OIDC_CLIENT_SECRET: 'secret',
  OIDC_ISSUER: 'https://login.example',
  SOCIAL_API_TOKEN: 'token-of-posts',
};

describe.each(['STRIPE_API_BASE', 'OIDC_ISSUER', 'SOCIAL_API_URL'])('%s', (name) => {
  const load = (url: string) => loadConfig({ ...secrets, [name]: url });

  it('needs https beyond loopback, because secrets are sent there', () => {
    for (const host of ['api.example', '10.0.0.1', '127.0.0.1.example', 'localhost.example', '[::2]'])
      expect(() => load(`http://${host}`)).toThrow(`Bad configuration:\n  ${name}: needs https, except on loopback`);
  });

  it('may be plain on loopback, and https everywhere', () => {
    for (const url of ['http://127.0.0.1:8', 'http://localhost:8', 'http://[::1]:8', 'https://api.example']) load(url);
  });
});
