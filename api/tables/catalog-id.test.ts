import { describe, expect, it } from 'vitest';
import { numericId } from './catalog-id.js';

describe('numericId', () => {
  it('returns a numeric id unchanged', () => {
    expect(['1', '660001', '007'].map(numericId)).toEqual(['1', '660001', '007']);
  });

  it('maps other ids to distinct numbers that are exact as floats', () => {
    // sha256('r-snow-lisbon') begins with d028909c9ef8.
    expect(numericId('r-snow-lisbon')).toBe(String(1e15 + 0xd028909c9ef8));
    const ids = Array.from({ length: 5_000 }, (_, at) => numericId(`r-window-${at}`));
    expect(new Set(ids).size).toBe(5_000);
    for (const id of ids) expect([id, Number.isSafeInteger(Number(id)), String(Number(id))]).toEqual([id, true, id]);
  });
});
