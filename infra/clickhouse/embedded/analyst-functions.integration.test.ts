import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { startTestClickHouse, type TestClickHouse } from '../testing.js';
import { readAnalystFunctions } from './analyst-functions.js';
import { DEFAULT_ANALYST_LIMITS } from './analyst-profile.js';

const owner = { user: 'owner', password: 'only for the owner' };
let ch: TestClickHouse;
beforeAll(async () => {
  const analyst = { password: undefined, database: 'market', concurrency: 1, limits: DEFAULT_ANALYST_LIMITS };
  ch = await startTestClickHouse({ owners: [owner], analyst });
});
afterAll(() => ch.stop());

/** Code of the error, and the text of the response. */
async function sendQuery(query: string, params: Record<string, string> = {}) {
  const response = await fetch(`${ch.url}/?${new URLSearchParams(params)}`, { method: 'POST', body: query });
  return { code: response.headers.get('x-clickhouse-exception-code'), text: await response.text() };
}

/** Each takes far longer than its time limit within one row, or within one block of rows. */
const UNBOUNDED: readonly (readonly [name: string, call: string])[] = [
  ['editDistance', "editDistance('ab', 'ba')"],
  ['editDistanceUTF8', "editDistanceUTF8('ab', 'ba')"],
  ['levenshteinDistance', "levenshteinDistance('ab', 'ba')"],
  ['LevenshteinDistance', "LevenshteinDistance('ab', 'ba')"],
  ['levenshteinDistanceUTF8', "levenshteinDistanceUTF8('ab', 'ba')"],
  ['damerauLevenshteinDistance', "damerauLevenshteinDistance('ab', 'ba')"],
  ['jaroSimilarity', "jaroSimilarity('ab', 'ba')"],
  ['jaroWinklerSimilarity', "jaroWinklerSimilarity('ab', 'ba')"],
  ['arrayLevenshteinDistance', 'arrayLevenshteinDistance([1], [2])'],
  ['arrayLevenshteinDistanceWeighted', 'arrayLevenshteinDistanceWeighted([1], [2], [1], [1])'],
  ['arraySimilarity', 'arraySimilarity([1], [2], [1], [1])'],
  ['arrayReduceInRanges', "arrayReduceInRanges('uniqExact', [(1, 1)], [1])"],
  ['polygonsIntersectionCartesian', 'polygonsIntersectionCartesian([[[(0., 0.)]]], [[[(0., 0.)]]])'],
  ['polygonsUnionSpherical', 'polygonsUnionSpherical([[[(0., 0.)]]], [[[(0., 0.)]]])'],
  ['polygonsWithinCartesian', 'polygonsWithinCartesian([[[(0., 0.)]]], [[[(0., 0.)]]])'],
  ['polygonsDistanceSpherical', 'polygonsDistanceSpherical([[[(0., 0.)]]], [[[(0., 0.)]]])'],
  ['geometryIntersectCartesian', 'geometryIntersectCartesian((0., 0.), (0., 0.))'],
  ['kolmogorovSmirnovTest', "kolmogorovSmirnovTest('two-sided', 'exact')(1., 0)"],
  ['kolmogorovSmirnovTestIf', "kolmogorovSmirnovTestIf('two-sided', 'exact')(1., 0, 1)"],
  ['JSON_QUERY', "JSON_QUERY('{}', '$.a')"],
  ['JSON_VALUE', "JSON_VALUE('{}', '$.a')"],
  ['JSON_EXISTS', "JSON_EXISTS('{}', '$.a')"],
  ['extractTextFromHTML', "extractTextFromHTML('<a>')"],
  ['HMAC', "HMAC('sha256', 'a', 'b')"],
];

