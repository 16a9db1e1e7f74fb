import { describe, expect, it } from 'vitest';
import { loadConfig, redactConfig } from './config.js';

describe('SCHEMA_REGISTRY_URL', () => {
  it('is optional', () => {
    expect(loadConfig({}).schemaRegistry).toBeUndefined();
    expect(redactConfig(loadConfig({})).schemaRegistry).toBeUndefined();
  });

  it('may contain the credentials, which are removed from the URL', () => {
    expect(loadConfig({ SCHEMA_REGISTRY_URL: 'https://me:p%40ss@registry.example:8443/apis/' }).schemaRegistry).toEqual(
      {
        url: 'https://registry.example:8443/apis',
        user: 'me',
        password: 'p@ss',
      },
    );
  });

  it('prefers credentials of separate variables, and hides the password', () => {
    const config = loadConfig({
      SCHEMA_REGISTRY_URL: 'http://a:b@127.0.0.1:8081',
      SCHEMA_REGISTRY_USER: 'key',
      SCHEMA_REGISTRY_PASSWORD: 's3cret',
    });
    expect(config.schemaRegistry).toEqual({ url: 'http://127.0.0.1:8081', user: 'key', password: 's3cret' });
    expect(JSON.stringify(redactConfig(config))).not.toContain('s3cret');
  });

  it('has its own credentials for a copy, and hides their password', () => {
    const config = loadConfig({ COPY_LOG_REGISTRY_USER: 'key', COPY_LOG_REGISTRY_PASSWORD: 's3cret' });
    expect(config).toMatchObject({
      schemaRegistry: undefined,
      copyLogRegistry: { user: 'key', password: 's3cret' },
    });
    expect(JSON.stringify(redactConfig(config))).not.toContain('s3cret');
  });

  it('names the invalid variable', () => {
    expect(() => loadConfig({ SCHEMA_REGISTRY_URL: 'registry:8081' })).toThrow(/SCHEMA_REGISTRY_URL: expected http/);
    expect(() => loadConfig({ SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081', SCHEMA_REGISTRY_PASSWORD: 'x' })).toThrow(
      /SCHEMA_REGISTRY_USER/,
    );
  });
});
