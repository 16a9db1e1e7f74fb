import { describe, expect, test } from 'vitest';
import { crossOriginRejection, hostRejection } from './request-guard.js';

const from = (host?: string, origin?: string, secFetchSite?: string) => ({ host, origin, secFetchSite });

describe('hostRejection', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1:8123',
    'localhost:8080',
    'LOCALHOST',
    'a.localhost',
    '[::1]:8123',
    '10.0.0.7:9100',
    'api:9103',
    'api.',
  ])('passes %s', (host) => expect(hostRejection(from(host), ['api'])).toBeUndefined());
  test.each([
    'evil.example',
    'evil.example:8123',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'notlocalhost',
    'a b',
    'u@localhost',
    '',
    'localhost/x',
  ])('rejects %j', (host) => expect(hostRejection(from(host), ['api'])).toMatch(/Host/));
  test('rejects a request without Host', () => expect(hostRejection(from(), [])).toMatch(/missing/));
});

describe('crossOriginRejection', () => {
  test('allows programs and pages of the same origin', () => {
    expect(crossOriginRejection(from('127.0.0.1:8123'))).toBeUndefined();
    expect(crossOriginRejection(from('127.0.0.1:8123', 'http://127.0.0.1:8123', 'same-origin'))).toBeUndefined();
    expect(crossOriginRejection(from('127.0.0.1:8123', undefined, 'none'))).toBeUndefined();
    expect(
      crossOriginRejection(from('127.0.0.1:8080', 'https://odd.example', 'cross-site'), ['https://odd.example']),
    ).toBeUndefined();
  });
  test.each([
    ['http://evil.example', 'cross-site'],
    ['http://127.0.0.1:3000', 'same-site'],
    ['null', 'cross-site'],
    ['null', undefined],
    [undefined, 'cross-site'],
    [undefined, 'same-site'],
    ['http://evil.example', undefined],
    ['http://127.0.0.1:8123', 'cross-site'],
  ])('rejects Origin %s with Sec-Fetch-Site %s', (origin, site) => {
    expect(crossOriginRejection(from('127.0.0.1:8123', origin, site))).toMatch(/not allowed/);
  });
});
