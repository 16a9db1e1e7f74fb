import { expect, it } from 'vitest';
import { createMarketFacts, recordTickSize } from './market-facts.js';

it('recordTickSize keeps the tick size of the newest message: a fetched book may be older than a change', () => {
  const facts = createMarketFacts('0x01', { tickSize: 0.01 });
  recordTickSize(facts, '0.001', 2_000);
  recordTickSize(facts, '0.01', 1_999);
  expect(facts).toMatchObject({ tickSize: '0.001', previousTickSize: '0.01' });
  recordTickSize(facts, '0.01', 2_001);
  expect(facts).toMatchObject({ tickSize: '0.01', previousTickSize: '0.001' });
});
