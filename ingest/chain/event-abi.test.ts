import { toEventSelector } from 'viem';
import { describe, expect, it } from 'vitest';
import { eventAbi } from './event-abi.js';

describe('event abi', () => {
  it.each(Object.entries(eventAbi))('topic0 of %s is the keccak of its signature', (_name, event) => {
    expect(toEventSelector(event.signature)).toBe(event.topic0);
  });
});
