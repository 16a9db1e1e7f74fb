import type { Trade } from '../../schemas/types.gen.js';
import { makeTrade } from '../processors/events.js';

/** The fill that `feed-head.ts` appends as its n-th. */
export const fedFill = (n: number): Trade => makeTrade(200_000_000 + n, 0);
