import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFailureDetector } from './failure-detector.js';

const detector = () => createFailureDetector({ member: 'a', heartbeatMs: 2, deadAfterMs: 8 });

describe('roll', () => {
  it('holds who was heard, until it leaves', () => {
    const own = detector();
    expect(own.liveMembers()).toEqual(['a']);
    own.recordHeartbeat('c', 'alive', 0);
    own.recordHeartbeat('b', 'alive', 0);
    expect(own.liveMembers()).toEqual(['a', 'b', 'c']);
    own.recordHeartbeat('b', 'left', 1);
    expect(own.liveMembers()).toEqual(['a', 'c']);
  });

  it('gives up on a member missing from four periods of its own', () => {
    const own = detector();
    own.recordHeartbeat('b', 'alive', 0);
    for (const at of [1, 3, 5, 7]) own.recordHeartbeat('a', 'alive', at);
    expect(own.liveMembers()).toEqual(['a', 'b']);
    own.recordHeartbeat('a', 'alive', 9);
    expect(own.liveMembers()).toEqual(['a']);
  });

  it('takes slow heartbeats of its own for what they are, but none for more than two periods', () => {
    const own = detector();
    own.recordHeartbeat('b', 'alive', 0);
    own.recordHeartbeat('a', 'alive', 1);
    own.recordHeartbeat('a', 'alive', 100);
    expect(own.liveMembers()).toEqual(['a', 'b']);
    own.recordHeartbeat('a', 'alive', 200);
    expect(own.liveMembers()).toEqual(['a']);
  });

  it('blames nobody for its own suspension: others that went on are in the log between', () => {
    const own = detector();
    own.recordHeartbeat('a', 'alive', 1);
    for (let at = 0; at < 50; at++) own.recordHeartbeat('b', 'alive', 1000);
    own.recordHeartbeat('a', 'alive', 1000);
    own.recordHeartbeat('a', 'alive', 1002);
    expect(own.liveMembers()).toEqual(['a', 'b']);
  });

  it('never gives up on a member that beats as often as it does, whatever the delays', () => {
    const gaps = fc.array(fc.record({ waitMs: fc.integer({ min: 0, max: 60 }), first: fc.boolean() }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(gaps, (steps) => {
        const own = detector();
        let at = 0;
        own.recordHeartbeat('b', 'alive', at);
        for (const { waitMs, first } of steps) {
          at += waitMs;
          for (const name of first ? ['a', 'b'] : ['b', 'a']) own.recordHeartbeat(name, 'alive', at);
          expect(own.liveMembers()).toEqual(['a', 'b']);
        }
      }),
    );
  });
});
