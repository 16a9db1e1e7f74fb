import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
}
interface Field {
  readonly place: string;
  readonly name: string;
  readonly schema: Schema;
}

let api: ApiHarness;
beforeAll(async () => {
  api = await startApi({ nowMs: 1_790_000_000_000 });
});
afterAll(() => api?.stop());

const branches = (schema: Schema): readonly Schema[] => [
  ...(schema.anyOf ?? []),
  ...(schema.oneOf ?? []),
  ...(schema.allOf ?? []),
];

function fieldsOf(schema: Schema, place: string): readonly Field[] {
  const { items, additionalProperties: others } = schema;
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
      { place: `${place}.${name}`, name, schema: inner },
      ...fieldsOf(inner, `${place}.${name}`),
    ]),
    ...(items === undefined ? [] : fieldsOf(items, `${place}[]`)),
    ...(typeof others === 'object' ? fieldsOf(others, `${place}{}`) : []),
    ...branches(schema).flatMap((branch) => fieldsOf(branch, place)),
  ];
}

/** Fields of every successful answer in the OpenAPI document. */
function answered(): readonly Field[] {
  const paths = api.service.openApi.paths as Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: Schema }> }> }>
  >;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ responses }) =>
      Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([, { content = {} }]) => Object.values(content).flatMap(({ schema }) => fieldsOf(schema, path))),
    ),
  );
}

const isBoolean = ({ schema }: Field): boolean => schema.type === 'boolean';
/** Where a price is from, or when, is described by its own words. */
const ABOUT_PRICES = /source|updated/i;
const namedLikePrice = (field: Field): boolean =>
  (/price|vwap|^avg|entry|prob/i.test(field.name) || ['open', 'high', 'low', 'close'].includes(field.name)) &&
  !ABOUT_PRICES.test(field.name) &&
  field.name !== 'avg_per_day' &&
  !isBoolean(field);
/** Of pages: which way they go in time. */
const isPaging = ({ schema }: Field): boolean => schema.enum?.includes('before') === true;
const namedLikeSide = (field: Field): boolean =>
  /(^|_)(buys?|sells?)(_|$)|^side$|^direction$/.test(field.name) && !isPaging(field);

const undescribed = (fields: readonly Field[], words: RegExp) =>
  fields
    .filter(({ schema }) => !words.test(schema.description ?? ''))
    .map(({ place, schema }) => [place, schema.description ?? null]);

it('every price field says how the price is made', () => {
  const fields = answered().filter(namedLikePrice);
  expect(fields.length).toBeGreaterThan(90);
  expect(undescribed(fields, /settlement|middle|fills?\b|tick|paid|cost/i)).toEqual([]);
});

it('every average of a position says which average it is', () => {
  const fields = answered().filter(({ name, place }) => /^avg_?price$/i.test(name) && /positions|data\[/.test(place));
  expect(fields.length).toBeGreaterThan(8);
  expect(undescribed(fields, /while shares are held.*afterwards/i)).toEqual([]);
});

it('every field of buys, sells, a side or a direction says whose it is', () => {
  const fields = answered().filter(namedLikeSide);
  expect(fields.length).toBeGreaterThan(45);
  expect(undescribed(fields, /maker|wallet/i)).toEqual([]);
});

it('finds fields in lists, choices and maps, and those without words', () => {
  const price: Schema = { type: 'number' };
  const inner: Schema = { properties: { price } };
  const schema: Schema = { anyOf: [{ items: inner }, { additionalProperties: inner }] };
  const found = fieldsOf(schema, '').filter(namedLikePrice);
  expect(found.map(({ place }) => place)).toEqual(['[].price', '{}.price']);
  expect(undescribed(found, /fill/)).toHaveLength(2);
});
