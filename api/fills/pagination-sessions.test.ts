import { expect, it } from 'vitest';
import { createPaginationSessions, paginationSessionKey } from './pagination-sessions.js';

const logPosition = (blockNumber: number) => ({ blockNumber, logIndex: 0 });

it('keeps where a walk began as long as it is used, and forgets it a quarter of an hour later', () => {
  let nowMs = 0;
  const walks = createPaginationSessions({ nowMs: () => nowMs });
  expect(walks.asOf('a')).toBeNull();
  walks.start('a', logPosition(5));
  walks.start('b', logPosition(6));
  for (let i = 0; i < 3; i++) {
    nowMs += 14 * 60_000;
    expect(walks.asOf('a')).toEqual(logPosition(5));
  }
  expect(walks.asOf('b')).toBeNull();
  nowMs += 16 * 60_000;
  expect(walks.asOf('a')).toBeNull();
});

it('begins anew with each first page, and has no bound where that was empty', () => {
  const walks = createPaginationSessions({ nowMs: () => 0 });
  walks.start('a', logPosition(5));
  walks.start('a', logPosition(7));
  expect(walks.asOf('a')).toEqual(logPosition(7));
  walks.start('a', null);
  expect(walks.asOf('a')).toBeNull();
});

it('holds at most 20,000 walks, the ones used last', () => {
  const walks = createPaginationSessions({ nowMs: () => 0 });
  for (let i = 0; i < 20_000; i++) walks.start(`w${i}`, logPosition(i));
  walks.asOf('w0');
  walks.start('one more', logPosition(1));
  expect(walks.asOf('w0')).toEqual(logPosition(0));
  expect(walks.asOf('w1')).toBeNull();
});

it('names a walk by caller, path and filters, not by the place in it', () => {
  const name = (filters: Record<string, unknown>) => paginationSessionKey('acc', '/v3/trades', filters);
  expect(name({ token_id: '1', min: 5n, limit: 1, offset: 2 })).toBe(
    name({ token_id: '1', min: 5n, limit: 9, offset: 0 }),
  );
  expect(name({ token_id: '1' })).not.toBe(name({ token_id: '2' }));
  expect(paginationSessionKey('other', '/v3/trades', {})).not.toBe(paginationSessionKey('acc', '/v3/trades', {}));
});
