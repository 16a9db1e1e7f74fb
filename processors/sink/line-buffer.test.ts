import { describe, expect, it } from 'vitest';
import { LineBuffer } from './line-buffer.js';

describe('LineBuffer', () => {
  it('grows, retains kept lines and drops discarded ones', () => {
    const buffer = new LineBuffer();
    const expected: string[] = [];
    for (let i = 0; i < 2_000; i++) {
      const line = `${i}\t${'ü€😀'.repeat(i % 50)}\n`;
      buffer.add(line);
      if (i % 3 === 0) {
        buffer.add('second line of the record\n');
        buffer.rollback();
      } else {
        buffer.commit();
        expected.push(line);
      }
    }
    expect(buffer.rows).toBe(expected.length);
    expect(buffer.content().toString('utf8')).toBe(expected.join(''));
  });
});
