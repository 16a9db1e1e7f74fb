import { expect, it } from 'vitest';
import { createPaginationSessions, paginationSessionKey } from './pagination-sessions.js';

const logPosition = (blockNumber: number) => ({ blockNumber, logIndex: 0 });

it('createPaginationSessions keeps the bound of a session in use and drops it 15 minutes after its last use', () => {
  let nowMs = 0;
  const sessions = createPaginationSessions({ nowMs: () => nowMs });
  expect(sessions.asOf('a')).toBeNull();
  sessions.start('a', logPosition(5));
  sessions.start('b', logPosition(6));
  for (let i = 0; i < 3; i++) {
    nowMs += 14 * 60_000;
    expect(sessions.asOf('a')).toEqual(logPosition(5));
  }
  expect(sessions.asOf('b')).toBeNull();
  nowMs += 16 * 60_000;
  expect(sessions.asOf('a')).toBeNull();
});

it('createPaginationSessions replaces the bound at each first page and has none after an empty one', () => {
  const sessions = createPaginationSessions({ nowMs: () => 0 });
  sessions.start('a', logPosition(5));
  sessions.start('a', logPosition(7));
  expect(sessions.asOf('a')).toEqual(logPosition(7));
  sessions.start('a', null);
  expect(sessions.asOf('a')).toBeNull();
});

it('createPaginationSessions keeps at most 20,000 sessions, evicting the least recently used', () => {
  const sessions = createPaginationSessions({ nowMs: () => 0 });
  for (let i = 0; i < 20_000; i++) sessions.start(`w${i}`, logPosition(i));
  sessions.asOf('w0');
  sessions.start('one more', logPosition(1));
  expect(sessions.asOf('w0')).toEqual(logPosition(0));
  expect(sessions.asOf('w1')).toBeNull();
});

it('paginationSessionKey depends on caller, path and filters, not on limit and offset', () => {
  const name = (filters: Record<string, unknown>) => paginationSessionKey('acc', '/v3/trades', filters);
  expect(name({ token_id: '1', min: 5n, limit: 1, offset: 2 })).toBe(
    name({ token_id: '1', min: 5n, limit: 9, offset: 0 }),
  );
  expect(name({ token_id: '1' })).not.toBe(name({ token_id: '2' }));
  expect(paginationSessionKey('other', '/v3/trades', {})).not.toBe(paginationSessionKey('acc', '/v3/trades', {}));
});
