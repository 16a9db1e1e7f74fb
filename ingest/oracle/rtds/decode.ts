import { parseDecimalE18 } from '../decimal.js';
import { type OraclePrice, oracleAssets } from '../source.js';
import { priceTopics, subscriptionKey } from './subscriptions.js';

/** A price of a frame with its subscription. */
export interface DecodedPrice {
  readonly subscription: string;
  readonly price: OraclePrice;
}

/**
 * Content of one text frame. `prices` are in frame order (an update has one, a dump about two minutes of them). `bad` has one reason per
 * unreadable part; the rest of the frame is used. `ignored`: pongs and data without a subscription.
 */
export interface DecodedFrame {
  readonly kind: 'update' | 'dump' | 'ignored' | 'bad';
  readonly prices: readonly DecodedPrice[];
  readonly errors: readonly string[];
}

const NUMBER_MEMBERS = /("(?:value|full_accuracy_value)"\s*:\s*)(-?[0-9][0-9.eE+-]*)/g;
const MAX_FUTURE_MS = 60_000;
const EARLIEST_MS = Date.UTC(2020, 0, 1);
const E18 = 10n ** 18n;

const windows = new Map(priceTopics.map(({ topic, windowS }) => [topic, windowS]));
const feeds = new Map(oracleAssets.map((asset) => [`${asset.toLowerCase()}/usd`, `${asset}/USD`]));

/**
 * Decodes one text frame. Prices are parsed from the text of the number, so no digit is lost in a double: number members named `value` are
 * quoted before JSON.parse (inside a JSON string the quotes around the name are escaped, so the pattern cannot match there).
 * `full_accuracy_value` (integer text scaled by 1e18, or the decimal price) wins over `value`; the two must agree to 1 %. Never throws.
 */
export function decodeFrame(text: string, receivedMs: number): DecodedFrame {
  try {
    return readFrame(text, receivedMs);
  } catch (error) {
    // An error in the handler of the socket would end the process.
    return badFrame(`Cannot be read: ${error instanceof Error ? error.message : 'unknown error'}`);
  }
}

function readFrame(text: string, receivedMs: number): DecodedFrame {
  if (/^(p[io]ng)?$/i.test(text.trim())) return { kind: 'ignored', prices: [], errors: [] };
  let frame: unknown;
  try {
    frame = JSON.parse(text.replace(NUMBER_MEMBERS, '$1"$2"'));
  } catch {
    return badFrame('Not JSON');
  }
  if (!isObject(frame)) return badFrame('Not a JSON object');
  const { topic, type, payload } = frame;
  if (typeof topic !== 'string') return badFrame(`No topic: ${describeRejection(frame)}`);
  const windowS = windows.get(topic);
  if (windowS === undefined) return { kind: 'ignored', prices: [], errors: [] };
  if (!isObject(payload)) return badFrame('No payload');
  const { symbol } = payload;
  if (typeof symbol !== 'string') return badFrame('No symbol');
  const feed = feeds.get(symbol.toLowerCase());
  if (feed === undefined) return { kind: 'ignored', prices: [], errors: [] };

  const dump = Array.isArray(payload.data);
  if (!dump && type === 'subscribe') return badFrame('A dump without data');
  const rows: readonly unknown[] = Array.isArray(payload.data) ? payload.data : [payload];
  const subscription = subscriptionKey({ topic, symbol: symbol.toLowerCase() });
  const prices: DecodedPrice[] = [];
  const reasons: string[] = [];
  for (const row of rows) {
    const result = readRow(row, windowS, receivedMs);
    if (typeof result === 'string') reasons.push(result);
    else
      prices.push({
        subscription,
        price: {
          feed,
          isTwap: windowS !== null,
          windowS,
          ...result,
          bidE18: null,
          askE18: null,
          receivedMs,
          source: 'rtds',
        },
      });
  }
  return { kind: dump ? 'dump' : prices.length > 0 ? 'update' : 'bad', prices, errors: reasons };
}

function readRow(
  row: unknown,
  windowS: number | null,
  receivedMs: number,
): { timestampMs: number; priceE18: bigint } | string {
  if (!isObject(row)) return 'A row that is not an object';
  const { timestamp, value, full_accuracy_value: fullAccuracy, window_s: rowWindow } = row;
  if (typeof timestamp !== 'number' || !Number.isSafeInteger(timestamp)) return 'timestamp is not an integer';
  if (timestamp < EARLIEST_MS) return `timestamp ${timestamp} is not in milliseconds of this era`;
  if (timestamp > receivedMs + MAX_FUTURE_MS) return `timestamp ${timestamp} lies in the future`;
  if (rowWindow !== undefined && rowWindow !== windowS) return 'window_s does not fit the topic';

  const rough = typeof value === 'string' ? parseDecimalE18(value) : null;
  if (value !== undefined && rough === null) return 'value is not a number';
  let priceE18 = rough;
  if (fullAccuracy !== undefined && fullAccuracy !== null) {
    const exact = typeof fullAccuracy === 'string' ? exactE18(fullAccuracy) : null;
    if (exact === null) return 'full_accuracy_value is not a number';
    if (rough !== null && distance(exact, rough) * 100n > rough) return 'value and full_accuracy_value disagree';
    priceE18 = exact;
  }
  if (priceE18 === null) return 'No value';
  if (priceE18 <= 0n) return 'value is not positive';
  if (priceE18 >= 10n ** 20n * E18) return 'value is too large';
  return { timestampMs: timestamp, priceE18 };
}

/** An integer is scaled by 1e18; a number with a decimal point is the price itself. */
function exactE18(text: string): bigint | null {
  if (/^\d{1,38}$/.test(text)) return BigInt(text);
  return text.includes('.') ? parseDecimalE18(text) : null;
}

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a;
}

function badFrame(reason: string): DecodedFrame {
  return { kind: 'bad', prices: [], errors: [reason] };
}

/** The service responds to a rejected frame with a status code and a message. Other types are left out: writing them as text can fail. */
function describeRejection({ statusCode, message, body }: Record<string, unknown>): string {
  const texts = [statusCode, message, isObject(body) ? body.message : body];
  return texts
    .filter((part) => typeof part === 'string' || typeof part === 'number')
    .join(' ')
    .slice(0, 200);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
