import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignTasks } from './assign-tasks.js';

describe('shareOf', () => {
  it('gives every unit to one member, evenly, whatever order the members are seen in', () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(names, names, (members, units) => {
        const shares = members.map((member) => assignTasks(member, [...members].reverse(), units));
        expect(shares.flat().sort()).toEqual([...units].sort());
        const sizes = shares.map((share) => share.length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect(members.map((member) => assignTasks(member, members, units))).toEqual(shares);
      }),
    );
  });
});
