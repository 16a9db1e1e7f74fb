import { expect, it } from 'vitest';
import { computedTablesOf, rebuildTasksFor } from './rebuild-tasks.js';

it('computedTablesOf names the sums per wallet and tag for the positions and the catalogue, and nothing for other tables', () => {
  const names = (table: string) => computedTablesOf(rebuildTasksFor(table)).map(({ name }) => name);
  const sums = ['wallet_tags_progress', 'overlap_token_tags', 'wallet_tags'];
  expect([names('all'), names('positions_by_token'), names('markets')]).toEqual([sums, sums, sums]);
  expect([names('fills'), names('pnl_events'), names('ticks')]).toEqual([[], [], []]);
});
