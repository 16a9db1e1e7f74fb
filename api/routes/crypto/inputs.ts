import { parsedText, requiredText } from '../../http/params.js';
import { coins, parseSymbol, symbolList } from './coins.js';

/** Parameter `symbol`: asset or feed name in any letter case; parsed to the asset symbol. */
export const symbolParam = parsedText(
  {
    text: requiredText('symbol'),
    parse: (text) => parseSymbol(text) ?? undefined,
    invalid: `Invalid symbol. Use: ${symbolList}`,
  },
  {
    type: 'string',
    enum: [...coins.map((coin) => coin.symbol), ...coins.map((coin) => `${coin.symbol}/USD`)],
    description: 'Asset symbol or feed name, case-insensitive.',
    example: 'BTC',
  },
);
