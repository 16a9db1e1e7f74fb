import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseRows } from './rows.js';

const jsonRow = fc.record({
  a: fc.string(),
  'b"\\': fc.array(fc.string({ unit: 'binary' })),
  c: fc.option(fc.integer()),
});

it('parseRows returns the written rows of any length', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(jsonRow), fc.nat(3), fc.boolean(), async (rows, long, ends) => {
      const all = [...rows, ...Array.from({ length: long }, (_, n) => ({ a: `${n}\n`.repeat(300_000) }))];
      const text = all.map((row) => JSON.stringify(row)).join('\n');
      expect(await parseRows(ends && text !== '' ? `${text}\n` : text, 'tag')).toEqual(all);
    }),
    { numRuns: 50 },
  );
});

it('parseRows throws the exception after the rows and ignores a row that quotes its marker', async () => {
  const quoted = JSON.stringify({ a: '\r\n__exception__\r\ntag' });
  expect(await parseRows(`${quoted}\n`, 'tag')).toEqual([{ a: '\r\n__exception__\r\ntag' }]);
  const message = 'Code: 395. DB::Exception: stop. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)\n';
  const text = `{"a":1}\n\r\n__exception__\r\ntag\r\n${message}${message.length} tag\r\n__exception__\r\n`;
  await expect(parseRows(text, 'tag')).rejects.toThrow(expect.objectContaining({ code: '395' }));
});
