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
const rejectionOf = (text: string, family?: 'v1' | 'v2' | 'v2x' | 'v3' | 'clobv2' | 'root') =>
  failureBody(() => rejectUnknownParameters(names, query(text)), family);

it('lets declared names, aliases and the key carrier pass', () => {
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
] as const)('names the nearest one in the words of %s', (family, error) =>
  expect(rejectionOf('limt=1', family)).toEqual([400, { error }]),
);

it('names aliases and the key carrier as near ones too', () => {
  expect(rejectionOf('start_tim=1')).toEqual([
    400,
    { error: "unknown query parameter 'start_tim': did you mean 'start_time'?" },
  ]);
  expect(rejectionOf('kei=1')).toEqual([400, { error: "unknown query parameter 'kei': did you mean 'key'?" }]);
});

it('lists the known ones when none is near, and says when there are none', () => {
  expect(rejectionOf('zzz=1')).toEqual([400, { error: "unknown query parameter 'zzz': use start, limit" }]);
  expect(failureBody(() => rejectUnknownParameters({ schema: null, aliases: {} }, query('zzz')))).toEqual([
    400,
    { error: "unknown query parameter 'zzz': this endpoint takes none" },
  ]);
});

it('shows the beginning of a long name only, and knows no names of objects', () => {
  expect(rejectionOf(`${'x'.repeat(5_000)}=1`, 'v1')).toEqual([
    400,
    { error: `Unknown query parameter '${'x'.repeat(80)}'. Use start, limit` },
  ]);
  for (const name of ['__proto__', 'constructor', 'toString', '']) expect(rejectionOf(`${name}=1`)).toHaveLength(2);
});

const readTexts = (text: string) => failureBody(() => readQueryTexts(names, query(text)).values);

it('puts the text of an alias under the name it stands for', () => {
  expect(readTexts('start=5&limit=2')).toEqual({ start: '5', limit: '2' });
  expect(readTexts('after=5')).toEqual({ start: '5' });
  expect(readTexts('after=5&start_time=5&start=5')).toEqual({ start: '5' });
  expect(readTexts('after=5&start=005')).toEqual({ start: '005' });
});

it('knows which alias a text came by', () => {
  expect(readQueryTexts(names, query('after=5&limit=1')).usedAliases).toEqual({ start: 'after' });
  expect(readQueryTexts(names, query('start=5&after=5')).usedAliases).toEqual({});
});

it('refuses a parameter given twice, and two names of one with different values', () => {
  expect(readTexts('limit=1&limit=1')).toEqual([400, { error: "Query parameter 'limit' must be given once" }]);
  expect(readTexts('after=1&after=1')).toEqual([400, { error: "Query parameter 'after' must be given once" }]);
  expect(readTexts('start=5&after=6')).toEqual([
    400,
    { error: "Query parameters 'start' and 'after' are the same and differ: give one" },
  ]);
});

it('refuses a route whose alias stands for nothing or hides a parameter', () => {
  expect(() => validateAliases({ schema: null, aliases: { a: 'b' } })).toThrow('Alias a of b is wrong');
  expect(() => validateAliases({ schema: names.schema, aliases: { limit: 'start' } })).toThrow();
});
