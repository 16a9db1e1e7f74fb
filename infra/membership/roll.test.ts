import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRoll } from './roll.js';

const roll = () => createRoll({ member: 'a', heartbeatMs: 2, deadAfterMs: 8 });

describe('roll', () => {
  it('holds who was heard, until it leaves', () => {
    const own = roll();
    expect(own.members()).toEqual(['a']);
    own.hear('c', 'alive', 0);
    own.hear('b', 'alive', 0);
    expect(own.members()).toEqual(['a', 'b', 'c']);
    own.hear('b', 'left', 1);
    expect(own.members()).toEqual(['a', 'c']);
  });

  it('gives up on a member missing from four periods of its own', () => {
    const own = roll();
    own.hear('b', 'alive', 0);
    for (const at of [1, 3, 5, 7]) own.hear('a', 'alive', at);
    expect(own.members()).toEqual(['a', 'b']);
    own.hear('a', 'alive', 9);
    expect(own.members()).toEqual(['a']);
  });

  it('takes slow heartbeats of its own for what they are, but none for more than two periods', () => {
    const own = roll();
    own.hear('b', 'alive', 0);
    own.hear('a', 'alive', 1);
    own.hear('a', 'alive', 100);
    expect(own.members()).toEqual(['a', 'b']);
    own.hear('a', 'alive', 200);
    expect(own.members()).toEqual(['a']);
  });

  it('blames nobody for its own suspension: others that went on are in the log between', () => {
    const own = roll();
    own.hear('a', 'alive', 1);
    for (let at = 0; at < 50; at++) own.hear('b', 'alive', 1000);
    own.hear('a', 'alive', 1000);
    own.hear('a', 'alive', 1002);
    expect(own.members()).toEqual(['a', 'b']);
  });

  it('never gives up on a member that beats as often as it does, whatever the delays', () => {
    const gaps = fc.array(fc.record({ waitMs: fc.integer({ min: 0, max: 60 }), first: fc.boolean() }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(gaps, (steps) => {
        const own = roll();
        let at = 0;
        own.hear('b', 'alive', at);
        for (const { waitMs, first } of steps) {
          at += waitMs;
          for (const name of first ? ['a', 'b'] : ['b', 'a']) own.hear(name, 'alive', at);
          expect(own.members()).toEqual(['a', 'b']);
        }
      }),
    );
  });
});
