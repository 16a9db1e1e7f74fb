import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quoteIdentifier, quoteString, tokenize } from './sql-text.js';
import { readStatement } from './statement.js';

const select = (text: string) => {
  const statement = readStatement(text, true);
  if (statement?.kind !== 'select' && statement?.kind !== 'show') throw new Error(`not rows: ${statement?.kind}`);
  return statement;
};
const insert = (text: string, complete = true) => {
  const statement = readStatement(text, complete);
  return statement?.kind === 'insert' ? { ...statement, data: text.slice(statement.dataAt) } : statement;
};

describe('statements with rows', () => {
  test('the last FORMAT outside brackets and strings is the format', () => {
    expect(select('SELECT 1 FORMAT JSON')).toMatchObject({
      kind: 'select',
      body: 'SELECT 1 ',
      format: 'JSON',
      tail: '',
    });
    expect(select("SELECT 'x FORMAT CSV' AS a")).toMatchObject({ format: undefined });
    expect(select('SELECT 1 -- FORMAT CSV')).toMatchObject({ format: undefined });
    expect(select('SELECT 1 /* FORMAT CSV */ format TSV ;\n-- bye')).toMatchObject({ format: 'TSV' });
    expect(select('SELECT format FROM t')).toMatchObject({ format: undefined });
    expect(select('SELECT 1 FORMAT `Null` SETTINGS max_threads = 1')).toMatchObject({
      body: 'SELECT 1 ',
      format: 'Null',
      tail: ' SETTINGS max_threads = 1',
    });
    expect(select('SELECT format `a b`')).toMatchObject({ format: undefined });
    expect(select('SELECT * FROM (SELECT 1 FORMAT CSV)')).toMatchObject({ format: undefined });
    expect(select('SELECT 1 FORMAT CSV SETTINGS max_threads = 1')).toMatchObject({
      body: 'SELECT 1 ',
      format: 'CSV',
      tail: ' SETTINGS max_threads = 1',
    });
    expect(select('show tables format JSON')).toMatchObject({ kind: 'show', format: 'JSON' });
    expect(select('WITH 1 AS a SELECT a').kind).toBe('select');
    expect(select('(SELECT 1) UNION ALL (SELECT 2)').kind).toBe('select');
  });

  test('a second statement is rejected; semicolons in strings and comments are not', () => {
    for (const sql of [
      'SELECT 1; SELECT 2',
      'SELECT 1;;DROP TABLE t',
      "SELECT 'a\\'b'; DROP TABLE t",
      'SELECT $$;$$ ; SELECT 2',
    ]) {
      expect(() => readStatement(sql, true)).toThrow(/Multi-statements are not allowed/);
    }
    for (const sql of [
      'SELECT 1;',
      "SELECT ';'",
      "SELECT 'a'';'",
      'SELECT `;`',
      'SELECT 1 -- ; x',
      'SELECT 1 /* ; */',
      'SELECT $a$;$a$',
      'SELECT 1 # ;\n;',
    ]) {
      expect(readStatement(sql, true)?.kind).toBe('select');
    }
  });

  test('INTO OUTFILE and FROM INFILE are rejected', () => {
    expect(() => readStatement("SELECT 1 INTO OUTFILE '/tmp/x'", true)).toThrow(/INTO OUTFILE is not allowed/);
    expect(() => readStatement("SELECT 1 into/**/outfile '/tmp/x' FORMAT CSV", true)).toThrow(/INTO OUTFILE/);
    expect(() => readStatement("INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV", true)).toThrow(/infile/);
    expect(readStatement("SELECT 'INTO OUTFILE'", true)?.kind).toBe('select');
  });

  test('an empty query is an error, an incomplete one needs more bytes', () => {
    expect(() => readStatement(' -- nothing\n', true)).toThrow(/Empty query/);
    expect(readStatement('SELECT 1', false)).toBeUndefined();
    expect(readStatement('', false)).toBeUndefined();
  });
});

describe('INSERT', () => {
  test('rows begin after the format', () => {
    expect(insert('INSERT INTO t FORMAT JSONEachRow\n{"a":1}')).toMatchObject({
      head: 'INSERT INTO t ',
      format: 'JSONEachRow',
      data: '{"a":1}',
    });
    expect(insert('INSERT INTO t FORMAT JSONEachRow {"a":1}')).toMatchObject({ data: '{"a":1}' });
    expect(insert('INSERT INTO t FORMAT RowBinary \r\n\n\x00')).toMatchObject({ data: '\n\x00' });
    expect(insert("insert into db.t (a, `b c`) settings x = 1, y = 'FORMAT' format CSV\n1,2")).toMatchObject({
      head: 'insert into db.t (a, `b c`) ',
      settings: "settings x = 1, y = 'FORMAT' ",
      format: 'CSV',
      data: '1,2',
    });
    expect(insert('INSERT INTO t VALUES (1, 2)')).toMatchObject({ format: 'Values', data: '(1, 2)' });
    expect(insert('INSERT INTO values VALUES (1)')).toMatchObject({ head: 'INSERT INTO values ', data: '(1)' });
    expect(insert('INSERT INTO format.format FORMAT CSV\n1')).toMatchObject({
      head: 'INSERT INTO format.format ',
      data: '1',
    });
    expect(insert("INSERT INTO FUNCTION null('a Int8') FORMAT TSV\n1")).toMatchObject({
      head: "INSERT INTO FUNCTION null('a Int8') ",
      format: 'TSV',
    });
    expect(() => insert('INSERT INTO t FORMAT CSV;\n1')).toThrow(/excessive/);
  });

  test('INSERT SELECT is a command', () => {
    expect(insert('INSERT INTO t SELECT 1')).toMatchObject({ kind: 'command', keyword: 'INSERT' });
    expect(insert('INSERT INTO t (a) WITH 1 AS x SELECT x')).toMatchObject({ kind: 'command' });
  });

  test('the split of statement and rows does not depend on chunk boundaries', () => {
    const text = 'INSERT INTO t (a) SETTINGS max_threads = 1 FORMAT JSONEachRow \r\n{"a":1}\n\n{"a":2}';
    const whole = insert(text);
    for (let cut = 0; cut <= text.length; cut++) {
      const early = insert(text.slice(0, cut), false);
      if (early !== undefined)
        expect(early).toMatchObject({ ...whole, data: text.slice(0, cut).slice(text.indexOf('{')) });
    }
  });
});

describe('quoting', () => {
  test('a quoted string is one token, whatever it contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        for (const quoted of [quoteString(value), quoteIdentifier(value)]) {
          expect([...tokenize(`${quoted};`)].map((token) => token.kind)).toEqual(['quoted', 'mark']);
        }
      }),
      { numRuns: 50 },
    );
  });
});
