import { describe, expect, it } from 'vitest';
import type { SourceStatus } from '../../schemas/types.gen.js';
import { createSourceNotices } from './source-notices.js';

const range = { from_block: 101, to_block: 299, at_ms: 5_000 };
const chain = { source: 'chain', reread: null, gap: null } as unknown as SourceStatus;

describe('source notices', () => {
  const notices = (status: () => SourceStatus) => createSourceNotices({ freshness: () => [], all: () => [status()] });

  it('report a gap once to open connections, and to each new one with the time at which it was found', () => {
    let gap: SourceStatus['gap'] = null;
    const { changes, current } = notices(() => ({ ...chain, gap }));
    expect([changes(1_000), current(1_000)]).toEqual([[], []]);
    gap = range;
    const frame = { type: 'notice', code: 'gap', source: 'chain', from_block: 101, to_block: 299 };
    expect(changes(6_000)).toEqual([{ ...frame, ts: 6_000 }]);
    expect(changes(7_000)).toEqual([]);
    // A client that resumes after the gap was found.
    expect(current(60_000)).toEqual([{ ...frame, ts: 5_000 }]);
  });

  it('send the newest re-read range to a new connection', () => {
    const { current } = notices(() => ({ ...chain, reread: range }));
    expect(current(60_000)).toMatchObject([{ code: 'history_reread', ts: 5_000, from_block: 101, to_block: 299 }]);
  });
});
