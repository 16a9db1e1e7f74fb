import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFailureDetector } from './failure-detector.js';

const detector = () => createFailureDetector({ member: 'a', heartbeatMs: 2, deadAfterMs: 8 });

describe('createFailureDetector', () => {
  it('lists members with a heartbeat until they leave', () => {
    const local = detector();
    expect(local.liveMembers()).toEqual(['a']);
    local.recordHeartbeat('c', 'alive', 0);
    local.recordHeartbeat('b', 'alive', 0);
    expect(local.liveMembers()).toEqual(['a', 'b', 'c']);
    local.recordHeartbeat('b', 'left', 1);
    expect(local.liveMembers()).toEqual(['a', 'c']);
  });

  it('drops a member without a heartbeat in four local periods', () => {
    const local = detector();
    local.recordHeartbeat('b', 'alive', 0);
    for (const at of [1, 3, 5, 7]) local.recordHeartbeat('a', 'alive', at);
    expect(local.liveMembers()).toEqual(['a', 'b']);
    local.recordHeartbeat('a', 'alive', 9);
    expect(local.liveMembers()).toEqual(['a']);
  });

  it('counts a gap between local heartbeats as at most two periods', () => {
    const local = detector();
    local.recordHeartbeat('b', 'alive', 0);
    local.recordHeartbeat('a', 'alive', 1);
    local.recordHeartbeat('a', 'alive', 100);
    expect(local.liveMembers()).toEqual(['a', 'b']);
    local.recordHeartbeat('a', 'alive', 200);
    expect(local.liveMembers()).toEqual(['a']);
  });

  it('drops no member after a local suspension, when the log has their heartbeats of that time', () => {
    const local = detector();
    local.recordHeartbeat('a', 'alive', 1);
    for (let at = 0; at < 50; at++) local.recordHeartbeat('b', 'alive', 1000);
    local.recordHeartbeat('a', 'alive', 1000);
    local.recordHeartbeat('a', 'alive', 1002);
    expect(local.liveMembers()).toEqual(['a', 'b']);
  });

  it('never drops a member that sends heartbeats as often as the local process, at any delays', () => {
    const gaps = fc.array(fc.record({ waitMs: fc.integer({ min: 0, max: 60 }), first: fc.boolean() }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(gaps, (steps) => {
        const local = detector();
        let at = 0;
        local.recordHeartbeat('b', 'alive', at);
        for (const { waitMs, first } of steps) {
          at += waitMs;
          for (const name of first ? ['a', 'b'] : ['b', 'a']) local.recordHeartbeat(name, 'alive', at);
          expect(local.liveMembers()).toEqual(['a', 'b']);
        }
      }),
    );
  });
});
