import { expect, it } from 'vitest';
import { comboPositions } from '../../../../schemas/primitives/combo-ids.js';
import { exampleOpenPosition } from '../../../positions/examples.js';
import { comboPositionFrom, positionFrom } from './serialize.js';

const comboToken = comboPositions(`0x03${'c'.repeat(32)}0002${'0'.repeat(24)}`)[0];

it.each([
  ['nothing', 0n, 'resolved-loss', false],
  ['half a dollar', 500_000n, 'closed', null],
  ['a dollar', 1_000_000n, 'resolved-win', true],
])('market_status and won of a share that pays %s', (_payout, usd, market_status, won) => {
  const price = { usd, source: 'settlement' as const, updatedAtS: 1_790_000_000 };
  const position = { ...exampleOpenPosition, price };
  expect(positionFrom(position, position.metadata)).toMatchObject({ market_status, won });
  expect(comboPositionFrom({ ...position, tokenId: comboToken })).toMatchObject({ market_status, won });
});
