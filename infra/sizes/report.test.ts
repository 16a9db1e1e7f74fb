import { expect, it } from 'vitest';
import { topics } from '../../schemas/topics.js';
import { retentionOf, retentionOfTable, sizeTable } from './report.js';

it('retention in words is that of the topic, or of RAW_HISTORY_DAYS where the topic has none', () => {
  const of = (topic: Parameters<typeof retentionOf>[0], days: number | null = null) => retentionOf(topic, days);
  expect(of(topics.chainFinal)).toBe('all');
  expect(of(topics.chainFinal, 90)).toBe('90 d');
  expect(of(topics.chainHead, 90)).toBe('1 d');
  expect(of(topics.orderbookUpdates)).toBe('1 h');
  expect(of(topics.positions, 90)).toBe('newest per key');
  expect(of(topics.gatewaySessions)).toBe('newest per key, 2 d');
});

it('retention of a table is its TTL; of the ticks, that of their topic', () => {
  const engine = 'MergeTree ORDER BY a SETTINGS index_granularity = 8192';
  expect(retentionOfTable('fills', engine, 90)).toBe('all');
  expect(retentionOfTable('ticks', engine, 90)).toBe('90 d');
  expect(retentionOfTable('ticks_local', engine, null)).toBe('all');
  const withTtl = 'MergeTree ORDER BY a TTL toDateTime(taken_at) + toIntervalHour(2) SETTINGS index_granularity = 1';
  expect(retentionOfTable('leaderboards', withTtl, null)).toBe('2 hour');
});

it('size table lists what is stored, largest first, with its growth per million fills', () => {
  const sizes = [
    { name: 'small', retention: 'all', records: 10, bytes: 1_000 },
    { name: 'empty', retention: 'all', records: 0, bytes: 0 },
    { name: 'large', retention: '1 d', records: 2_000, bytes: 3_000_000 },
  ];
  expect(sizeTable('Topic', sizes, 500_000).split('\n')).toEqual([
    '| Topic | Retention | Records | MB | Bytes per record | MB per million fills |',
    '| --- | --- | --- | --- | --- | --- |',
    '| `large` | 1 d | 2,000 | 3 | 1,500 | 6 |',
    '| `small` | all | 10 | 0 | 100 | 0 |',
    '| all |  |  | 3 |  | 6 |',
  ]);
  expect(sizeTable('Topic', sizes, 0)).toContain('| `large` | 1 d | 2,000 | 3 | 1,500 |  |');
});
