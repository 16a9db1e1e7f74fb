import { randomUUID } from 'node:crypto';

const REQUEST_ID = /^[\w.-]{1,64}$/;

/** Value of `x-request-id` of a response: that of the request if it is well-formed, else a new one. */
export const requestIdFrom = (given: unknown): string =>
  typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();

/** Headers of every response: its content type is not guessed, and other sites do not learn paths. */
export const secureHeaderValues = {
  'x-content-type-options': 'nosniff',
  // Not no-referrer: browsers then send `Origin: null` with forms of this server's own pages.
  'referrer-policy': 'same-origin',
} as const;
