import { describe, expect, it } from 'vitest';
import { failureOfEngine, readEngineError } from './engine-error.js';

describe('readEngineError', () => {
  it('takes code and message, without the version of the server', () => {
    const text =
      'Code: 62. DB::Exception: Syntax error: failed at position 1 (SELEC) (line 1, col 1): SELEC 1. (SYNTAX_ERROR) (version 26.7.2.1 (official build))\n';
    expect(readEngineError(text)).toEqual({
      code: 62,
      message: 'Syntax error: failed at position 1 (SELEC) (line 1, col 1): SELEC 1. (SYNTAX_ERROR)',
    });
  });

  it('takes linear time for a text of blanks', () => {
    expect(readEngineError(`Code: 395. DB::Exception: a${' '.repeat(3_000_000)}b`).message).toHaveLength(4_000);
  });

  it('bounds the text and accepts one without a code', () => {
    expect(readEngineError('x'.repeat(9_000))).toEqual({ code: 1002, message: 'x'.repeat(4_000) });
  });
});

describe('failureOfEngine', () => {
  it.each([
    [62, 'rejected_statement'],
    [159, 'rejected_statement'],
    [164, 'rejected_statement'],
    [241, 'rejected_statement'],
    [497, 'rejected_statement'],
    [202, 'overloaded'],
    [201, 'overloaded'],
    [210, 'upstream'],
    [516, 'upstream'],
  ])('code %i is %s', (code, kind) => {
    expect(failureOfEngine(`Code: ${code}. DB::Exception: Text. (NAME)`).failure.kind).toBe(kind);
  });

  it('does not pass on the text of faults and of rejected credentials', () => {
    for (const code of [74, 193, 516, 1002])
      expect(JSON.stringify(failureOfEngine(`Code: ${code}. DB::Exception: SECRET (X)`).failure)).not.toContain(
        'SECRET',
      );
  });
});
