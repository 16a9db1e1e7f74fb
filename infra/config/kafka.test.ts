import { describe, expect, it } from 'vitest';
import { loadConfig, redactConfig } from './config.js';

describe('settings of Kafka', () => {
  it('are connections without TLS and user by default', () => {
    expect(loadConfig({}).kafka).toEqual({ tls: false, sasl: undefined });
    expect(redactConfig(loadConfig({})).kafka).toEqual({ tls: false, sasl: undefined });
  });

  it('take a user, with SCRAM-SHA-512 by default, and hide the password', () => {
    const config = loadConfig({ KAFKA_TLS: '1', KAFKA_USER: 'oddstream', KAFKA_PASSWORD: 's3cret' });
    expect(config.kafka).toEqual({
      tls: true,
      sasl: { mechanism: 'scram-sha-512', user: 'oddstream', password: 's3cret' },
    });
    expect(JSON.stringify(redactConfig(config))).not.toContain('s3cret');
  });

  it.each([
    [{ KAFKA_USER: 'u' }, 'KAFKA_PASSWORD: missing, although KAFKA_USER is given'],
    [{ KAFKA_PASSWORD: 'p' }, 'KAFKA_PASSWORD: given, although KAFKA_USER is missing'],
    [{ KAFKA_SASL_MECHANISM: 'plain' }, 'KAFKA_SASL_MECHANISM: given, although KAFKA_USER is missing'],
    [{ KAFKA_USER: 'u', KAFKA_PASSWORD: 'p', KAFKA_SASL_MECHANISM: 'gssapi' }, 'KAFKA_SASL_MECHANISM'],
    [
      { KAFKA_USER: 'u', KAFKA_PASSWORD: 'p', KAFKA_SASL_MECHANISM: 'plain' },
      'KAFKA_SASL_MECHANISM: plain sends the password as it is, so it needs KAFKA_TLS=1',
    ],
  ])('reject %j', (env, message) => {
    expect(() => loadConfig(env)).toThrow(message);
  });
});
