import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { whyNotBindable } from './probe.js';

describe('whyNotBindable', () => {
  it('accepts addresses of this machine', async () => {
    expect(await whyNotBindable('127.0.0.1')).toBeNull();
    expect(await whyNotBindable('0.0.0.0')).toBeNull();
  });

  it('names the addresses that can be used instead of another machine’s', async () => {
    // TEST-NET-3 of RFC 5737: never assigned.
    const text = await whyNotBindable('203.0.113.7');
    expect(text).toMatch(/^203\.0\.113\.7 is not an address of this machine; use 0\.0\.0\.0, :: or one of /);
    for (const entry of networkInterfaces().lo ?? []) expect(text).toContain(entry.address);
  });
});
