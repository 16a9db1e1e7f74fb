import { type orderBookErrorCodes, orderBookClientMessages as schemas } from '../../schemas/order-book/socket.js';

type ErrorCode = (typeof orderBookErrorCodes)[number];

/** An error frame; it has no `type`. */
export interface BookError {
  readonly error: ErrorCode;
  readonly message: string;
  readonly retry_after_ms?: number;
  readonly resets_at?: string;
}

export const bookError = (error: ErrorCode, message: string, more: Partial<BookError> = {}): BookError => ({
  error,
  message,
  ...more,
});

/** Tokens of one connection. */
export const MAX_TOKENS = 15_000;
/** Tokens of one connection that verifies checksums. */
export const MAX_INTEGRITY_TOKENS = 500;
/** Bytes of one message; as many token ids as a connection may have fit. */
export const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;

export type BookMessage =
  | { readonly action: 'ping' }
  | { readonly action: 'subscribe'; readonly markets: readonly string[] }
  | { readonly action: 'unsubscribe' | 'resync'; readonly markets: readonly string[] | null };

const invalid = (message: string): BookError => bookError('invalid_message', message);
const byAction = {
  subscribe: schemas.book_subscribe,
  unsubscribe: schemas.book_unsubscribe,
  resync: schemas.resync,
  ping: schemas.book_ping,
} as const;

/** Parses one text frame. Never throws: an invalid frame yields the error to send. */
export function parseBookMessage(text: string): BookMessage | BookError {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return bookError('invalid_json', 'Message is not valid JSON.');
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    return invalid('Expected: {"action": "subscribe"|"unsubscribe"|"resync"|"ping", ...}');
  const { action, markets } = message as Record<string, unknown>;
  if (typeof action !== 'string' || !Object.hasOwn(byAction, action))
    return invalid('Expected: {"action": "subscribe"|"unsubscribe"|"resync"|"ping", ...}');
  if (Array.isArray(markets) && markets.length > MAX_TOKENS)
    return bookError('input_too_large', `${markets.length} markets; a message may have ${MAX_TOKENS}.`);
  const parsed = byAction[action as keyof typeof byAction].safeParse(message);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return invalid(`${issue?.path.join('.') || 'message'}: ${issue?.message ?? 'invalid'}`);
  }
  const { data } = parsed;
  if (data.action === 'ping') return { action: 'ping' };
  if (data.action === 'subscribe') return { action: 'subscribe', markets: data.markets };
  return { action: data.action, markets: data.markets ?? null };
}

export const isBookError = <T extends object>(value: T | BookError): value is BookError => 'error' in value;
