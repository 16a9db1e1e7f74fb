/** Coins with 5-minute up/down markets, in listing order. `names`: their names in catalogue slugs. */
export const coins = [
  { symbol: 'BTC', names: ['btc', 'bitcoin'] },
  { symbol: 'ETH', names: ['eth', 'ethereum'] },
  { symbol: 'SOL', names: ['sol', 'solana'] },
  { symbol: 'BNB', names: ['bnb'] },
  { symbol: 'XRP', names: ['xrp'] },
  { symbol: 'DOGE', names: ['doge', 'dogecoin'] },
  { symbol: 'HYPE', names: ['hype', 'hyperliquid'] },
] as const;

export type CoinSymbol = (typeof coins)[number]['symbol'];

const symbols: ReadonlySet<string> = new Set(coins.map((coin) => coin.symbol));

export const symbolList = coins.map((coin) => coin.symbol).join(', ');

/** RE2 pattern of slugs that contain the name of a coin as a whole word. */
export const coinSlugPattern = `(^|-)(${coins.flatMap((coin) => coin.names).join('|')})(-|$)`;

export const SHORT_WINDOW_S = 300;

/** Start of the 5-minute window that contains `nowMs`, Unix seconds. */
export function windowStartAt(nowMs: number): number {
  return Math.floor(nowMs / 1000 / SHORT_WINDOW_S) * SHORT_WINDOW_S;
}

/** Slugs of the coins' 5-minute markets for one window, in coin order. */
export function windowSlugs(windowStartS: number): string[] {
  return coins.map((coin) => `${coin.symbol.toLowerCase()}-updown-5m-${windowStartS}`);
}

/** Normalizes `btc` or `BTC/USD` to `BTC`; null for an unknown coin. */
export function parseSymbol(text: string): CoinSymbol | null {
  const upper = text.toUpperCase();
  const bare = upper.endsWith('/USD') ? upper.slice(0, -'/USD'.length) : upper;
  return symbols.has(bare) ? (bare as CoinSymbol) : null;
}

export const feedOf = (symbol: CoinSymbol): string => `${symbol}/USD`;
