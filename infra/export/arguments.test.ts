import { describe, expect, it } from 'vitest';
import { UsageError } from '../command-line.js';
import { parseExportArguments } from './arguments.js';

describe('arguments of an export', () => {
  it('are a dataset and a span of UTC days or times', () => {
    expect(parseExportArguments(['trades', '--from', '2026-03-22'])).toEqual({
      ...{ dataset: 'trades', format: 'parquet', out: 'export' },
      ...{ fromS: 1_774_137_600, toS: null, force: false },
    });
    expect(
      parseExportArguments([
        'ticks',
        '--from=2026-03-22T06:00Z',
        '--to=2026-03-22T06:00:01Z',
        '--format=csv',
        '--out=/x',
        '--force',
      ]),
    ).toEqual({ dataset: 'ticks', format: 'csv', out: '/x', fromS: 1_774_159_200, toS: 1_774_159_201, force: true });
  });

  it.each([
    [[], /^Name one dataset: trades, /],
    [['positions', '--from', '2026-03-22'], /^Name one dataset/],
    [['trades', 'ticks', '--from', '2026-03-22'], /^Name one dataset/],
    [['trades'], /^--from is missing/],
    [['trades', '--from', '2026-02-30'], /^--from 2026-02-30: use a UTC day/],
    [['trades', '--from', '2026-03-22T06:00:00+02:00'], /use a UTC day/],
    [['trades', '--from', '1774137600'], /use a UTC day/],
    [['trades', '--from', '2026-03-22', '--to', '2026-03-22'], /^--to must be after --from$/],
    [['trades', '--from', '2026-03-22', '--format', 'xlsx'], /^--format xlsx: use parquet or csv$/],
    [['trades', '--form', '2026-03-22'], /--form/],
  ])('%j are rejected with what is possible', (args, message) => {
    expect(() => parseExportArguments(args)).toThrow(UsageError);
    expect(() => parseExportArguments(args)).toThrow(message);
  });
});
