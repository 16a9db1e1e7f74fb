/**
 * Real markets and an event of the venue, re-encoded: ids, prices and dates are those published (event 30829 as of 2026-03-11, market
 * 3763487 of 2026-08-22, market 3047973 of 2026-07-24), members are reordered and prose is omitted.
 */

const nominee = '0x2c3d7e0eee6f058be3006baabf0d54a07da254ba47fe6e3e095e7990c7814700';
const list = (...items: string[]) => JSON.stringify(items);

export const twapMarket = {
  slug: 'btc-updown-5m-1787414400',
  id: '3763487',
  question: 'Bitcoin Up or Down - August 22, 12:00PM-12:05PM ET',
  conditionId: '0x2eea28aa905ace2f5cace17ea2b9e0e7b85a27f32ee14ed292f02fa104956bc4',
  questionID: '0xe3a10df6f8a162859a9a8a496ea5670f9837f800d78cfe3a5aa2e0fa11d079ba',
  outcomes: list('Up', 'Down'),
  outcomePrices: list('0.555', '0.445'),
  clobTokenIds: list(
    '113013382422133157315656190194075928009220145127085300671933810669470922115281',
    '38034349155375505476764349018583065542443879908961992019053731521216367745079',
  ),
  startDate: '2026-08-21T16:08:38.248161Z',
  eventStartTime: '2026-08-22T16:00:00Z',
  endDate: '2026-08-22T16:05:00Z',
  active: true,
  closed: false,
  negRisk: false,
  takerBaseFee: 1000,
  feeSchedule: { rate: 0.07, exponent: 1, takerOnly: true, rebateRate: 0.2 },
  orderMinSize: 5,
  orderPriceMinTickSize: 0.01,
  resolutionSource: 'https://data.chain.link/streams/btc-usd-twap-60s-streams',
  cryptoMarketConfig: {
    id: 'btc-5m-twap-60',
    asset: 'btc',
    duration: '5m',
    twapEnabled: true,
    twapLookbackSeconds: 60,
  },
};

/** A resolved window with an unusual date form, empty texts and volume as text. */
export const closedMarket = {
  slug: 'btc-updown-5m-1784851200',
  id: '3047973',
  question: 'Bitcoin Up or Down - July 23, 8:00PM-8:05PM ET',
  conditionId: '0x36cb924e956b2d13bcafe194cb4c59fbd13d3cccbf1368b081d07924ab20f329',
  questionID: '0x53e92e611b8276ce189ead5a75602bcd07c3374b293841a0513a321e20eb9d8c',
  negRiskMarketID: '',
  negRiskRequestID: '',
  outcomes: list('Up', 'Down'),
  outcomePrices: list('0', '1'),
  clobTokenIds: list(
    '113284799581609751589891550166136992389699845333635525538167662371764318518311',
    '48265563723288791013647874716778794965875981985781900232388978043327398639215',
  ),
  createdAt: '2026-07-23T00:06:38.016081Z',
  eventStartTime: '2026-07-24T00:00:00Z',
  endDate: '2026-07-24T00:05:00Z',
  closedTime: '2026-07-24 00:05:18+00',
  active: true,
  closed: true,
  volume: '87923.5842799998',
  liquidity: '0',
  bestAsk: 0.01,
  lastTradePrice: 0.01,
  marketMakerAddress: '',
};

const nomineeMarket = (fields: {
  id: string;
  name: string;
  index: string;
  conditionId: string;
  tokens: readonly [string, string];
  prices: readonly [string, string];
  volume: string;
}) => ({
  id: fields.id,
  slug: `will-${fields.name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}-win-the-2028-democratic-presidential-nomination`,
  question: `Will ${fields.name} win the 2028 Democratic presidential nomination?`,
  groupItemTitle: fields.name,
  conditionId: fields.conditionId,
  questionID: `${nominee.slice(0, -2)}${fields.index}`,
  negRisk: true,
  negRiskMarketID: nominee,
  outcomes: list('Yes', 'No'),
  outcomePrices: list(...fields.prices),
  clobTokenIds: list(...fields.tokens),
  endDate: '2028-11-07T00:00:00Z',
  resolutionSource: '',
  volume: fields.volume,
  orderPriceMinTickSize: 0.001,
  active: true,
  closed: false,
  feeType: null,
});

