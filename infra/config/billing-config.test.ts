import { expect, it } from 'vitest';
import { FatalError } from '../errors.js';
import { loadConfig } from './config.js';

const stripe = {
  BILLING_PROVIDER: 'stripe',
  STRIPE_SECRET_KEY: 'sk_test_1234',
  STRIPE_WEBHOOK_SECRET: 'whsec_1234',
};

it.each([['stripe', stripe] as const, ['test', { BILLING_PROVIDER: 'test' }] as const])(
  'payments by %s need PUBLIC_URL beyond loopback: the page of the payment could not return',
  (provider, given) => {
    for (const ODDSTREAM_HOST of ['0.0.0.0', '::', '192.168.1.5', 'server.example']) {
      const start = () => loadConfig({ ODDSTREAM_HOST, ...given });
      expect(start).toThrow(FatalError);
      expect(start).toThrow(
        `Bad configuration:\n  PUBLIC_URL: missing, although ODDSTREAM_HOST is ${ODDSTREAM_HOST} and BILLING_PROVIDER is ${provider}`,
      );
      const config = loadConfig({ ODDSTREAM_HOST, ...given, PUBLIC_URL: 'https://api.example' });
      expect(config.publicUrl).toBe('https://api.example');
    }
    for (const ODDSTREAM_HOST of ['127.0.0.1', 'localhost', '::1'])
      expect(loadConfig({ ODDSTREAM_HOST, ...given }).billing).toMatchObject({ provider });
  },
);
