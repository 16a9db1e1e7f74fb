import { describe, expect, it } from 'vitest';
import type { Readiness } from '../telemetry/readiness.js';
import { fatalMessage, parseReadiness, summarizeReadiness } from './readiness-summary.js';

describe('summarizeReadiness', () => {
  it('separates failing checks from loading ones', () => {
    const ready = { ready: true, checks: { log: { ok: true } } };
    const ingest = {
      ready: false,
      checks: { log: { ok: true }, chain: { ok: false, loading: true as const, detail: 'history, 12 %' } },
    };
    const processors = { ready: false, checks: { clickhouse: { ok: false, detail: 'connect ECONNREFUSED' } } };
    expect(
      summarizeReadiness(
        new Map<string, Readiness | null>([
          ['api', ready],
          ['ingest', ingest],
          ['processors', processors],
          ['stream-gateway', null],
        ]),
      ),
    ).toEqual({
      failing: ['processors: clickhouse: connect ECONNREFUSED', 'stream-gateway: does not respond'],
      loading: ['ingest: chain: history, 12 %'],
      down: [],
    });
  });

  it('names the processes that stay down, with the reason', () => {
    expect(summarizeReadiness(new Map(), new Map([['ingest', 'set POLYGON_RPC_URL']])).down).toEqual([
      'ingest: set POLYGON_RPC_URL',
    ]);
  });
});

describe('parseReadiness', () => {
  it('returns null for a body that is not a /readyz response', () => {
    expect(parseReadiness('{"ready":true,"checks":{}}')).toEqual({ ready: true, checks: {} });
    for (const body of ['', 'ok', 'null', '{"error":"Not found."}']) expect(parseReadiness(body)).toBeNull();
  });
});

describe('fatalMessage', () => {
  it('returns the message of a fatal log line, null for any other line', () => {
    expect(fatalMessage('{"level":"fatal","msg":"wrong network"}')).toBe('wrong network');
    for (const line of ['{"level":"error","msg":"a"}', '{"level":"fatal"}', '{"level', 'fatal', '']) {
      expect(fatalMessage(line)).toBeNull();
    }
  });
});
