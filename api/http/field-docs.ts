/** Formula of a price, by the kind of field. The description of each price field states it, so that different prices are not confused. */
export const priceDocs = {
  fill: 'USD per share of this fill: its USD over its shares, before fees.',
  order: 'Average fill price of the order: the USD of its fills over their shares, before fees.',
  now: "Price now, USD per share: the settlement, else the middle of the best bid and ask while younger than 60 s, else the newer of the last fill and the catalogue's quote.",
  average:
    'Average entry price, USD per share. While shares are held, what they cost per share, restarting after the holding reached zero; afterwards all that was paid over all that was bought.',
  open: "First fill's price in the bucket, USD per share; in a filled gap the close before it.",
  high: "Highest fill's price in the bucket, USD per share; in a filled gap the close before it.",
  low: "Lowest fill's price in the bucket, USD per share; in a filled gap the close before it.",
  close: "Last fill's price in the bucket, USD per share; in a filled gap the close before it.",
  vwap: 'Mean fill price in the bucket weighted by shares: its USD over its shares.',
  tickOpen: 'Oracle spot price, USD: of the tick at which the bucket opens.',
  tickHigh: 'Oracle spot price, USD: of the highest tick in the bucket.',
  tickLow: 'Oracle spot price, USD: of the lowest tick in the bucket.',
  tickClose: 'Oracle spot price, USD: of the last tick in the bucket, which moves until the bucket ends.',
  payout: 'Settlement: what each outcome pays per share, USD.',
} as const;

/** Side that a count or sum of buys and sells refers to. A match counts once, by its maker's order. */
export const sideDocs = {
  buys: "Matches whose maker's order bought the token.",
  sells: "Matches whose maker's order sold the token: the rest of all matches.",
  buyUsd: "USD of the matches whose maker's order bought the token.",
  sellUsd: "USD of the matches whose maker's order sold the token: the rest of the volume.",
  buyUnits: "USDC, base units (6 decimals), of the matches whose maker's order bought the token.",
  sellUnits: "USDC, base units (6 decimals), of the matches whose maker's order sold the token.",
  builderBuy: "Shares at 1 USD each of the signed orders (makers' and takers') with this code that bought",
  builderSell: "Shares at 1 USD each of the signed orders (makers' and takers') with this code that sold",
  maker: 'What the maker, who signed this order, did with the token.',
  subject:
    'Whether the subject bought or sold the token: the wallet asked for, else the maker. Where `counterparty` is set the wallet signed no such order.',
  own: "What proxyWallet's own order did with the token, whether it was maker or taker of the match.",
} as const;
