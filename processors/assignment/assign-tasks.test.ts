import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignTasks } from './assign-tasks.js';

describe('assignTasks', () => {
  it('assigns every task to one member, evenly, independent of the order of members', () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(names, names, (members, tasks) => {
        const shares = members.map((member) => assignTasks(member, [...members].reverse(), tasks));
        expect(shares.flat().sort()).toEqual([...tasks].sort());
        const sizes = shares.map((share) => share.length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect(members.map((member) => assignTasks(member, members, tasks))).toEqual(shares);
      }),
    );
  });
});
