/** Close codes of the event socket with their reasons. Clients choose their reaction by the code. */
export const closeReasons = {
  /** The server restarts; the client should reconnect at once with since_seq. */
  restart: { code: 1012, reason: 'server restart' },
  /** The client reads too slowly: its send buffer reached the bound. */
  slowConsumer: { code: 1013, reason: 'slow consumer' },
  /** The client sends messages faster than the server handles them. */
  tooManyPending: { code: 1008, reason: 'too many pending messages' },
  /** The client has sent nothing for five minutes. */
  liveness: { code: 4408, reason: 'no sign of life for 5 minutes' },
  /** The plan's session time of the day is used up; an error frame with the reset time precedes the close. */
  sessionUsedUp: { code: 4429, reason: 'daily session time used up' },
  /** The key was revoked, has been replaced and its grace is over, or its account was deleted. */
  keyRevoked: { code: 4403, reason: 'API key no longer valid' },
  /** A plan with fewer connections applies; the newest connections are closed. */
  connectionLimit: { code: 4409, reason: 'too many connections for the plan' },
  /** Allowance, packages and courtesy capacity are used up; an error frame with the reset time precedes the close. */
  allowanceUsedUp: { code: 4402, reason: 'monthly allowance used up' },
} as const;

export type CloseReason = keyof typeof closeReasons;
