import { z } from 'zod';
import * as chain from './chain.js';
import * as combos from './combos.js';
import { priceFeed } from './price-feed.js';
import * as trading from './trading.js';

/** Schema of the frame of each kind of stream event. */
export const eventFrames = {
  settlement: trading.settlement,
  status_update: trading.statusUpdate,
  trade: trading.trade,
  fill: trading.fill,
  block: chain.block,
  deposit: chain.deposit,
  position_change: chain.positionChange,
  position_split: chain.positionSplit,
  position_merge: chain.positionMerge,
  positions_converted: chain.positionsConverted,
  redemption: chain.redemption,
  oracle: chain.oracle,
  price_feed: priceFeed,
  combo_execution: combos.comboExecution,
  combo_status_update: combos.comboStatusUpdate,
  combo_lifecycle: combos.comboLifecycle,
  combo_approval: combos.comboApproval,
  retract: chain.retract,
} as const;

export type StreamKind = keyof typeof eventFrames;

/** Any event frame, discriminated by `type`. */
export const eventFrame = z.discriminatedUnion('type', [
  eventFrames.settlement,
  eventFrames.status_update,
  eventFrames.trade,
  eventFrames.fill,
  eventFrames.block,
  eventFrames.deposit,
  eventFrames.position_change,
  eventFrames.position_split,
  eventFrames.position_merge,
  eventFrames.positions_converted,
  eventFrames.redemption,
  eventFrames.oracle,
  eventFrames.price_feed,
  eventFrames.combo_execution,
  eventFrames.combo_status_update,
  eventFrames.combo_lifecycle,
  eventFrames.combo_approval,
  eventFrames.retract,
]);
