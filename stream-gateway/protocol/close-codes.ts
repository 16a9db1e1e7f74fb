/** Close codes of the event socket with their reasons; clients read from the code what to do. */
export const closeReasons = {
  /** Come back at once, with since_seq: we are restarting. */
  restart: { code: 1012, reason: 'server restart' },
  /** Reads too slowly: what waited for it reached the bound. */
  slowConsumer: { code: 1013, reason: 'slow consumer' },
  /** Sent faster than it can be answered. */
  tooManyPending: { code: 1008, reason: 'too many pending messages' },
  /** Silent for five minutes. */
  liveness: { code: 4408, reason: 'no sign of life for 5 minutes' },
  /** The plan's session time of the day is over; an error frame with the time it resets came before. */
  sessionUsedUp: { code: 4429, reason: 'daily session time used up' },
} as const;

export type CloseReason = keyof typeof closeReasons;
