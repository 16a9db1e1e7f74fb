import type { ImportedMarket } from '../../../infra/import/format.js';
import type { Hex } from '../../../schemas/primitives/hash.js';
import { titleFromSlug } from '../recorded/gamma.js';
import { seriesOf, tagsOf } from '../recorded/series.js';
import { windowTitle } from '../recorded/shift.js';
import type { RecordedCatalog, RecordedMarket } from '../recorded/types.js';
import type { Imported } from './open-imported.js';

const WINDOW = /^([a-z]+)-updown-(5m|15m|4h)-(\d+)$/;
const DURATION_S: Readonly<Record<string, number>> = { '5m': 300, '15m': 900, '4h': 14_400 };

/** Coin, length and times of an up-or-down market, which its slug names. */
function windowOf(slug: string): Pick<RecordedMarket, 'coin' | 'duration' | 'startS' | 'endS'> {
  const [, coin = null, duration = null, start] = WINDOW.exec(slug) ?? [];
  if (duration === null) return { coin: null, duration: null, startS: null, endS: null };
  const startS = Number(start);
  return { coin, duration, startS, endS: startS + (DURATION_S[duration] ?? 0) };
}

function marketOf(market: ImportedMarket): RecordedMarket {
  const window = windowOf(market.slug);
  const { coin, startS, endS } = window;
  return {
    slug: market.slug,
    title:
      coin === null || startS === null || endS === null ? titleFromSlug(market.slug) : windowTitle(coin, startS, endS),
    conditionId: market.condition as Hex,
    questionId: market.question as Hex | null,
    tokenIds: market.tokens,
    idsFrom: 'data-api',
    negRisk: market.neg_risk,
    outcomes: market.outcomes,
    ...window,
    createdS: null,
    resolvedS: market.resolved,
    outcome: market.winner,
    outcomeFrom: market.winner === null ? null : 'recorded',
    lastPrice: null,
    eventSlug: market.event === '' ? market.slug : market.event,
    eventId: null,
    icon: null,
    strikeE18: null,
    raw: null,
    shiftDays: null,
  };
}

/** The catalogue as far as exported rows name it: slugs, events, outcomes, windows of coins. */
export function importedCatalog({ manifest, markets }: Imported): RecordedCatalog {
  const recorded = markets.filter(({ slug }) => slug !== '').map(marketOf);
  return {
    // No market belongs to a day that is played again.
    meta: { day: { from_ms: manifest.from_s * 1000, markets: 0 }, tail: { from_s: 0, history_until_s: 0 } },
    markets: recorded,
    gammaEvents: [],
    series: seriesOf(recorded),
    tags: tagsOf([]),
  };
}
