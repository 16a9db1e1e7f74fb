import { expect, it } from 'vitest';
import { z } from 'zod';
import { renderFailure } from '../errors/dialects.js';
import { ApiError } from '../errors/failure.js';
import { holdAliases, pickQuery, refuseUnknown } from './query.js';

const names = {
  schema: z.object({
    start: z.string().transform(Number).optional(),
    limit: z.string().optional(),
  }),
  aliases: { start_time: 'start', after: 'start' },
};
const query = (text: string) => new URLSearchParams(text);
const refusal = (act: () => unknown, family: 'v1' | 'v2' | 'v2x' | 'v3' | 'clobv2' | 'root' = 'v3'): unknown => {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, body } = renderFailure(family, error.failure);
    return [status, body];
  }
};
const told = (text: string, family?: 'v1' | 'v2' | 'v2x' | 'v3' | 'clobv2' | 'root') =>
  refusal(() => refuseUnknown(names, query(text)), family);

it('lets declared names, aliases and the key carrier pass', () => {
  expect(told('start=1&limit=2&start_time=1&after=1&key=abc')).toBeUndefined();
  expect(told('')).toBeUndefined();
  expect(refusal(() => refuseUnknown({ schema: null, aliases: {} }, query('key=abc')))).toBeUndefined();
});

it.each([
  ['v1', "Unknown query parameter 'limt'. Did you mean 'limit'?"],
  ['root', "Unknown query parameter 'limt'. Did you mean 'limit'?"],
  ['v2', "Unknown query parameter 'limt'. Did you mean 'limit'?"],
  ['v2x', "Unknown query parameter 'limt'. Did you mean 'limit'?"],
  ['v3', "unknown query parameter 'limt': did you mean 'limit'?"],
  ['clobv2', "unknown query parameter 'limt': did you mean 'limit'?"],
] as const)('names the nearest one in the words of %s', (family, error) =>
  expect(told('limt=1', family)).toEqual([400, { error }]),
);

it('names aliases and the key carrier as near ones too', () => {
  expect(told('start_tim=1')).toEqual([
    400,
    { error: "unknown query parameter 'start_tim': did you mean 'start_time'?" },
  ]);
  expect(told('kei=1')).toEqual([400, { error: "unknown query parameter 'kei': did you mean 'key'?" }]);
});

it('lists the known ones when none is near, and says when there are none', () => {
  expect(told('zzz=1')).toEqual([400, { error: "unknown query parameter 'zzz': use start, limit" }]);
  expect(refusal(() => refuseUnknown({ schema: null, aliases: {} }, query('zzz')))).toEqual([
    400,
    { error: "unknown query parameter 'zzz': this endpoint takes none" },
  ]);
});

it('shows the beginning of a long name only, and knows no names of objects', () => {
  expect(told(`${'x'.repeat(5_000)}=1`, 'v1')).toEqual([
    400,
    { error: `Unknown query parameter '${'x'.repeat(80)}'. Use start, limit` },
  ]);
  for (const name of ['__proto__', 'constructor', 'toString', '']) expect(told(`${name}=1`)).toHaveLength(2);
});

const picked = (text: string) => refusal(() => pickQuery(names, query(text)).values);

it('puts the text of an alias under the name it stands for', () => {
  expect(picked('start=5&limit=2')).toEqual({ start: '5', limit: '2' });
  expect(picked('after=5')).toEqual({ start: '5' });
  expect(picked('after=5&start_time=5&start=5')).toEqual({ start: '5' });
  expect(picked('after=5&start=005')).toEqual({ start: '005' });
});

it('knows which alias a text came by', () => {
  expect(pickQuery(names, query('after=5&limit=1')).cameBy).toEqual({ start: 'after' });
  expect(pickQuery(names, query('start=5&after=5')).cameBy).toEqual({});
});

it('refuses a parameter given twice, and two names of one with different values', () => {
  expect(picked('limit=1&limit=1')).toEqual([400, { error: "Query parameter 'limit' must be given once" }]);
  expect(picked('after=1&after=1')).toEqual([400, { error: "Query parameter 'after' must be given once" }]);
  expect(picked('start=5&after=6')).toEqual([
    400,
    { error: "Query parameters 'start' and 'after' are the same and differ: give one" },
  ]);
});

it('refuses a route whose alias stands for nothing or hides a parameter', () => {
  expect(() => holdAliases({ schema: null, aliases: { a: 'b' } })).toThrow('Alias a of b is wrong');
  expect(() => holdAliases({ schema: names.schema, aliases: { limit: 'start' } })).toThrow();
});
