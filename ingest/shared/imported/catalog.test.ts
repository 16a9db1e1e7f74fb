import { expect, it } from 'vitest';
import type { ImportedMarket } from '../../../infra/import/format.js';
import { importedCatalog } from './catalog.js';
import type { Imported } from './open-imported.js';

it('the catalogue of imported files has the windows and events that slugs name', () => {
  const market = (of: Partial<ImportedMarket>): ImportedMarket => ({
    ...{ condition: '0xc1', slug: '', event: '', neg_risk: false, tokens: ['1', '2'], outcomes: ['Up', 'Down'] },
    ...{ question: null, resolved: 1_773_957_316, winner: 0 },
    ...of,
  });
  const imported = {
    manifest: { from_s: 1_773_878_400 },
    markets: [
      market({ slug: 'btc-updown-5m-1773957000' }),
      market({ slug: 'rivers-lakes-draw', event: 'rivers-lakes' }),
      market({}),
    ],
  } as unknown as Imported;
  const [window, match, ...none] = importedCatalog(imported).markets;
  expect(window).toMatchObject({
    ...{ title: 'Bitcoin Up or Down - March 19, 5:50PM-5:55PM ET', coin: 'btc', duration: '5m' },
    ...{ startS: 1_773_957_000, endS: 1_773_957_300, resolvedS: 1_773_957_316, outcome: 0 },
    eventSlug: 'btc-updown-5m-1773957000',
  });
  expect(match).toMatchObject({ title: 'Rivers lakes draw', eventSlug: 'rivers-lakes', startS: null });
  expect(none).toEqual([]);
});
