import type { GammaObject, RecordedMarket, RecordedSeries, RecordedTag } from './types.js';

const COIN_NAMES: Readonly<Record<string, string>> = {
  btc: 'Bitcoin',
  eth: 'Ethereum',
  sol: 'Solana',
  bnb: 'BNB',
  xrp: 'XRP',
  doge: 'Dogecoin',
  hype: 'Hyperliquid',
};

/** Known ids; for other series only the slug rule is known. */
const SERIES_IDS: Readonly<Record<string, string>> = {
  'btc-up-or-down-5m': '10684',
  'btc-up-or-down-15m': '10192',
  'xrp-up-or-down-15m': '10422',
};

const CRYPTO_TAG: RecordedTag = { id: '21', slug: 'crypto', label: 'Crypto' };
const QUARTER_HOUR_TAG: RecordedTag = { id: '102467', slug: '15m', label: '15M' };

/** Full name of a coin as market titles spell it: `btc` -> `Bitcoin`. */
export function coinName(coin: string): string {
  return COIN_NAMES[coin] ?? coin.toUpperCase();
}

/** Series slug of a window market; null for windows without a known slug rule and for other markets. */
export function seriesSlugOf(market: Pick<RecordedMarket, 'coin' | 'duration'>): string | null {
  return market.coin !== null && (market.duration === '5m' || market.duration === '15m')
    ? `${market.coin}-up-or-down-${market.duration}`
    : null;
}

/** Every series the markets belong to, by slug. */
export function seriesOf(markets: readonly RecordedMarket[]): RecordedSeries[] {
  const bySlug = new Map<string, RecordedSeries>();
  for (const market of markets) {
    const slug = seriesSlugOf(market);
    if (slug === null || bySlug.has(slug)) continue;
    bySlug.set(slug, {
      id: SERIES_IDS[slug] ?? null,
      slug,
      title: `${coinName(market.coin!)} Up or Down ${market.duration}`,
      recurrence: market.duration!,
    });
  }
  return [...bySlug.values()].sort((a, b) => (a.slug < b.slug ? -1 : 1));
}

/** Tags of a window market's event. */
export function tagsOfMarket(market: Pick<RecordedMarket, 'coin' | 'duration'>): RecordedTag[] {
  if (market.coin === null) return [];
  return market.duration === '15m' ? [CRYPTO_TAG, QUARTER_HOUR_TAG] : [CRYPTO_TAG];
}

/** Tags of the recording: the two tags of crypto windows and the tags of recorded events. */
export function tagsOf(gammaEvents: readonly GammaObject[]): RecordedTag[] {
  const tags = gammaEvents.flatMap((event) => (event.tags ?? []) as RecordedTag[]);
  return [CRYPTO_TAG, QUARTER_HOUR_TAG, ...tags.map(({ id, slug, label }) => ({ id, slug, label }))];
}
