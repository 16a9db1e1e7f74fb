import { describe, expect, it } from 'vitest';
import type { Readiness } from '../telemetry/readiness.js';
import { parseReadiness, standingOf } from './progress.js';

describe('standingOf', () => {
  it('tells what is wrong from what is only loading', () => {
    const ready = { ready: true, checks: { log: { ok: true } } };
    const ingest = {
      ready: false,
      checks: { log: { ok: true }, chain: { ok: false, loading: true as const, detail: 'history, 12 %' } },
    };
    const processors = { ready: false, checks: { clickhouse: { ok: false, detail: 'connect ECONNREFUSED' } } };
    expect(
      standingOf(
        new Map<string, Readiness | null>([
          ['api', ready],
          ['ingest', ingest],
          ['processors', processors],
          ['stream-gateway', null],
        ]),
      ),
    ).toEqual({
      trouble: ['processors: clickhouse: connect ECONNREFUSED', 'stream-gateway: does not answer'],
      loading: ['ingest: chain: history, 12 %'],
    });
  });
});

describe('parseReadiness', () => {
  it('takes only what is an answer of /readyz', () => {
    expect(parseReadiness('{"ready":true,"checks":{}}')).toEqual({ ready: true, checks: {} });
    for (const body of ['', 'ok', 'null', '{"error":"Not found."}']) expect(parseReadiness(body)).toBeNull();
  });
});
