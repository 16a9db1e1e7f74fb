import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cursorsOf, logPositionCursor, snapshotOffsetCursor } from './cursor.js';
import { compareNumbers, compareTexts, type RankValue, rankCursor, rankedPage } from './ranked-page.js';

interface Row {
  readonly id: string;
  readonly value: RankValue;
}
const of = { endpoint: '/list', order: 'value' };
const textOf = (...list: readonly unknown[]) => Buffer.from(JSON.stringify(list)).toString('base64url');

const rows = fc.uniqueArray(
  fc.record({ id: fc.integer({ min: 0, max: 40 }).map(String), value: fc.option(fc.bigInt({ min: -3n, max: 3n })) }),
  { selector: (row) => row.id, maxLength: 30 },
);
const inOrder = (list: readonly Row[], direction: 'asc' | 'desc'): Row[] => {
  const sign = direction === 'asc' ? 1 : -1;
  return [...list].sort((a, b) => {
    if (a.value === b.value) return Number(a.id) - Number(b.id);
    if (a.value === null || b.value === null) return a.value === null ? 1 : -1;
    return a.value < b.value ? -sign : sign;
  });
};

it('rankedPage lists rows with unchanged values once while others arrive, change and vanish', () => {
  fc.assert(
    fc.property(
      rows,
      fc.array(rows, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.integer({ min: 1, max: 5 }),
      (first, laterRows, direction, limit) => {
        const by = { value: (row: Row) => row.value, id: (row: Row) => row.id, direction, compareIds: compareNumbers };
        const versions = [first, ...laterRows];
        const seen: Row[] = [];
        let cursor: string | undefined;
        let used = 0;
        for (let n = 0; ; n += 1) {
          const list = inOrder(versions[Math.min(n, versions.length - 1)] as Row[], direction);
          used = Math.min(n, versions.length - 1);
          const page = rankedPage(list, by, { limit, offset: 0, cursor }, of);
          expect(page.rows).toEqual(list.slice(page.from, page.from + limit));
          seen.push(...page.rows);
          if (page.cursor === null) break;
          cursor = page.cursor;
          expect(n).toBeLessThan(40);
        }
        // Those that are in all versions that were read, with one value.
        const constant = first.filter((row) =>
          versions.slice(0, used + 1).every((list) => list.some((one) => one.id === row.id && one.value === row.value)),
        );
        for (const row of constant) expect(seen.filter((one) => one.id === row.id)).toEqual([row]);
        expect(inOrder(seen, direction)).toEqual(seen);
      },
    ),
  );
});

it('rankCursor keeps integers, fractions, texts and missing values apart', () => {
  const cursors = cursorsOf(rankCursor, of);
  for (const value of [5n, -(10n ** 60n), 0.1, 1e21, 'i5', '', null])
    expect(cursors.read(cursors.write({ value, id: 'x' }))).toEqual({ value, id: 'x' });
  expect(cursors.read(undefined)).toBeNull();
  expect([compareTexts('10', '9'), compareNumbers('10', '9')]).toEqual([-1, 1]);
});

it('cursors are rejected if malformed or of another list', () => {
  const cursors = cursorsOf(logPositionCursor, of);
  const message = (text: string) => {
    try {
      cursors.read(text);
      return null;
    } catch (error) {
      return (error as { failure?: { message?: string } }).failure?.message;
    }
  };
  const invalid = 'invalid cursor: use next_cursor of an earlier page';
  expect(message(textOf('/list', 'value', '5', '6'))).toBeNull();
  expect(message(textOf('/other', 'value', '5', '6'))).toBe('invalid cursor: it belongs to another endpoint');
  expect(message(textOf('/list', 'name', '5', '6'))).toBe('invalid cursor: it belongs to another sort or order');
  for (const text of [
    '',
    '%',
    '102-9',
    'e30',
    textOf(),
    textOf('/list'),
    textOf('/list', 'value', 5, 6),
    'a'.repeat(9_999),
  ])
    expect(message(text)).toBe(invalid);
  for (const values of [['5'], ['5', '6', '7'], ['-5', '6'], ['5', '1e3'], ['5', '9999999999'], ['', '']])
    expect(message(textOf('/list', 'value', ...values))).toBe(invalid);
  const snapshots = cursorsOf(snapshotOffsetCursor, of);
  const start = { atMost: { blockNumber: 5, logIndex: 6 }, offset: 100 };
  expect(snapshots.read(snapshots.write(start))).toEqual(start);
});
