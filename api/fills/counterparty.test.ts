import { expect, it } from 'vitest';
import { counterpartyFlag } from './counterparty.js';

it('counterpartyFlag flags taker rows and leaves maker rows unflagged', () => {
  expect(counterpartyFlag({ role: 'taker' })).toEqual({ counterparty: true });
  expect(counterpartyFlag({ role: 'maker' })).toEqual({});
});
