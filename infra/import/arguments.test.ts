import { describe, expect, it } from 'vitest';
import { UsageError } from '../command-line.js';
import { parseImportArguments } from './arguments.js';

describe('arguments of an import', () => {
  it('are the directory of the files and that of the result', () => {
    expect(parseImportArguments(['export'])).toEqual({ folder: 'export', out: 'imported' });
    expect(parseImportArguments(['/x', '--out', '/y'])).toEqual({ folder: '/x', out: '/y' });
  });

  it.each([
    [[], /^Name one directory/],
    [['a', 'b'], /^Name one directory/],
    [['a', '--from', '2026-03-22'], /--from/],
  ])('%j are rejected with what is possible', (args, message) => {
    expect(() => parseImportArguments(args)).toThrow(UsageError);
    expect(() => parseImportArguments(args)).toThrow(message);
  });
});
