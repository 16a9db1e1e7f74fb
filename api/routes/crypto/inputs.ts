import { z } from 'zod';
import { requiredText } from '../../http/params.js';
import { type CoinSymbol, coins, parseSymbol, symbolList } from './coins.js';

/** Parameter `symbol`: asset or feed name in any letter case; parsed to the asset symbol. */
export const symbolParam = requiredText('symbol')
  .transform((text, context): CoinSymbol => {
    const symbol = parseSymbol(text);
    if (symbol === null) {
      context.addIssue({ code: 'custom', message: `Invalid symbol. Use: ${symbolList}` });
      return z.NEVER;
    }
    return symbol;
  })
  .meta({
    type: 'string',
    enum: [...coins.map((coin) => coin.symbol), ...coins.map((coin) => `${coin.symbol}/USD`)],
    description: 'Asset symbol or feed name, case-insensitive.',
    example: 'BTC',
  });
