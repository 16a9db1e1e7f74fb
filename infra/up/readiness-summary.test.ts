import { describe, expect, it } from 'vitest';
import type { Readiness } from '../telemetry/readiness.js';
import { fatalMessage, parseReadiness, summarizeReadiness } from './readiness-summary.js';

describe('summarizeReadiness', () => {
  it('tells what is wrong from what is only loading', () => {
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
      failing: ['processors: clickhouse: connect ECONNREFUSED', 'stream-gateway: does not answer'],
      loading: ['ingest: chain: history, 12 %'],
      down: [],
    });
  });

  it('names what stays down, with its reason', () => {
    expect(summarizeReadiness(new Map(), new Map([['ingest', 'set POLYGON_RPC_URL']])).down).toEqual([
      'ingest: set POLYGON_RPC_URL',
    ]);
  });
});

describe('parseReadiness', () => {
  it('takes only what is an answer of /readyz', () => {
    expect(parseReadiness('{"ready":true,"checks":{}}')).toEqual({ ready: true, checks: {} });
    for (const body of ['', 'ok', 'null', '{"error":"Not found."}']) expect(parseReadiness(body)).toBeNull();
  });
});

describe('fatalMessage', () => {
  it('is the message of a fatal log line alone', () => {
    expect(fatalMessage('{"level":"fatal","msg":"wrong network"}')).toBe('wrong network');
    for (const line of ['{"level":"error","msg":"a"}', '{"level":"fatal"}', '{"level', 'fatal', '']) {
      expect(fatalMessage(line)).toBeNull();
    }
  });
});
