import { closeReasons as eventSocket } from '../protocol/close-codes.js';

/** Close codes of the order-book socket: those of the event socket, and those of integrity mode. */
export const closeReasons = {
  ...eventSocket,
  /** `integrity` is neither 0 nor 1. */
  integrityOption: { code: 1008, reason: 'invalid integrity option' },
  /** A batch could not be made; the client should connect again. */
  internal: { code: 1011, reason: 'internal error' },
} as const;

export type CloseReason = keyof typeof closeReasons;
