import { describe, expect, it } from 'vitest';
import { type ApiGroup, apiGroupOf, renderFailure } from './error-formats.js';
import type { Failure } from './failure.js';

const apiGroups: readonly ApiGroup[] = ['v1', 'v2', 'v2x', 'v3', 'clobv2', 'root'];
const upgradeUrl = 'https://x.example/plans';
const limited: Failure = {
  kind: 'rate_limited',
  retryAtMs: 1_811_000_012_300,
  nowMs: 1_811_000_000_000,
  limitPerMinute: 1000,
};

describe('apiGroupOf', () => {
  it.each<[string, ApiGroup]>([
    ['/v1/keys', 'v1'],
    ['/v2/copy-pnl/snapshot', 'v2'],
    ['/v2/onchain/oi', 'v2'],
    ['/v2/x/search', 'v2x'],
    ['/v2/xyz', 'v2'],
    ['/v3/trades', 'v3'],
    ['/clobv2/trades', 'clobv2'],
    ['/', 'root'],
    ['/healthz', 'root'],
    ['/v1x', 'root'],
  ])('%s is %s', (path, apiGroup) => expect(apiGroupOf(path)).toBe(apiGroup));
});

describe('renderFailure', () => {
  const texts = (failure: Failure) =>
    Object.fromEntries(
      apiGroups.map((apiGroup) => [
        apiGroup,
        [renderFailure(apiGroup, failure).status, renderFailure(apiGroup, failure).body.error],
      ]),
    );

  it('formats a missing key per API group', () => {
    const sentence = [401, 'Missing or invalid API key. Use x-api-key header or ?key= param.'];
    const v2 = [401, 'API key required. Pass via ?key= or x-api-key header.'];
    expect(texts({ kind: 'missing_key' })).toEqual({
      v1: sentence,
      root: sentence,
      v2,
      v2x: v2,
      v3: [401, expect.stringContaining('API key')],
      clobv2: [401, expect.stringMatching(/^missing API key/)],
    });
  });

  it('formats an unknown key per API group', () => {
    const sentence = [403, 'Invalid or inactive API key.'];
    expect(texts({ kind: 'unknown_key' })).toEqual({
      v1: sentence,
      root: sentence,
      v2: sentence,
      v2x: sentence,
      v3: [403, 'invalid or inactive API key'],
      clobv2: [401, 'invalid or revoked API key'],
    });
  });

  it('formats a plan error per API group', () => {
    const paid = { kind: 'plan_gate', tier: 'free', upgradeUrl, status: 402 } as const;
    for (const apiGroup of ['v2x', 'v3', 'clobv2'] as const) {
      const { status, body } = renderFailure(apiGroup, paid);
      expect({ status, body }).toEqual({
        status: 402,
        body: { error: 'paid plan required', tier: 'free', upgrade_url: upgradeUrl },
      });
    }
    const { status, body } = renderFailure('v2', { ...paid, status: 403 });
    expect({ status, body }).toEqual({
      status: 403,
      body: { error: `V2 endpoints require a paid plan. See ${upgradeUrl} for details.` },
    });
  });

  it('formats a rate limit per API group', () => {
    expect(renderFailure('v1', limited)).toEqual({
      status: 429,
      headers: { 'retry-after': '13' },
      body: { error: 'Rate limit exceeded. Retry after 1811000013.', reset_at: 1811000013 },
    });
    expect(renderFailure('v2', limited)).toEqual({
      status: 429,
      headers: { 'retry-after': '13' },
      body: { error: 'Rate limited. 16 req/s for your tier.', retryAfterMs: 12300, reset_at: 1811000013 },
    });
    for (const apiGroup of ['v3', 'clobv2', 'v2x'] as const) {
      expect(renderFailure(apiGroup, limited).body).toEqual({ error: 'rate limit exceeded', reset_at: 1811000013 });
    }
    expect(renderFailure('v3', { ...limited, scope: 'v3_heavy' }).body).toEqual({
      error: 'rate limit exceeded',
      reset_at: 1811000013,
      scope: 'v3_heavy',
    });
    expect(renderFailure('v1', { ...limited, retryAtMs: limited.nowMs }).headers).toEqual({ 'retry-after': '1' });
  });

  it('formats an upstream failure per API group', () => {
    expect(renderFailure('clobv2', { kind: 'upstream', retryAfterS: 2, detail: 'why' })).toEqual({
      status: 503,
      headers: { 'retry-after': '2' },
      body: { error: 'temporary_data_provider_error', detail: 'why' },
    });
    expect(renderFailure('v2x', { kind: 'upstream', retryAfterS: 2 })).toMatchObject({
      status: 502,
      body: { error: 'upstream error, retry shortly' },
    });
    expect(renderFailure('v3', { kind: 'upstream', retryAfterS: 2 }).status).toBe(503);
  });

  it('formats an overloaded feature with its scope', () => {
    expect(renderFailure('v3', { kind: 'overloaded', message: 'busy', scope: 'all', retryAfterS: 1 })).toEqual({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { error: 'busy', scope: 'all' },
    });
  });

  it('every failure has a string error in every API group', () => {
    const failures: Failure[] = [
      limited,
      { kind: 'missing_key' },
      { kind: 'unknown_key' },
      { kind: 'plan_gate', tier: 'free', upgradeUrl, status: 402 },
      { kind: 'bad_parameter', message: 'x', fields: { max_rank: 7 } },
      { kind: 'bad_body', message: 'x' },
      { kind: 'body_too_large', limitBytes: 5 },
      { kind: 'bad_encoding' },
      { kind: 'not_found', hint: 'y' },
      { kind: 'method_not_allowed', allow: ['GET'] },
      { kind: 'upstream', retryAfterS: 1 },
      { kind: 'overloaded', message: 'busy', scope: 'all', retryAfterS: 1 },
      { kind: 'internal' },
    ];
    for (const apiGroup of apiGroups) {
      for (const failure of failures) {
        const rendered = renderFailure(apiGroup, failure);
        expect(rendered.body.error.length).toBeGreaterThan(0);
        expect(rendered.status).toBeGreaterThanOrEqual(400);
      }
    }
  });
});
