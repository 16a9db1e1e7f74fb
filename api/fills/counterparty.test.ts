import { expect, it } from 'vitest';
import { counterpartyMark } from './counterparty.js';

it('counterpartyMark marks the row of another wallet’s order and leaves own orders unmarked', () => {
  expect(counterpartyMark({ role: 'taker' })).toEqual({ counterparty: true });
  expect(counterpartyMark({ role: 'maker' })).toEqual({});
});