describe('functions that go around the time limit', () => {
  test.each(UNBOUNDED)('%s is rejected', async (name, call) => {
    const { code, text } = await sendQuery(`SELECT ${call}`);
    expect([code, text]).toEqual(['497', expect.stringContaining(`Function '${name}' is not available.`)]);
  });

  it('are rejected by their names in higher-order functions and as aggregate functions in texts', async () => {
    const rejected = [
      "SELECT arrayMap(editDistance, ['a'], ['b'])",
      "SELECT arrayMap(`arrayLevenshteinDistance`, [['a']], [['b']])",
      "SELECT arrayReduce('kolmogorovSmirnovTest(''two-sided'', ''exact'')', [1., 2.], [0, 1])",
      "SELECT arrayReduce('\\x6bolmogorovSmirnovTest', [1., 2.], [0, 1])",
      "SELECT arrayReduce('kolmogorovSmirnovTestIf', [1., 2.], [0, 1], [1, 1])",
      "SELECT arrayReduce(concat('kolmogorov', 'SmirnovTest'), [1., 2.], [0, 1])",
      "SELECT arrayReduce('`kolmogorovSmirnovTest`', [1., 2.], [0, 1])",
      "SELECT initializeAggregation('kolmogorovSmirnovTestState', 1., 0)",
      "WITH 'kolmogorovSmirnovTest' AS name SELECT arrayReduce(name, [1., 2.], [0, 1])",
    ];
    for (const query of rejected) expect([query, (await sendQuery(query)).code]).toEqual([query, '497']);
    const name = { param_name: 'kolmogorovSmirnovTest' };
    expect((await sendQuery('SELECT arrayReduce({name:String}, [1., 2.], [0, 1])', name)).code).toBe('497');
  });

  it('leave aggregate functions that are named in texts, and functions on text and arrays', async () => {
    for (const [query, result] of [
      ["SELECT arrayReduce('sum', [1, 2])", '3'],
      ["SELECT arrayReduce('sumIf', [1, 2], [0, 1])", '2'],
      ["SELECT arrayReduce('quantileExact(0.5)' AS name, [1, 2, 3])", '2'],
      ["SELECT finalizeAggregation(initializeAggregation('sumState', 7))", '7'],
      [
        "SELECT hasAny(['a', 'b'], ['b']), replaceRegexpAll('a-b-c', '-', ''), ngramDistance('abcd', 'abcd')",
        '1\tabc\t0',
      ],
    ] as const)
      expect([query, (await sendQuery(query)).text]).toEqual([query, `${result}\n`]);
  });

  it('are rejected under every name that the engine has for them', async () => {
    const client = await ch.connect();
    const names = await client.query<{ name: string }>(
      `SELECT name FROM system.functions
      WHERE arrayExists(part -> position(lower(concat(name, ' ', alias_to)), part) > 0,
        ['levenshtein', 'editdistance', 'jaro', 'arraysimilarity', 'polygons', 'geometryintersect', 'kolmogorov']) ORDER BY name`,
    );
    expect(names.length).toBeGreaterThan(22);
    for (const { name } of names) {
      const { code, text } = await sendQuery(`SELECT ${name}()`);
      expect([name, code, text]).toEqual([
        name,
        '497',
        expect.stringContaining(`Function '${name}' is not available.`),
      ]);
    }
  });
});

describe('readAnalystFunctions', () => {
  /** An engine with functions that this version does not have. */
  const later = (rows: readonly (readonly [name: string, alias: string, categories: string])[]) => ({
    queryText: (sql: string) =>
      Promise.resolve(
        sql.includes('combinators')
          ? 'If\n'
          : rows.map(([name, alias_to, categories]) => `${JSON.stringify({ name, alias_to, categories })}\n`).join(''),
      ),
  });

  it('forbids new functions of the families that go around the time limit, and their aliases', async () => {
    const { allowed, forbidden } = await readAnalystFunctions(
      later([
        ['lower', '', 'String'],
        ['lcase', 'lower', ''],
        ['levenshteinDistanceRatio', '', 'String'],
        ['weightedEditDistance', '', 'String'],
        ['jaroDistance', '', 'Distance'],
        ['arraySimilarityWeighted', '', 'Arrays'],
        ['closeness', 'weightedEditDistance', ''],
        ['polygonsTouchCartesian', '', 'Geo Polygon'],
      ]),
    );
    const names = [
      'closeness',
      'jarodistance',
      'levenshteindistanceratio',
      'polygonstouchcartesian',
      'weightededitdistance',
    ];
    expect([...forbidden].sort()).toEqual(['arraysimilarityweighted', ...names]);
    expect([...forbidden].filter((name) => allowed.has(name))).toEqual([]);
    expect([allowed.has('lower'), allowed.has('lcase')]).toEqual([true, true]);
  });
});
