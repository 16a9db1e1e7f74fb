import { expect, it } from 'vitest';
import { counterpartyFlag } from './counterparty.js';

it('counterpartyMark marks the row of another wallet’s order and leaves own orders unmarked', () => {
  expect(counterpartyFlag({ role: 'taker' })).toEqual({ counterparty: true });
  expect(counterpartyFlag({ role: 'maker' })).toEqual({});
});
