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

/** Schemas of all successful responses in the OpenAPI document. */
function responseSchemas(): readonly { readonly path: string; readonly schema: Schema }[] {
  const paths = api.service.openApi.paths as Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: Schema }> }> }>
  >;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ responses }) =>
      Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([, { content = {} }]) => Object.values(content).map(({ schema }) => ({ path, schema }))),
    ),
  );
}
/** Fields of all successful responses. */
const responseFields = (): readonly Field[] => responseSchemas().flatMap(({ path, schema }) => fieldsOf(schema, path));

const isBoolean = ({ schema }: Field): boolean => schema.type === 'boolean';
/** Fields about the source and time of a price, which are not prices. */
const ABOUT_PRICES = /source|updated/i;
const namedLikePrice = (field: Field): boolean =>
  (/price|vwap|^avg|entry|prob/i.test(field.name) || ['open', 'high', 'low', 'close'].includes(field.name)) &&
  !ABOUT_PRICES.test(field.name) &&
  field.name !== 'avg_per_day' &&
  !isBoolean(field);
/** Parameters of pagination: direction in time. */
const isPaging = ({ schema }: Field): boolean => schema.enum?.includes('before') === true;
const namedLikeSide = (field: Field): boolean =>
  /(^|_)(buys?|sells?)(_|$)|^side$|^direction$/.test(field.name) && !isPaging(field);

const undescribed = (fields: readonly Field[], words: RegExp) =>
  fields
    .filter(({ schema }) => !words.test(schema.description ?? ''))
    .map(({ place, schema }) => [place, schema.description ?? null]);

it('every price field describes how the price is computed', () => {
  const fields = responseFields().filter(namedLikePrice);
  expect(fields.length).toBeGreaterThan(90);
  expect(undescribed(fields, /settlement|middle|fills?\b|tick|paid|cost/i)).toEqual([]);
});

/** Descriptions of prices that are not current prices: of a fill, a bucket, an average or a payout. They need no source and time. */
const NOT_CURRENT =
  /of this fill|per fill|average|bucket|^Mean fill price|^Oracle spot|^Spot price|^Settlement: USD|tick/i;
const SOURCE = /^(price_?)?sources?$|^prices?_?sources?$/i;
const UPDATED = /^(prices?_?)?updated_?at$/i;
/** Objects of a schema with the names of their fields. */
function objectsOf(
  schema: Schema,
  place: string,
): readonly { place: string; properties: Readonly<Record<string, Schema>> }[] {
  const { properties, items, additionalProperties: others } = schema;
  return [
    ...(properties === undefined ? [] : [{ place, properties }]),
    ...Object.entries(properties ?? {}).flatMap(([name, inner]) => objectsOf(inner, `${place}.${name}`)),
    ...(items === undefined ? [] : objectsOf(items, `${place}[]`)),
    ...(typeof others === 'object' ? objectsOf(others, `${place}{}`) : []),
    ...branches(schema).flatMap((branch) => objectsOf(branch, place)),
  ];
}
const pricesWithoutSource = (objects: ReturnType<typeof objectsOf>) =>
  objects.flatMap(({ place, properties }) => {
    const names = Object.keys(properties);
    const priced = Object.entries(properties).filter(
      ([name, schema]) => namedLikePrice({ place, name, schema }) && !NOT_CURRENT.test(schema.description ?? ''),
    );
    const hasSource = names.some((name) => SOURCE.test(name)) && names.some((name) => UPDATED.test(name));
    return hasSource ? [] : priced.map(([name]) => `${place}.${name}`);
  });

it('every current price has its source and time in the same object', () => {
  const objects = responseSchemas().flatMap(({ path, schema }) => objectsOf(schema, path));
  const now = objects.flatMap(({ properties }) =>
    Object.values(properties).filter(({ description }) => /^Current price|mid of best bid/.test(description ?? '')),
  );
  expect(now.length).toBeGreaterThan(12);
  expect(pricesWithoutSource(objects)).toEqual([]);
  const bare: Schema = { properties: { cur_price: { type: 'number', description: 'Current price.' } } };
  expect(pricesWithoutSource(objectsOf({ items: bare }, ''))).toEqual(['[].cur_price']);
});

