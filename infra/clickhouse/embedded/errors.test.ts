import { describe, expect, it } from 'vitest';
import { parseEngineError } from './errors.js';

const facts = (text: string, hide: readonly string[] = []) => {
  const { code, codeName, text: message } = parseEngineError(new Error(text), hide);
  return [code, codeName, message];
};

describe('parseEngineError', () => {
  it('takes code, name and text, without the version', () => {
    expect(
      facts('Code: 62. DB::Exception: Syntax error (line 1). (SYNTAX_ERROR) (version 26.7.2.1 (official build))\n'),
    ).toEqual([62, 'SYNTAX_ERROR', 'Syntax error (line 1).']);
    expect(facts('Code: 395. DB::Exception: no. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO).')).toEqual([
      395,
      'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO',
      'no.',
    ]);
    expect(facts('broken')).toEqual([1002, 'UNKNOWN_EXCEPTION', 'broken']);
  });

  it('unwraps the copy that an INSERT from a file adds, and hides what this server added', () => {
    const inner =
      'Code: 27. DB::Exception: Cannot parse input: (in file/uri /data/spool-7): (at row 2). (CANNOT_PARSE_INPUT_ASSERTION_FAILED)';
    expect(facts(`Code: 27. DB::Exception: ${inner} (CANNOT_PARSE_INPUT_ASSERTION_FAILED)`)).toEqual([
      27,
      'CANNOT_PARSE_INPUT_ASSERTION_FAILED',
      'Cannot parse input:: (at row 2).',
    ]);
    expect(facts("Code: 62. DB::Exception: at INTO OUTFILE 'x' (SYNTAX_ERROR)", [" INTO OUTFILE 'x'"])).toEqual([
      62,
      'SYNTAX_ERROR',
      'at',
    ]);
  });

  it.each([
    ['blanks', ' '.repeat(3_000_000)],
    ['names of files', `${' (in file/uri '.repeat(200_000)})`],
    ['versions', '(A) (version 1 ('.repeat(200_000)],
    ['errors', 'Code: 1. DB::Exception: '.repeat(100_000)],
  ])('shortens a text of %s in linear time', (_, part) => {
    const { code, codeName, text } = parseEngineError(
      new Error(`Code: 395. DB::Exception: a${part}b: while executing. (NAME)`),
    );
    expect([code === 395 || code === 1, codeName]).toEqual([true, 'NAME']);
    expect(text.length).toBeLessThan(70_000);
  });
});
