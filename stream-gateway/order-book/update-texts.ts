import type { BookLevel } from '../../schemas/order-book/book.js';
import type { Level, TokenBook } from './token-book.js';

/** Names of a token from the catalogue. */
export interface TokenNames {
  readonly slug: string;
  readonly outcome: string;
  readonly question: string | null;
  readonly eventTitle: string | null;
}
export type NamesOf = (tokenId: string) => TokenNames | undefined;

/** The pending updates of one token as JSON texts, which all its receivers share. */
export interface TokenUpdates {
  readonly book: TokenBook;
  /** A `book_status` if `verified` has changed, be it for a moment. */
  readonly status: string | null;
  /** `book_snapshot` or `book_update`; null if there is none, or the changed levels are in `rows`. */
  readonly depth: string | null;
  /** Rows of `price_change`, joined by commas; null if there are none. */
  readonly rows: string | null;
  readonly trades: readonly string[];
}

/** Prices and sizes are digits with at most one point, and ids are hexadecimal or decimal: they need no escapes. */
const quoted = (text: string | null): string => (text === null ? 'null' : `"${text}"`);

const levelsText = (levels: readonly BookLevel[]): string =>
  `[${levels.map(({ price, size }) => `{"price":"${price}","size":"${size}"}`).join(',')}]`;

const shortNames = (names: TokenNames | undefined): string =>
  names === undefined ? '' : `,"outcome":${JSON.stringify(names.outcome)},"slug":${JSON.stringify(names.slug)}`;

/** A `book_snapshot` without its closing brace. */
function snapshotHead(book: TokenBook, names: TokenNames | undefined): string {
  const { verified, sinceMs, reason: unverifiedFor } = book.status;
  const reason = unverifiedFor ?? book.pending?.resentFor ?? null;
  const market = quoted(book.conditionId);
  const long =
    names === undefined
      ? ''
      : `,"event_title":${JSON.stringify(names.eventTitle)}${names.question === null ? '' : `,"question":${JSON.stringify(names.question)}`}`;
  return (
    `{"type":"book_snapshot","asset_id":"${book.tokenId}","market":${market},"condition_id":${market}${long}${shortNames(names)}` +
    `,"bids":${levelsText(book.bids())},"asks":${levelsText(book.asks())},"timestamp":${book.timestampMs},"hash":${JSON.stringify(book.hash)}` +
    `,"seq":${book.seq},"verified":${verified},"since":${sinceMs}${reason === null ? '' : `,"reason":${JSON.stringify(reason)}`}${book.synthetic ? ',"synthetic":true' : ''}`
  );
}

export const snapshotText = (book: TokenBook, names: TokenNames | undefined): string => `${snapshotHead(book, names)}}`;

/** A book with which the checksums of a token begin, or begin again, as step `seq`. */
export const anchorText = (book: TokenBook, names: TokenNames | undefined, seq: number): string =>
  `${snapshotHead(book, names)},"integrity":{"protocol":"pn1","anchor":true,"seq":${seq},"checksum":"${book.checksum()}"}}`;

/** A `book_update` without its closing brace. */
function updateHead(book: TokenBook, names: TokenNames | undefined, levels: readonly Level[]): string {
  const of = (side: Level['side']) => levelsText(levels.filter((level) => level.side === side));
  return `{"type":"book_update","asset_id":"${book.tokenId}","market":${quoted(book.conditionId)}${shortNames(names)},"bids":${of('BUY')},"asks":${of('SELL')},"verified":${book.status.verified},"seq":${book.seq}`;
}

function rowText(book: TokenBook, names: TokenNames | undefined, { price, size, side }: Level): string {
  const outcome = names === undefined ? '' : `,"outcome":${JSON.stringify(names.outcome)}`;
  return `{"asset_id":"${book.tokenId}"${outcome},"price":"${price}","size":"${size}","side":"${side}","best_bid":${quoted(book.bestBid())},"best_ask":${quoted(book.bestAsk())},"verified":${book.status.verified},"seq":${book.seq}}`;
}

const slugText = (names: TokenNames | undefined): string =>
  names === undefined ? '' : `,"slug":${JSON.stringify(names.slug)}`;

/** A `price_change` of one market with the rows of its tokens. */
export const priceChangeText = (conditionId: string | null, names: TokenNames | undefined, rows: string): string =>
  `{"type":"price_change","market":${quoted(conditionId)}${slugText(names)},"assets":[${rows}]}`;

/** The texts of a token's pending changes; null if receivers need none. */
export function updatesOf(book: TokenBook, names: TokenNames | undefined): TokenUpdates | null {
  const { pending } = book;
  if (pending === null) return null;
  const { verified, sinceMs, reason } = book.status;
  const levels = [...pending.levels.values()];
  const status =
    pending.depth === 'snapshot' || pending.wasVerified === verified
      ? null
      : `{"type":"book_status","asset_id":"${book.tokenId}","verified":${verified},"since":${sinceMs},"reason":${JSON.stringify(reason)}}`;
  let depth: string | null = null;
  let rows: string | null = null;
  if (pending.depth === 'snapshot') depth = snapshotText(book, names);
  else if (pending.depth === 'update' && levels.length > 0) depth = `${updateHead(book, names, levels)}}`;
  else if (levels.length > 0) rows = levels.map((level) => rowText(book, names, level)).join(',');
  const trades = pending.trades.map(
    ({ price, size, side, feeRateBps, timestampMs }) =>
      `{"type":"last_trade_price","asset_id":"${book.tokenId}","market":${quoted(book.conditionId)},"price":"${price}","size":"${size}","side":"${side}","fee_rate_bps":${JSON.stringify(feeRateBps)},"timestamp":"${timestampMs}"${shortNames(names)},"verified":${verified}}`,
  );
  if (status === null && depth === null && rows === null && trades.length === 0) return null;
  return { book, status, depth, rows, trades };
}

/**
 * The depth change of a token for receivers that verify checksums: one step of the protocol pn1, from `prevSeq` to `prevSeq + 1`. One level is a `price_change`,
 * several are a `book_update`. Null if no level has changed.
 */
export function stepText(book: TokenBook, names: TokenNames | undefined): ((prevSeq: number) => string) | null {
  const levels = [...(book.pending?.levels.values() ?? [])];
  const [first] = levels;
  if (first === undefined) return null;
  const head =
    levels.length === 1
      ? `{"type":"price_change","asset_id":"${book.tokenId}","market":${quoted(book.conditionId)}${slugText(names)},"assets":[${rowText(book, names, first)}]`
      : updateHead(book, names, levels);
  const checksum = book.checksum();
  return (prevSeq) =>
    `${head},"integrity":{"protocol":"pn1","prev_seq":${prevSeq},"seq":${prevSeq + 1},"checksum":"${checksum}"}}`;
}
