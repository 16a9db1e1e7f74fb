import type { Trade } from '../../schemas/types.gen.js';
import { createTestTrade } from '../processors/events.js';

/** The fill that `append-head.child.ts` appends as its n-th. */
export const headFill = (n: number): Trade => createTestTrade(200_000_000 + n, 0);
