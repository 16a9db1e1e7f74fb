import { expect, it } from 'vitest';
import { inRandomRounds } from './random.js';

it('random rounds contain every item once, in orders that differ', () => {
  const items = ['a', 'b', 'c', 'd', 'e', 'f'];
  const rounds = Array.from({ length: 50 }, (_, round) =>
    items.map((_, i) => inRandomRounds(items, round * items.length + i, 7)),
  );
  for (const round of rounds) expect([...round].sort()).toEqual(items);
  expect(new Set(rounds.map((round) => round.join(''))).size).toBeGreaterThan(30);
  for (const item of items) expect(rounds.some(([first]) => first === item)).toBe(true);
});
