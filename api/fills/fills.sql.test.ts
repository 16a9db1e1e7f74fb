import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fillsByOrderSql,
  fillsSql,
  filterConditions,
  groupsSql,
  newestFillSql,
  tableFor,
  windowSql,
} from './fills.sql.js';
import { type FillFilter, allFills as none } from './filter.js';
import { tokenQuery, tokensSql } from './tokens.sql.js';

const page = { order: 'desc', limit: 10, offset: 0 } as const;

describe('filterConditions', () => {
  it('adds no condition for an empty filter', () =>
    expect(filterConditions(none, 'desc')).toEqual({ text: '', params: {} }));

  it('reads the table whose sort key starts with the filtered column', () => {
    expect(tableFor(none)).toBe('fills');
    expect(tableFor({ ...none, tokenIds: ['1'], builder: '0xb' })).toBe('fills_by_token');
    expect(tableFor({ ...none, builder: '0xb' })).toBe('fills_by_builder');
    expect(tableFor({ ...none, builder: '' })).toBe('fills');
    const many = Array.from({ length: 9 }, (_, index) => String(index + 1));
    expect(tableFor({ ...none, tokenIds: many })).toBe('fills_by_token');
    expect(tableFor({ ...none, tokenIds: many, builder: '0xb' })).toBe('fills_by_builder');
    expect(tableFor({ ...none, tokenIds: ['1'], wallets: ['0xa'], builder: '0xb' })).toBe('fills_by_wallet');
  });

  it('reads below a cursor newest first and above it oldest first', () => {
    const beyond = { blockNumber: 7, logIndex: 3 };
    expect(filterConditions({ ...none, beyond }, 'desc').text).toContain('(f.block_number, f.log_index) < ');
    expect(filterConditions({ ...none, beyond }, 'asc').text).toContain('(f.block_number, f.log_index) > ');
  });

  it('never puts a value into the text of a statement', () => {
    const value = fc.string({ minLength: 4, unit: fc.constantFrom('\u0001', '\u0002', '\u0003') });
    fc.assert(
      fc.property(value, value, value, (token, hash, builder) => {
        const selection = { tokenId: token, conditionId: hash, marketSlug: builder, eventSlug: token, eventId: hash };
        const filters: FillFilter[] = [
          { ...none, tokenIds: [token], orderHash: hash, builder },
          { ...none, tokenIds: [token, hash] },
          { ...none, wallets: [token], builder },
          { ...none, wallets: [token, hash], tokenIds: [...Array(9)].map(() => builder) },
          { ...none, builder, among: tokenQuery({ ...selection, tagSlug: token, anyTag: [hash, builder] }) },
          { ...none, builder, among: tokenQuery({ tagSlug: token, anyTag: [hash] }) },
        ];
        const statements = [
          tokensSql({ ...selection, tagSlug: builder }, 5),
          ...filters.flatMap((filter) => [
            fillsSql(filter, page),
            fillsByOrderSql(filter, page),
            groupsSql(filter, page, 'order_hash'),
            groupsSql(filter, page, 'user_trade'),
            newestFillSql(filter),
            windowSql(filter, page, 2) ?? newestFillSql(filter),
          ]),
        ];
        for (const { text } of statements) {
          for (const input of [token, hash, builder]) expect(text).not.toContain(input);
        }
      }),
    );
  });

  it('binds every parameter that a statement names', () => {
    const every: FillFilter = {
      wallets: ['w'],
      role: 'maker',
      tokenIds: ['1'],
      among: null,
      afterS: 1,
      beforeS: 2,
      orderHash: 'h',
      minUsdc: 1n,
      minMakerAmount: 2n,
      minFee: 3n,
      builder: 'b',
      side: 'BUY',
      versions: { min: 1, max: 2 },
      matchesOnly: true,
      takerOrdersOnly: true,
      beyond: { blockNumber: 1, logIndex: 2 },
      atMost: { blockNumber: 3, logIndex: 4 },
    };
    const filters = [
      every,
      { ...every, wallets: ['w', 'x'], role: null },
      { ...every, wallets: null, tokenIds: ['1', '2'] },
      {
        ...every,
        wallets: null,
        tokenIds: null,
        among: tokenQuery({ eventId: '7', tagSlug: 'a', anyTag: ['b', 'c'] }),
      },
      { ...every, wallets: null, tokenIds: null, among: tokenQuery({ tagSlug: 'a' }) },
      { ...every, wallets: null, tokenIds: [...Array(9)].map((_, index) => String(index)) },
    ];
    for (const filter of filters) {
      const statements = [
        fillsSql(filter, page),
        fillsByOrderSql(filter, page),
        groupsSql(filter, page, 'user_trade'),
        newestFillSql(filter),
      ];
      for (const { text, params } of statements) {
        const named = new Set([...text.matchAll(/\{(\w+):/g)].map((match) => match[1]));
        expect([...named].sort()).toEqual(Object.keys(params).sort());
      }
    }
  });
});
