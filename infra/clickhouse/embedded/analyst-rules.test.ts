import { expect, it } from 'vitest';
import { type AnalystRules, checkSyntaxTree } from './analyst-rules.js';

const rules: AnalystRules = {
  database: 'market',
  functions: new Set(['e', 'cast', 'array']),
  tableFunctions: new Set(),
  forbiddenFunctions: new Set(),
  databases: new Set(['market']),
  combinators: [],
};
const select = (functions: readonly string[]) =>
  [
    'SelectWithUnionQuery (children 1)',
    ' ExpressionList (children 1)',
    '  SelectQuery (children 1)',
    '   ExpressionList (children 1)',
    ...functions,
  ].join('\n');
const call = (name: string, second = "Literal 'UInt64'") => [
  `    Function ${name} (children 1)`,
  '     ExpressionList (children 2)',
  '      Literal UInt64_1',
  `      ${second}`,
];

it('checks a syntax tree of hundreds of thousands of calls in linear time', () => {
  const names = ['e', 'CAST'];
  expect(() =>
    checkSyntaxTree(select(Array.from({ length: 100_000 }, (_, n) => call(names[n % 2]!)).flat()), rules),
  ).not.toThrow();
});

it('rejects a computed type and a forbidden function at any position', () => {
  const many = Array.from({ length: 50 }, () => call('e')).flat();
  expect(() => checkSyntaxTree(select([...many, ...call('CAST', 'Identifier x')]), rules)).toThrow(
    'must be written out',
  );
  expect(() => checkSyntaxTree(select([...many, ...call('file')]), rules)).toThrow("Function 'file' is not available");
});
