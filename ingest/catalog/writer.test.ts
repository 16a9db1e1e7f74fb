import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryLog } from '../../infra/log/testing.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createCodec } from '../../schemas/codec.js';
import { topicsOnOneMachine } from '../../schemas/topics.js';
import { createLastWritten } from './last-written.js';
import type { CatalogRow } from './source.js';
import { createCatalogWriter } from './writer.js';

const codec = createCodec();
const tag = (id: string, label: string): CatalogRow => ({ kind: 'catalog_tag', value: { id, slug: `s-${id}`, label } });
const series = (id: string, active: boolean): CatalogRow => ({
  kind: 'catalog_series',
  value: { id, slug: 's', title: 't', recurrence: '5m', active, closed: false, event_count: null },
});

const emptyLog = () => createMemoryLog({ topics: topicsOnOneMachine });

function setUp(log = emptyLog()) {
  const rejected: string[] = [];
  const writer = createCatalogWriter({
    log,
    codec,
    metrics: createMetrics({ process: 'test', defaults: false }),
    onRejected: (reason) => rejected.push(reason),
    nowMs: () => 1_000_000,
  });
  return { log, writer, rejected };
}

describe('createCatalogWriter', () => {
  it('writes new and changed rows once, and skips unchanged rows', async () => {
    const { log, writer } = setUp();
    expect(await writer.write([tag('1', 'a'), series('1', true)])).toBe(2);
    expect(await writer.write([tag('1', 'a'), series('1', true)])).toBe(0);
    expect(await writer.write([tag('1', 'b'), series('1', true), tag('1', 'b')])).toBe(1);
    expect(log.all('catalog').map(({ key }) => key)).toEqual(['tag:1', 'series:1', 'tag:1']);
    expect(log.appends).toBe(2);
  });

  it('restores written rows and deleted keys after a restart', async () => {
    const { log, writer } = setUp();
    await writer.write([tag('1', 'a'), tag('2', 'a'), tag('1', 'b')]);
    await log.append('catalog', [{ key: 'tag:2', value: null, timestampMs: 1 }]);
    const again = setUp(log).writer;
    expect(await again.restore()).toBe(2);
    expect(await again.write([tag('1', 'b')])).toBe(0);
    expect(await again.write([tag('1', 'a'), tag('2', 'a')])).toBe(2);
  });

  it('rejects a row that does not fit the schema and writes the rest', async () => {
    const { log, writer, rejected } = setUp();
    const broken = { kind: 'catalog_tag', value: { id: '1', slug: 's', label: 5 } } as unknown as CatalogRow;
    expect(await writer.write([broken, tag('2', 'a')])).toBe(1);
    expect(rejected[0]).toContain('label');
    expect(log.all('catalog')).toHaveLength(1);
  });

  it('agrees with a model over restarts', async () => {
    const input = fc.array(
      fc.record({
        row: fc.oneof(
          fc.tuple(fc.constantFrom('1', '2', '3'), fc.constantFrom('a', 'b')).map(([id, label]) => tag(id, label)),
          fc.tuple(fc.constantFrom('1', '2'), fc.boolean()).map(([id, active]) => series(id, active)),
        ),
        cut: fc.constantFrom('same batch', 'next batch', 'restart'),
      }),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(input, async (steps) => {
        const log = emptyLog();
        let { writer } = setUp(log);
        const model = new Map<string, string>();
        const expected: string[] = [];
        let batch: CatalogRow[] = [];
        for (const { row, cut } of steps) {
          if (cut !== 'same batch') {
            await writer.write(batch);
            batch = [];
          }
          if (cut === 'restart') {
            writer = setUp(log).writer;
            await writer.restore();
          }
          batch.push(row);
          const key = `${row.kind === 'catalog_tag' ? 'tag' : 'series'}:${row.value.id}`;
          const text = JSON.stringify(row.value);
          if (model.get(key) !== text) expected.push(`${key} ${text}`);
          model.set(key, text);
        }
        await writer.write(batch);
        const written = log
          .all('catalog')
          .map(({ key, value }) => `${key} ${JSON.stringify(codec.decode(value!).value)}`);
        expect(written.map((line) => line.toLowerCase())).toEqual(expected.map((line) => line.toLowerCase()));
      }),
      { numRuns: 200 },
    );
  });
});

describe('createLastWritten', () => {
  it('stores 300,000 keys in 16 MiB without collisions', () => {
    const last = createLastWritten();
    const value = Buffer.from('value');
    for (let n = 0; n < 300_000; n++) last.set(`market:${n}`, value);
    expect(last.size).toBe(300_000);
    expect(last.bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
    for (let n = 0; n < 300_000; n += 1000) expect(last.matches(`market:${n}`, value)).toBe(true);
    for (let n = 300_000; n < 310_000; n++) expect(last.matches(`market:${n}`, value)).toBe(false);
    last.set('market:7', Buffer.from('other'));
    last.remove('market:8');
    expect(last.matches('market:7', value)).toBe(false);
    expect(last.matches('market:8', value)).toBe(false);
    expect(last.size).toBe(300_000);
  });
});
