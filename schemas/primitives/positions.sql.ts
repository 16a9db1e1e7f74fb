// SQL expressions over the tables of positions and prices that processors and api share.

/** `isComboPosition` for a column of token ids. */
export const isComboSql = (token: string): string =>
  `(bitShiftRight(${token}, 248) IN (1, 2, 3) AND bitAnd(bitShiftRight(${token}, 40), toUInt256(18446744073709551615)) = 0)`;

const ONE_18 = 'toInt256(1000000000000000000)';
/** Half up as `divide` of money.ts: halves away from zero. intDiv drops the fraction. */
const divideHalfUpSql = (amount: string, one: string): string =>
  `intDiv(${amount} * 2 + if(${amount} < 0, -${one}, ${one}), ${one} * 2)`;

/**
 * Unrealized PnL of a position: bought shares (`size - received`) times the current price, minus the same shares times the average price, each
 * product rounded half up to base units. 0 without a price. `p`: alias of positions, `q`: alias of token_prices. The average price is negative when the wallet
 * received more USD for shares than it paid, e.g. in conversions.
 */
export function unrealizedPnlSql(p: string, q: string): string {
  const tracked = `toInt256(${p}.size - ${p}.received)`;
  const value = divideHalfUpSql(`${tracked} * toInt256(round(${q}.price * 1000000))`, 'toInt256(1000000)');
  const cost = divideHalfUpSql(`${tracked} * toInt256(toDecimal256(${p}.avg_price, 18) * 1000000000000000000)`, ONE_18);
  return `if(${q}.source IN ('', 'none'), toInt256(0), ${value} - ${cost})`;
}

/** SQL expression for the transaction of an event of wallet activity: `0x` and 64 digits at the beginning of its id. */
export const eventTransactionSql = (id: string): string => `substring(${id}, 1, 66)`;
