/** Formula of a price, by the kind of field. The description of each price field states it, so that different prices are not confused. */
export const priceDocs = {
  fill: 'USD per share of this fill: its USD over its shares, before fees.',
  order: 'Average fill price of the order: the USD of its fills over their shares, before fees.',
  now: 'Current price, USD per share: the settlement price; before settlement the mid of best bid and ask if younger than 60 s, otherwise the newer of last fill and catalogue quote.',
  average:
    'Average entry price, USD per share. With shares: their cost per share; it restarts after the position was empty. Without shares: everything paid divided by everything bought.',
  open: "First fill's price in the bucket, USD per share; in a filled gap the previous close.",
  high: "Highest fill's price in the bucket, USD per share; in a filled gap the previous close.",
  low: "Lowest fill's price in the bucket, USD per share; in a filled gap the previous close.",
  close: "Last fill's price in the bucket, USD per share; in a filled gap the previous close.",
  vwap: 'Mean fill price in the bucket weighted by shares: its USD over its shares.',
  tickOpen: 'Oracle spot price of the tick that opens the bucket, USD.',
  tickHigh: 'Highest oracle spot price of the ticks in the bucket, USD.',
  tickLow: 'Lowest oracle spot price of the ticks in the bucket, USD.',
  tickClose: 'Oracle spot price of the last tick in the bucket, USD; changes until the bucket ends.',
  payout: 'Settlement: USD per share that each outcome pays.',
} as const;

/** Side that a count or sum of buys and sells refers to. A match counts once, by its maker's order. */
export const sideDocs = {
  buys: "Matches whose maker's order bought the token.",
  sells: "Matches whose maker's order sold the token: all matches minus buys.",
  buyUsd: "USD of the matches whose maker's order bought the token.",
  sellUsd: "USD of the matches whose maker's order sold the token: the volume minus the buy volume.",
  buyUnits: "USDC, base units (6 decimals), of the matches whose maker's order bought the token.",
  sellUnits: "USDC, base units (6 decimals), of the matches whose maker's order sold the token.",
  builderBuy: "Shares at 1 USD each of the signed orders (makers' and takers') with this code that bought",
  builderSell: "Shares at 1 USD each of the signed orders (makers' and takers') with this code that sold",
  maker: 'Whether the maker, who signed this order, bought or sold the token.',
  subject:
    'Whether the subject bought or sold the token: the requested wallet, or else the maker. With `counterparty` the wallet did not sign this order.',
  own: "Whether proxyWallet's own order bought or sold the token, as maker or taker of the match.",
} as const;
