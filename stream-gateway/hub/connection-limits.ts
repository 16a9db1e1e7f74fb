import type { ProtocolError } from '../protocol/messages.js';
import type { PendingLimits } from './request-queue.js';

export interface ConnectionLimits {
  readonly pending: PendingLimits;
  readonly subscriptions: number;
  /** Bound of the filter items of all subscriptions, as a multiple of the plan's bound for one. */
  readonly itemsFactor: number;
  /** Bytes of a message allowed per filter item of the plan, in addition to a fixed part. */
  readonly bytesPerItem: number;
}

export const defaultConnectionLimits: ConnectionLimits = {
  pending: { frames: 2_000, bytes: 16 * 1024 * 1024 },
  subscriptions: 1_000,
  itemsFactor: 10,
  bytesPerItem: 128,
};
const MESSAGE_BASE_BYTES = 64 * 1024;

/** Error of a subscription of `items` filter items beside `others`, or null: within the bounds of the plan and of a connection. */
export function subscriptionLimitError(options: {
  readonly items: number;
  /** The connection's other subscriptions. */
  readonly others: readonly { readonly items: number }[];
  /** Replaced subscriptions that are still delivering, and their filter items. */
  readonly retired: { readonly count: number; readonly items: number };
  /** Filter items of the plan per subscription. */
  readonly allowedItems: number;
  readonly limits: ConnectionLimits;
}): ProtocolError | null {
  const { items, others, retired, allowedItems, limits } = options;
  if (items > allowedItems) {
    return {
      code: 'filter_limit',
      message: `${items} filter items; your plan allows ${allowedItems} per subscription`,
    };
  }
  if (others.length + retired.count >= limits.subscriptions) {
    return { code: 'subscription_limit', message: `A connection may have ${limits.subscriptions} subscriptions` };
  }
  const allowed = allowedItems * limits.itemsFactor;
  if (others.reduce((sum, other) => sum + other.items, items + retired.items) > allowed) {
    return { code: 'filter_limit', message: `A connection of your plan may have ${allowed} filter items in all` };
  }
  return null;
}

/** Error of a message that is larger than the filter items of the plan need, or null. */
export function messageSizeError(bytes: number, allowedItems: number, limits: ConnectionLimits): ProtocolError | null {
  const largest = MESSAGE_BASE_BYTES + allowedItems * limits.bytesPerItem;
  if (bytes <= largest) return null;
  return {
    code: 'filter_limit',
    message: `Message of ${bytes} bytes; the filter items of your plan fit into ${largest}`,
  };
}
