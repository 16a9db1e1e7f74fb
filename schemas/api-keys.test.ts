import { describe, expect, it } from 'vitest';
import { displayedKeyPrefix, hashKey, hashNetwork, isValidKeyFormat, newRawKey } from './api-keys.js';

describe('API keys', () => {
  it('newRawKey returns the prefix and 32 lowercase hex characters, different at each call', () => {
    const keys = new Set(Array.from({ length: 200 }, newRawKey));
    expect(keys.size).toBe(200);
    for (const key of keys) expect(key).toMatch(/^odds_live_[0-9a-f]{32}$/);
  });

  it('isValidKeyFormat accepts only the current and the legacy prefix', () => {
    const random = '0123456789abcdef0123456789abcdef';
    expect(isValidKeyFormat(`odds_live_${random}`)).toBe(true);
    expect(isValidKeyFormat(`od_live_${random}`)).toBe(true);
    for (const bad of [
      '',
      random,
      `odds_live_${random.toUpperCase()}`,
      `odds_live_${random}0`,
      `odds_live_${random.slice(1)}`,
      `pn_live_${random}`,
      ` odds_live_${random}`,
      `odds_live_${random}\n`,
    ])
      expect(isValidKeyFormat(bad)).toBe(false);
  });

  it('hashKey is SHA-256', () => {
    // NIST's one-block example for SHA-256.
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('hashNetwork is HMAC-SHA-256 under the secret', () => {
    // openssl dgst -sha256 -hmac 'secret of this test' of `ip:203.0.113.7`
    expect(hashNetwork('203.0.113.7', 'secret of this test')).toBe(
      '58ef7e7b9171fe5932e4dfd3adc5c6cf4705a03235176c91a30bd54257c0738b',
    );
    expect(hashNetwork('203.0.113.7', 'another secret')).not.toBe(hashNetwork('203.0.113.7', 'secret of this test'));
  });

  it('displayedKeyPrefix returns the first characters', () => {
    expect(displayedKeyPrefix('odds_live_0123456789abcdef0123456789abcdef')).toBe('odds_live_012345');
  });
});
