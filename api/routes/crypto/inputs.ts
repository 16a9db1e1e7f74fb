import { z } from 'zod';
import { requiredText } from '../../http/params.js';
import { type CoinSymbol, coins, parseSymbol, symbolList } from './coins.js';

/** `symbol`: bare asset or feed name, any letter case. The output is the bare symbol. */
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
    description: 'Asset symbol or feed name; letter case does not matter.',
    example: 'BTC',
  });
