import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchedContracts } from '../../schemas/coverage/sources.js';
import { type ApiHarness, startApi } from '../support/api.js';

interface Entry {
  readonly source: string;
  readonly day: string;
  readonly state: string;
  readonly why: string;
  readonly records: number;
  readonly exchange_version: number | null;
}
interface Body {
  readonly from: string;
  readonly to: string;
  readonly count: number;
  readonly coverage: readonly Entry[];
}

const NOW = Date.UTC(2026, 2, 4, 12);
let api: ApiHarness;
let key: string;
const get = (query: string) => api.ok<Body>(`/v1/coverage${query}`, key);

beforeAll(async () => {
  api = await startApi({ nowMs: NOW });
  key = await api.key('enterprise');
  const { clickhouse } = api;
  // A block each minute of 1, 2 and half of 3 March, numbered from 100; every block with 2 logs and 1 record of exchange V3.
  await clickhouse.command(
    `INSERT INTO blocks (block_number, timestamp, _offset) SELECT 100 + number, toDateTime('2026-03-01 00:00:00', 'UTC') + number * 60, number FROM numbers(3600)`,
  );
  await clickhouse.command(
    `INSERT INTO block_logs SELECT block_number, timestamp, ['0xe3333700ca9d93003f00f0f71f8515005f6c00aa'], [2], [2], [1], _offset FROM blocks WHERE block_number >= 1540`,
  );
  // Two markets of 1 March, one of them updated on 3 March; its second token does not count.
  await clickhouse.command(
    `INSERT INTO token_quotes (token_id, condition_id, outcome_index, updated_at, _offset) VALUES
      (1, 'a', 0, '2026-03-01 10:00:00', 1), (2, 'a', 1, '2026-03-01 10:00:00', 1), (3, 'b', 0, '2026-03-01 11:00:00', 2), (3, 'b', 0, '2026-03-03 09:00:00', 3)`,
  );
});
afterAll(() => api.stop());

describe('GET /v1/coverage', () => {
  it('lists the days before today of every source, newest first', async () => {
    const body = await get('');
    expect(body).toMatchObject({ from: '2026-02-26', to: '2026-03-04', count: 7 * (watchedContracts.length + 3) });
    expect(body.coverage[0]).toMatchObject({ source: 'blocks', day: '2026-03-04', state: 'pending' });
    expect(body.coverage.at(-1)).toMatchObject({ source: 'order_book', day: '2026-02-26', state: 'missing' });
  });

  it('reports blocks whose logs an older version did not count per contract', async () => {
    const body = await get('?source=contract:exchange_v3&from=2026-03-01&to=2026-03-03');
    expect(
      body.coverage.map(({ day, state, records, exchange_version, why }) => [
        day,
        state,
        records,
        exchange_version,
        why,
      ]),
    ).toEqual([
      ['2026-03-03', 'pending', 720, 3, 'The day is indexed up to block 3699 of 2026-03-03T11:59:00Z.'],
      ['2026-03-02', 'available', 1440, 3, 'Indexed without a gap from block 1540 to 2979.'],
      [
        '2026-03-01',
        'degraded',
        0,
        3,
        'Logs were not counted by contract in 1440 of 1440 blocks, which an older version indexed.',
      ],
    ]);
  });

  it('counts a market of the catalogue on the day of its newest version', async () => {
    const body = await get('?source=catalogue&from=2026-02-28&to=2026-03-04');
    expect(body.coverage.map(({ day, state, records }) => [day, state, records])).toEqual([
      ['2026-03-04', 'missing', 0],
      ['2026-03-03', 'available', 1],
      ['2026-03-02', 'available', 0],
      ['2026-03-01', 'available', 1],
      ['2026-02-28', 'missing', 0],
    ]);
  });

  it('accepts a kind of source, and a year of one source', async () => {
    const contracts = await get('?source=contract&from=2026-03-02&to=2026-03-02');
    expect(contracts.coverage.map(({ source }) => source).sort()).toEqual(
      watchedContracts.map(({ name }) => `contract:${name}`).sort(),
    );
    expect(contracts.coverage.every(({ state }) => state === 'available')).toBe(true);
    expect((await get('?source=blocks&from=2025-03-04&to=2026-03-04')).count).toBe(366);
    expect((await get('?source=nothing')).coverage).toEqual([]);
  });

  it.each([
    ['from=2026-02-30', 'Invalid from. Use a UTC day, YYYY-MM-DD'],
    ['to=1790000000', 'Invalid to. Use a UTC day, YYYY-MM-DD'],
    ['from=2026-03-02&to=2026-03-01', 'Invalid range: from is after to'],
    ['from=2026-01-01&to=2026-03-01', 'Range exceeds 31 days'],
    ['source=contract&from=2026-01-01&to=2026-03-01', 'Range exceeds 31 days'],
    ['source=blocks&from=2025-03-03&to=2026-03-04', 'Range exceeds 366 days'],
    ['source=', 'Invalid source'],
    [`source=${'a'.repeat(101)}`, 'Invalid source'],
  ])('rejects %s', async (query, error) => {
    expect(await api.get(`/v1/coverage?${query}`, key)).toMatchObject({ status: 400, body: { error } });
  });

  it('/v1/coverage/days sums up the kinds of sources without a key, without days that are missing altogether', async () => {
    interface Day {
      readonly day: string;
      readonly kind: string;
      readonly state: string;
      readonly sources: number;
      readonly available: number;
      readonly why: string;
    }
    const { from, days } = await api.ok<{ from: string; days: readonly Day[] }>('/v1/coverage/days');
    expect(from).toBe('2026-03-01');
    const { coverage } = await api.ok<Body>('/v1/coverage?from=2026-02-20&to=2026-03-04', key);
    // The same by hand, from the rows by source.
    const kindOf = (source: string) => source.replace(/:.*/, '');
    const expected = new Map<string, string[]>();
    for (const { day, source, state } of coverage) {
      const at = `${day} ${kindOf(source)}`;
      expected.set(at, [...(expected.get(at) ?? []), state]);
    }
    const worst = (states: readonly string[]) => {
      if (states.includes('degraded')) return 'degraded';
      if (states.includes('missing')) return 'degraded';
      return states.includes('pending') ? 'pending' : 'available';
    };
    // The clock of the engine is later than the API's: only days before today of both are compared.
    const listed = days
      .filter(({ day }) => day <= '2026-03-02')
      .map(({ day, kind, state, sources, available }) => [`${day} ${kind}`, state, sources, available]);
    expect(listed.length).toBeGreaterThan(3);
    expect(listed.sort()).toEqual(
      [...expected]
        .filter(([at, states]) => at.slice(0, 10) <= '2026-03-02' && states.some((state) => state !== 'missing'))
        .map(([at, states]) => [
          at,
          worst(states),
          states.length,
          states.filter((state) => state === 'available').length,
        ])
        .sort(),
    );
    expect(days.every(({ why }) => why.length > 10)).toBe(true);
  });
});

it('accepts each example of its parameters in OpenAPI without the others', async () => {
  type Parameter = { readonly name: string; readonly example?: string };
  const { paths } = api.service.openApi as unknown as { paths: Record<string, { get: { parameters: Parameter[] } }> };
  const given = (paths['/v1/coverage']?.get.parameters ?? []).filter(({ example }) => example !== undefined);
  expect(given.map(({ name }) => name)).toContain('to');
  for (const { name, example } of given) {
    const { status, body } = await api.get(`/v1/coverage?${name}=${example}`, key);
    expect([name, status, body]).toEqual([name, 200, expect.anything()]);
  }
});
