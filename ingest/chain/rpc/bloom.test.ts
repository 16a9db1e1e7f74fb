import { describe, expect, it } from 'vitest';
import type { Hex } from '../source.js';
import { createBloomCheck } from './bloom.js';

/** Filter and member of the test vectors of web3. */
const filter: Hex =
  '0x00000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000002020000000000000000000000000000000000000000000008000000001000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000';
const member: Hex = '0xef2d6d194084c2de36e0dabfce45d046b37d1106';
const other: Hex = '0xe111180000d2663c0091e4f400237545b87b996b';

describe('createBloomCheck', () => {
  it('admits logs of a member, and none of other contracts', () => {
    expect(createBloomCheck([other, member])(filter)).toBe(true);
    expect(createBloomCheck([other])(filter)).toBe(false);
    expect(createBloomCheck([member])(`0x${'0'.repeat(512)}`)).toBe(false);
  });

  it.each([undefined, null, '0x', '0xff', 7, {}])(
    'admits logs where the header has %j instead of a filter',
    (value) => {
      expect(createBloomCheck([other])(value)).toBe(true);
    },
  );
});
