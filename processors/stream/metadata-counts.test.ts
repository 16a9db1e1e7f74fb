import { describe, expect, it } from 'vitest';
import type { Draft } from './frames/frame.js';
import { createMetadataCounts } from './metadata-counts.js';

const full = {
  market_title: 'Will it rain?',
  market_slug: 'will-it-rain',
  market_image: 'https://img.example/rain.png',
  event_title: 'Weather',
  outcome: 'No',
  tokens: { 9001: 'Yes' },
};
const draft = (kind: string, data: Record<string, unknown>, other: Partial<Draft> = {}): Draft => ({
  ...{ id: 'x', kind, timestampMs: 1, confirmed: true, body: { timestamp: 1, data } },
  ...other,
});

describe('createMetadataCounts', () => {
  it('counts settlement and status_update frames without a title and without complete metadata', () => {
    const counts = createMetadataCounts();
    const { market_image: _, ...withoutImage } = full;
    const combo = {
      condition_ids: [],
      leg_position_ids: [],
      event_ids: [],
      module_ids: [],
      action: null,
      direction: null,
    };
    for (const data of [full, withoutImage, {}]) {
      counts.count(draft('settlement', data));
      counts.count(draft('trade', data));
    }
    counts.count(draft('status_update', full));
    counts.count(draft('status_update', {}));
    counts.count(draft('status_update', {}, { combo }));
    expect(counts.status()).toEqual({
      settlement_missing_full: 2,
      settlement_missing_title: 1,
      status_missing_full: 1,
      status_missing_title: 1,
    });
  });
});
