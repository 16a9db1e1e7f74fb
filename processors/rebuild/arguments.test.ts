import { describe, expect, it } from 'vitest';
import { FatalError } from '../../infra/errors.js';
import { parseRebuildArguments } from './arguments.js';

describe('arguments of a rebuild', () => {
  it('are a table, or all, and --check', () => {
    expect(parseRebuildArguments(['all', '--check']).checkOnly).toBe(true);
    const { tasks, checkOnly } = parseRebuildArguments(['fills_by_wallet']);
    expect([tasks.map(({ definition }) => definition.name), checkOnly]).toEqual([['fills'], false]);
  });

  it.each([
    [[], /^No table was named\. Use: npm run rebuild -- <table\|all> \[--check\]\nTables: fills, /],
    [['fils'], /^There is no table "fils" to rebuild\. Use: /],
    [['all', '--chek'], /^Unknown option --chek; the only one is --check$/],
    [['fills', 'ticks'], /^One table or all, not fills ticks$/],
  ])('%j are rejected with what is possible', (args, message) => {
    expect(() => parseRebuildArguments(args)).toThrow(FatalError);
    expect(() => parseRebuildArguments(args)).toThrow(message);
  });
});