it('every average price of a position describes which average it is', () => {
  const fields = responseFields().filter(
    ({ name, place }) => /^avg_?price$/i.test(name) && /positions|data\[/.test(place),
  );
  expect(fields.length).toBeGreaterThan(8);
  expect(undescribed(fields, /with shares.*without shares/i)).toEqual([]);
});

it('every field of buys, sells, a side or a direction describes whose it is', () => {
  const fields = responseFields().filter(namedLikeSide);
  expect(fields.length).toBeGreaterThan(45);
  expect(undescribed(fields, /maker|wallet/i)).toEqual([]);
});

it('fieldsOf finds fields in lists, unions and maps; undescribed finds those without the words', () => {
  const price: Schema = { type: 'number' };
  const inner: Schema = { properties: { price } };
  const schema: Schema = { anyOf: [{ items: inner }, { additionalProperties: inner }] };
  const found = fieldsOf(schema, '').filter(namedLikePrice);
  expect(found.map(({ place }) => place)).toEqual(['[].price', '{}.price']);
  expect(undescribed(found, /fill/)).toHaveLength(2);
});

it('every property of a request or response and every parameter is described', () => {
  interface Operation {
    readonly parameters: readonly { readonly name: string; readonly description?: string }[];
    readonly requestBody?: { readonly content: Record<string, { schema: Schema }> };
    readonly responses: Record<string, { readonly content?: Record<string, { schema: Schema }> }>;
  }
  const paths = api.service.openApi.paths as unknown as Record<string, Record<string, Operation>>;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation })),
  );
  const fields = operations.flatMap(({ path, operation: { requestBody, responses } }) =>
    [requestBody, ...Object.values(responses)].flatMap((part) =>
      Object.values(part?.content ?? {}).flatMap(({ schema }) => fieldsOf(schema, path)),
    ),
  );
  expect(fields.length).toBeGreaterThan(4_000);
  expect([...new Set(undescribed(fields, /\w{2}/).map(([place]) => place))]).toEqual([]);
  const parameters = operations.flatMap(({ path, operation }) =>
    operation.parameters.filter(({ description }) => !description).map(({ name }) => `${path} ${name}`),
  );
  expect(parameters).toEqual([]);
});

it.each([
  ['/v1/crypto/ticks', '.ticks[].data.timestamp', 'Time of the tick, Unix seconds.'],
  ['/v1/wallets/{wallet}/summary', '.positions', 'Number of positions, closed ones included.'],
  ['/clobv2/volume/hourly', '.buckets', 'Hours with trades, newest first.'],
  ...['{token_id}', 'condition/{condition_id}', 'slug/{slug}'].flatMap((market) => [
    [`/v3/markets/${market}/positions`, '.data[].realized_pnl', expect.stringContaining('USD in base units')],
    [`/v3/markets/${market}/positions`, '.data[].total_bought', expect.stringContaining('base units')],
  ]),
  ...['search', 'trending', 'ending', '{token_id}'].map((list) => [
    `/v3/markets/${list}`,
    '.data[].volume_all_time',
    'Volume that the catalogue of the venue published, USD, decimal text; 0 if it published none.',
  ]),
])('the description of %s %s states what the field has there', (path, place, description) => {
  const found = responseFields().filter((field) => field.place === `${path}${place}`);
  expect(found.map(({ schema }) => schema.description)).toEqual([description]);
});

it('OpenAPI names the complete list where a list of positions of a wallet is cut', () => {
  const { paths } = api.service.openApi as unknown as { paths: Record<string, { get: { description: string } }> };
  expect(paths['/v2/onchain/positions']?.get.description).toContain('/v3/wallets/{address}/positions');
});
