export { blockEvent, type DecodedBlock, decodeBlock } from './block.js';
export type { ChainEvent } from './chain-event.js';
export { exchangeFeeV1, feeSharesToUsdc, takerFeeV2 } from './fees.js';
export { decodePending, type PendingResult } from './pending.js';
export type { Problem } from './transaction.js';
