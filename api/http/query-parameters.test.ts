import { expect, it } from 'vitest';
import { z } from 'zod';
import { renderFailure } from '../errors/error-formats.js';
import { ApiError } from '../errors/failure.js';
import { readQueryTexts, rejectUnknownParameters, validateAliases } from './query-parameters.js';

const names = {
  schema: z.object({
    start: z.string().transform(Number).optional(),
    limit: z.string().optional(),
  }),
  aliases: { start_time: 'start', after: 'start' },
};
const query = (text: string) => new URLSearchParams(text);
const failureBody = (act: () => unknown, apiGroup: 'v1' | 'v2' | 'v2x' | 'v3' | 'clobv2' | 'root' = 'v3'): unknown => {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, body } = renderFailure(apiGroup, error.failure);
    return [status, body];
  }
};
const rejectionOf = (text: string, apiGroup?: 'v1' | 'v2' | 'v2x' | 'v3' | 'clobv2' | 'root') =>
  failureBody(() => rejectUnknownParameters(names, query(text)), apiGroup);

it('rejectUnknownParameters accepts declared names, aliases and the key parameter', () => {
  expect(rejectionOf('start=1&limit=2&start_time=1&after=1&key=abc')).toBeUndefined();
  expect(rejectionOf('')).toBeUndefined();
  expect(failureBody(() => rejectUnknownParameters({ schema: null, aliases: {} }, query('key=abc')))).toBeUndefined();
});

it.each([
  ['v1', "Unknown query parameter 'limt'. Did you mean 'limit'?"],
  ['root', "Unknown query parameter 'limt'. Did you mean 'limit'?"],
  ['v2', "Unknown query parameter 'limt'. Did you mean 'limit'?"],
  ['v2x', "Unknown query parameter 'limt'. Did you mean 'limit'?"],
  ['v3', "unknown query parameter 'limt': did you mean 'limit'?"],
  ['clobv2', "unknown query parameter 'limt': did you mean 'limit'?"],
] as const)('suggests the nearest name in the error format of %s', (apiGroup, error) =>
  expect(rejectionOf('limt=1', apiGroup)).toEqual([400, { error }]),
);

it('rejectUnknownParameters suggests aliases and the key parameter too', () => {
  expect(rejectionOf('start_tim=1')).toEqual([
    400,
    { error: "unknown query parameter 'start_tim': did you mean 'start_time'?" },
  ]);
  expect(rejectionOf('kei=1')).toEqual([400, { error: "unknown query parameter 'kei': did you mean 'key'?" }]);
});

it('rejectUnknownParameters lists the accepted names when none is near, and says when there are none', () => {
  expect(rejectionOf('zzz=1')).toEqual([400, { error: "unknown query parameter 'zzz': use start, limit" }]);
  expect(failureBody(() => rejectUnknownParameters({ schema: null, aliases: {} }, query('zzz')))).toEqual([
    400,
    { error: "unknown query parameter 'zzz': this endpoint takes none" },
  ]);
});

it('rejectUnknownParameters truncates a long name and accepts no names of Object.prototype', () => {
  expect(rejectionOf(`${'x'.repeat(5_000)}=1`, 'v1')).toEqual([
    400,
    { error: `Unknown query parameter '${'x'.repeat(80)}'. Use start, limit` },
  ]);
  for (const name of ['__proto__', 'constructor', 'toString', '']) expect(rejectionOf(`${name}=1`)).toHaveLength(2);
});

const readTexts = (text: string) => failureBody(() => readQueryTexts(names, query(text)).values);

it('readQueryTexts stores the value of an alias under its parameter', () => {
  expect(readTexts('start=5&limit=2')).toEqual({ start: '5', limit: '2' });
  expect(readTexts('after=5')).toEqual({ start: '5' });
  expect(readTexts('after=5&start_time=5&start=5')).toEqual({ start: '5' });
  expect(readTexts('after=5&start=005')).toEqual({ start: '005' });
});

it('readQueryTexts reports which alias was used', () => {
  expect(readQueryTexts(names, query('after=5&limit=1')).usedAliases).toEqual({ start: 'after' });
  expect(readQueryTexts(names, query('start=5&after=5')).usedAliases).toEqual({});
});

it('readQueryTexts rejects a repeated parameter and aliases of one parameter with different values', () => {
  expect(readTexts('limit=1&limit=1')).toEqual([400, { error: "Query parameter 'limit' must be given once" }]);
  expect(readTexts('after=1&after=1')).toEqual([400, { error: "Query parameter 'after' must be given once" }]);
  expect(readTexts('start=5&after=6')).toEqual([
    400,
    { error: "Query parameters 'start' and 'after' are the same and differ: give one" },
  ]);
});

it('validateAliases rejects an alias of an undeclared parameter and one that hides a parameter', () => {
  expect(() => validateAliases({ schema: null, aliases: { a: 'b' } })).toThrow('Alias a of b is wrong');
  expect(() => validateAliases({ schema: names.schema, aliases: { limit: 'start' } })).toThrow();
});
