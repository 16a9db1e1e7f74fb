import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createConsole, formatLogLine, progressBar } from './console.js';

describe('progressBar', () => {
  it('shows share, counts and rate', () => {
    expect(progressBar({ source: 'chain', done: 150_000, total: 300_000, unit: 'blocks', perSecond: 30_000 })).toBe(
      `[${'█'.repeat(14)}${'░'.repeat(14)}]  50 %  150,000 / 300,000 blocks  30,000/s`,
    );
  });
  it('counts without a total', () => {
    expect(progressBar({ source: 'catalog', done: 1200, total: null, unit: 'markets' })).toBe('1,200 markets');
  });
});

describe('formatLogLine', () => {
  it('puts time, message and fields on one line', () => {
    const line = '{"level":"warn","time":"2026-01-02T03:04:05.678Z","process":"api","port":8080,"msg":"listening"}';
    expect(formatLogLine(line)?.text).toBe('03:04:05 warn  listening port=8080');
  });
  it('adds the message of the error to a warning and the stack to an error', () => {
    const line = (level: string) =>
      JSON.stringify({ level, msg: 'failed', err: { message: 'timeout', stack: 'Error: timeout\n    at x' } });
    expect(formatLogLine(line('warn'))?.text).toBe('warn  failed reason=timeout');
    expect(formatLogLine(line('error'))?.text).toBe('ERROR failed\nError: timeout\n    at x');
  });
  it('returns null for a line that is not a log entry', () => {
    expect(formatLogLine('plain text')).toBeNull();
    expect(formatLogLine('{broken')).toBeNull();
    expect(formatLogLine('{"a":1}')).toBeNull();
  });
});

describe('createConsole', () => {
  it('prints a progress line per ten percent when the output is not a terminal', () => {
    const out = new PassThrough();
    const view = createConsole(out, ['ingest', 'api']);
    for (let done = 0; done <= 100; done++) {
      view.printProcessLine(
        'ingest',
        JSON.stringify({ level: 'info', progress: { source: 'chain', done, total: 100, unit: 'blocks' } }),
      );
    }
    view.printProcessLine('api', 'hello');
    const lines = String(out.read()).trim().split('\n');
    expect(lines).toHaveLength(12);
    expect(lines.at(-1)).toBe('api    | hello');
  });
});
