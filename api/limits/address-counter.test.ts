import { describe, expect, it } from 'vitest';
import { createAddressCounter } from './address-counter.js';

describe('createAddressCounter', () => {
  it('counts each client from its first request, and starts again after the window', () => {
    const counter = createAddressCounter({ windowMs: 60_000, limit: 2, maxClients: 10 });
    expect(counter.take('a', 1_000)).toEqual({ allowed: true, resetMs: 61_000 });
    expect(counter.take('b', 30_000)).toEqual({ allowed: true, resetMs: 90_000 });
    expect(counter.take('a', 40_000)).toEqual({ allowed: true, resetMs: 61_000 });
    expect(counter.take('a', 60_999)).toEqual({ allowed: false, resetMs: 61_000 });
    expect(counter.take('a', 61_000)).toEqual({ allowed: true, resetMs: 121_000 });
    expect(counter.take('b', 61_000)).toEqual({ allowed: true, resetMs: 90_000 });
    expect(counter.take('b', 61_001)).toEqual({ allowed: false, resetMs: 90_000 });
  });

  it('bounds the table and keeps separate counts for the clients in it', () => {
    const counter = createAddressCounter({ windowMs: 60_000, limit: 2, maxClients: 3 });
    for (const client of ['a', 'b', 'c']) counter.take(client, 0);
    const others = Array.from({ length: 1_000 }, (_, i) => counter.take(`other-${i}`, 1).allowed);
    expect(others.filter(Boolean)).toHaveLength(2);
    expect(counter.size).toBe(4);
    expect(counter.take('a', 2).allowed).toBe(true);
    expect(counter.take('a', 3).allowed).toBe(false);
  });

  it('forgets clients whose window is over', () => {
    const counter = createAddressCounter({ windowMs: 60_000, limit: 2, maxClients: 1_000 });
    for (let i = 0; i < 500; i += 1) counter.take(`early-${i}`, 0);
    counter.take('late', 59_999);
    expect(counter.size).toBe(501);
    counter.take('late', 60_000);
    expect(counter.size).toBe(1);
  });

  it('does not extend a rejection when the clock is set back', () => {
    const counter = createAddressCounter({ windowMs: 60_000, limit: 1, maxClients: 10 });
    counter.take('a', 10_000_000);
    expect(counter.take('a', 1_000_000)).toEqual({ allowed: true, resetMs: 1_060_000 });
    expect(counter.take('a', 1_000_001).allowed).toBe(false);
  });
});
