import { describe, expect, it } from 'vitest';
import { planRegistry, renderTypes } from './schema-tools.mjs';

const record = (fields: object[]) => ({ type: 'record', name: 'Thing', namespace: 'oddstream', fields });
const first = record([
  { name: 'id', type: 'string' },
  { name: 'size', type: 'int' },
]);
const registered = [{ id: 1, kind: 'thing', version: 1, schema: first }];
const plan = (schema: object) => planRegistry(registered, [{ kind: 'thing', schema }]);

describe('planRegistry', () => {
  it('retains the id of an unchanged schema, also when only its documentation changed', () => {
    expect(plan(first).entries).toEqual(registered);
    expect(plan({ ...first, doc: 'new documentation' })).toEqual({ entries: registered, breaking: [] });
  });

  it('assigns a new id to a compatible change and retains the old one', () => {
    const wider = record([...first.fields, { name: 'note', type: ['null', 'string'], default: null }]);
    const { entries, breaking } = plan(wider);
    expect(breaking).toEqual([]);
    expect(entries.map((entry) => [entry.id, entry.version])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  it.each([
    ['a new field without a default', record([...first.fields, { name: 'note', type: 'string' }])],
    [
      'a narrowed type',
      record([
        { name: 'id', type: 'int' },
        { name: 'size', type: 'int' },
      ]),
    ],
    [
      'a renamed field',
      record([
        { name: 'key', type: 'string' },
        { name: 'size', type: 'int' },
      ]),
    ],
  ])('reports %s as breaking', (_what, schema) => {
    const { entries, breaking } = plan(schema);
    expect(breaking).toHaveLength(1);
    expect(entries).toEqual(registered);
  });

  it('reports the removal of a kind whose records are in the log as breaking', () => {
    expect(planRegistry(registered, []).breaking).toEqual(['thing: removed, but its records are still in the log']);
  });

  it('checks against every older version, not only the newest', () => {
    const second = record([
      { name: 'id', type: 'string' },
      { name: 'size', type: 'int' },
      { name: 'note', type: 'string', default: '' },
    ]);
    const both = [...registered, { id: 2, kind: 'thing', version: 2, schema: second }];
    const third = record([
      { name: 'id', type: 'string' },
      { name: 'size', type: 'int' },
      { name: 'note', type: 'string' },
    ]);
    expect(planRegistry(both, [{ kind: 'thing', schema: third }]).breaking[0]).toMatch(/version 1/);
  });
});

describe('renderTypes', () => {
  it('writes decimals as bigint, unions and lists as TypeScript has them', () => {
    const schema = record([
      { name: 'amount', type: { type: 'bytes', logicalType: 'decimal', precision: 38, scale: 6 } },
      { name: 'note', type: ['null', 'string'], default: null },
      { name: 'tags', type: { type: 'array', items: 'string' } },
    ]);
    const text = renderTypes([{ kind: 'thing', schema }]);
    expect(text).toContain('readonly amount: bigint;');
    expect(text).toContain('readonly note: string | null;');
    expect(text).toContain('readonly tags: readonly string[];');
  });
});
