// Formats of numbers, times and ids. Uses no DOM.

const UNIT_PLACES = 6;

const plain = (maximumFractionDigits, minimumFractionDigits = 0) =>
  new Intl.NumberFormat('en-US', { maximumFractionDigits, minimumFractionDigits });
const cents = plain(2, 2);
const prices = plain(4, 2);
const counts = plain(2);
const small = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 });

const signed = (value, text) => (Number(value) < 0 ? `−${text}` : text);
/** Text stays text: it may have more digits than a number can represent. */
const magnitude = (value) => (typeof value === 'string' ? value.replace(/^-/, '') : Math.abs(value));
const amount = (value, format) => {
  const size = magnitude(value);
  return Number(size) > 0 && Number(size) < 0.01 ? small.format(size) : format.format(size);
};

/** `$1,234.50` for a number or decimal text; two significant digits below a cent; a dash for null and undefined. */
/** Price of an outcome; null while none is known, which the API writes as 0 without a source. */
export const outcomePrice = ({ outcomePrices, priceSources }, index) =>
  priceSources?.[index] === null && Number(outcomePrices[index]) === 0 ? null : (outcomePrices[index] ?? null);

export const usd = (value) => (value == null ? '–' : signed(value, `$${amount(value, cents)}`));
/** PnL, always with a sign. */
export const profit = (value) => (value == null ? '–' : Number(value) > 0 ? `+${usd(value)}` : usd(value));
/** USD per share. */
export const price = (value) => (value == null ? '–' : `$${prices.format(value)}`);
export const shares = (value) => (value == null ? '–' : signed(value, amount(value, counts)));
export const count = (value) => value.toLocaleString('en-US');

/** Exact decimal text of base units (text or bigint): `1200500000` is `1200.5`; null stays null. */
export function fromUnits(units) {
  if (units === null) return null;
  const value = BigInt(units);
  const text = (value < 0n ? -value : value).toString().padStart(UNIT_PLACES + 1, '0');
  const fraction = text.slice(-UNIT_PLACES).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${text.slice(0, -UNIT_PLACES)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** `2026-11-21 15:04:05`, UTC. */
export const utc = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
export const local = (seconds) =>
  new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });

/** First and last characters of an address, hash or token id. */
export const short = (id) => (id.length <= 14 ? id : `${id.slice(0, 6)}…${id.slice(-4)}`);

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const CONDITION = /^0x[0-9a-f]{64}$/i;
const TOKEN = /^\d{6,78}$/;

/** Kind of an id by its format: wallet, condition, token, or null. */
export function kindOf(text) {
  if (ADDRESS.test(text)) return 'wallet';
  if (CONDITION.test(text)) return 'condition';
  return TOKEN.test(text) ? 'token' : null;
}

export const walletPath = (address) => `/app/wallet/${encodeURIComponent(address.toLowerCase())}`;
export const marketPath = (id) => `/app/market/${encodeURIComponent(id)}`;

const SOURCES = {
  settlement: 'settled on chain',
  clob_mid: 'middle of the order book',
  v1_condition: 'price of the catalogue',
  last_fill: 'newest fill',
};
/** Label of a price source; the API's name for an unknown source. */
export const sourceOf = (source) => (source === null ? 'no price yet' : (SOURCES[source] ?? source));
