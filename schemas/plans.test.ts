import { describe, expect, it } from 'vitest';
import { missingFeatureStatus, plans } from './plans.js';

describe('plan table', () => {
  it('has the published rows, free to enterprise', () => {
    const row = <T>(pick: (terms: (typeof plans)['free']) => T) =>
      [plans.free, plans.starter, plans.growth, plans.enterprise].map(pick);
    expect(row((p) => p.priceUsdPerMonth)).toEqual([0, 50, 200, 750]);
    expect(row((p) => p.standardPerMinute)).toEqual([60, 1000, 2000, 4000]);
    expect(row((p) => p.heavyPerMinute)).toEqual([null, 1000, 1500, 1500]);
    expect(row((p) => p.eventSockets)).toEqual([1, 10, 50, null]);
    expect(row((p) => p.orderbookSockets)).toEqual([1, 10, 50, null]);
    expect(row((p) => p.sessionSecondsPerDay)).toEqual([3600, null, null, null]);
    expect(row((p) => p.apiKeys)).toEqual([1, 3, 10, 25]);
    expect(row((p) => p.snapshotCap)).toEqual([20, 100, 200, 500]);
    expect(row((p) => p.sinceLookbackMs / 1000)).toEqual([30, 120, 300, 300]);
    expect(row((p) => p.seqLookbackMs)).toEqual([30_000, 120_000, 300_000, null]);
    expect(row((p) => p.monthlyAllowance.api_requests)).toEqual([1e5, 1e7, 5e7, null]);
    expect(row((p) => p.monthlyAllowance.onchain_event_bytes)).toEqual([5e9, 250e9, 1e12, null]);
    expect(row((p) => p.monthlyAllowance.orderbook_chainlink_bytes)).toEqual([5e9, 250e9, 1e12, null]);
    expect(row((p) => p.socialSearchesPerMonth)).toEqual([0, 500, 1000, 5000]);
  });

  it('withholds the paid API groups from the free plan only', () => {
    const closed = Object.entries(plans.free.features)
      .filter(([, open]) => !open)
      .map(([feature]) => feature);
    expect(closed.sort()).toEqual(['clobv2', 'copyPnl', 'sql', 'v2Onchain', 'v2x', 'v3']);
    for (const plan of [plans.starter, plans.growth, plans.enterprise])
      expect(Object.values(plan.features).every(Boolean)).toBe(true);
    expect(missingFeatureStatus).toMatchObject({
      v3: 402,
      v2x: 402,
      clobv2: 402,
      copyPnl: 403,
      v2Onchain: 403,
      sql: 402,
    });
  });
});
