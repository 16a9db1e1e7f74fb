export { blockEvent, decodeBlock } from './block.js';
export type { ChainEvent } from './chain-event.js';

export { decodePending } from './pending.js';