export const negRiskEvent = {
  id: '30829',
  slug: 'democratic-presidential-nominee-2028',
  title: 'Democratic Presidential Nominee 2028',
  startDate: '2025-07-11T18:41:17.827458Z',
  creationDate: '2025-07-11T18:41:17.827389Z',
  endDate: '2028-11-07T00:00:00Z',
  updatedAt: '2026-03-11T15:13:38.097738Z',
  active: true,
  closed: false,
  archived: false,
  negRisk: true,
  negRiskMarketID: nominee,
  negRiskAugmented: true,
  liquidity: 43042905.16152,
  volume: 799823812.487094,
  volume24hr: 5669354.219446001,
  openInterest: 0,
  markets: [
    nomineeMarket({
      id: '559657',
      name: 'Stephen A. Smith',
      index: '05',
      conditionId: '0xc8f1cf5d4f26e0fd9c8fe89f2a7b3263b902cf14fde7bfccef525753bb492e47',
      tokens: [
        '60590045489347122735554346200880179420435533609307820342798544098823516727807',
        '76005700027045000587004110133818166617024719626220722682005164003117993034812',
      ],
      prices: ['0.0105', '0.9895'],
      volume: '12232699.615479222',
    }),
    nomineeMarket({
      id: '559659',
      name: 'Gretchen Whitmer',
      index: '07',
      conditionId: '0xe39adea057926dc197fe30a441f57a340b2a232d5a687010f78bba9b6e02620f',
      tokens: [
        '57761428076807364758801249497410455358987881775226117256631754592198558850468',
        '64300336035644500626313522990854070672468621241744347587785777226296613235598',
      ],
      prices: ['0.0145', '0.9855'],
      volume: '6313171.174692103',
    }),
  ],
  tags: [
    { id: '2', label: 'Politics', slug: 'politics', forceShow: false },
    { id: '264', label: 'Primaries', slug: 'primaries', forceShow: false },
  ],
};

/** The event of a short-form window: one market, same slug, member of a series whose id is a number. */
export function windowEvent(market: typeof twapMarket | typeof closedMarket, over: Record<string, unknown> = {}) {
  return {
    id: `9${market.id}`,
    slug: market.slug,
    title: market.question,
    seriesSlug: 'btc-up-or-down-5m',
    series: [
      {
        id: 10684,
        slug: 'btc-up-or-down-5m',
        title: 'BTC Up or Down 5m',
        recurrence: '5m',
        active: true,
        closed: false,
      },
    ],
    tags: [{ id: 21, slug: 'crypto', label: 'Crypto' }],
    active: market.active,
    closed: market.closed,
    endDate: market.endDate,
    markets: [market],
    ...over,
  };
}

/** A plain event with one market, whose condition and token ids are the number's; closed on 1 January 2024 unless `over` says otherwise. */
export function numberedEvent(n: number, over: { closed?: boolean; conditionId?: string; tokenIds?: string[] } = {}) {
  const closed = over.closed ?? true;
  const endDate = closed ? '2024-01-01T00:00:00Z' : '2030-01-01T00:00:00Z';
  return {
    id: `${n}`,
    slug: `event-${n}`,
    title: `Event ${n}`,
    tags: [{ id: '7', label: 'Old', slug: 'old' }],
    closed,
    endDate,
    markets: [
      {
        id: `${n}`,
        slug: `market-${n}`,
        question: `Question ${n}?`,
        conditionId: over.conditionId ?? numberedCondition(n),
        outcomes: list('Yes', 'No'),
        outcomePrices: list('1', '0'),
        clobTokenIds: list(...(over.tokenIds ?? [`${2 * n}`, `${2 * n + 1}`])),
        closed,
        active: true,
        endDate,
      },
    ],
  };
}

export const numberedCondition = (n: number) => `0x${n.toString(16).padStart(64, '0')}`;
