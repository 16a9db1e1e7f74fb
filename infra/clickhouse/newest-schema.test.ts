import { expect, it } from 'vitest';
import type { Migration, TableSpec } from './ddl.js';
import { newestSchema } from './newest-schema.js';

const table = (name: string, columns = '\n      a String,\n      b UInt8'): TableSpec => ({
  name,
  columns,
  engine: 'MergeTree',
  orderBy: 'a',
  placement: 'everywhere',
});
const index = { name: 'i', on: table('one'), expression: 'b', type: 'minmax GRANULARITY 1' };
const of = (statements: Migration['statements']) => newestSchema([{ statements }]);

it('newestSchema has each table with the columns, indexes and window that all migrations leave', () => {
  const schema = newestSchema([
    { statements: (ddl) => [...ddl.table(table('one')), ...ddl.table(table('two')), ...ddl.index(index)] },
    {
      statements: (ddl) => [
        ...ddl.addColumn(table('one'), 'c UInt16'),
        ...ddl.dropColumns(table('one'), ['a']),
        ...ddl.hashesToBytes(table('two'), ['a']),
        ...ddl.deduplicationWindow(table('two'), 7),
        ...ddl.dropIndex(index),
        ...ddl.index({ ...index, name: 'j' }),
      ],
    },
  ]);
  expect(schema?.tables).toEqual([
    table('one', '\n      b UInt8,\n      c UInt16,\n      INDEX j b TYPE minmax GRANULARITY 1'),
    { ...table('two', '\n      a FixedString(32),\n      b UInt8'), deduplicationWindow: 7 },
  ]);
});

it('newestSchema leaves out what was dropped, and has a recreated table and the last SELECT of a view', () => {
  const view = { name: 'v', from: table('one'), to: table('two'), select: () => 'SELECT 1' };
  const schema = of((ddl) => [
    ...ddl.table(table('one')),
    ...ddl.table(table('two')),
    ...ddl.materializedView(view),
    ...ddl.view('first', 'SELECT 1'),
    ...ddl.view('second', 'SELECT 2'),
    ...ddl.drop(view),
    ...ddl.dropTable('one'),
    ...ddl.table(table('one', 'x UInt8')),
    ...ddl.replaceView('first', 'SELECT * FROM second'),
  ]);
  expect(schema).toEqual({
    tables: [table('one', 'x UInt8')],
    views: [
      { name: 'second', select: 'SELECT 2' },
      { name: 'first', select: 'SELECT * FROM second' },
    ],
    materializedViews: [],
  });
});

it('newestSchema of a migration with a statement of its own is null', () => {
  expect(of(() => ['INSERT INTO one VALUES (1)'])).toBeNull();
});

it('newestSchema throws for a change of a column that the table does not have', () => {
  expect(() => of((ddl) => ddl.dropColumns(table('one'), ['z']))).toThrow('Table one has no');
});
