// ClickHouse types and values of results. Uses no DOM.

/** The type inside Nullable and LowCardinality. */
function bareType(type) {
  const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/s.exec(type)?.[1];
  return inner === undefined ? type : bareType(inner);
}

export const isNumber = (type) => /^(U?Int\d+|Float\d+|BFloat16|Decimal\d*(\(|$))/.test(bareType(type));
export const isTime = (type) => /^Date(Time)?(32|64)?(\(|$)/.test(bareType(type));

/** Text of a value as a table shows it; null for NULL. */
export function textOf(value) {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Unix seconds of a Date or DateTime in UTC; NaN for others. */
export function secondsOf(value) {
  if (typeof value !== 'string') return Number.NaN;
  const text = value.length === 10 ? `${value}T00:00:00` : value.replace(' ', 'T');
  return Date.parse(`${text}Z`) / 1000;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'];
export function bytesText(bytes) {
  const power = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value.toLocaleString('en-US', { maximumFractionDigits: power === 0 || value >= 100 ? 0 : 1 })} ${units[power]}`;
}

export function durationText(seconds) {
  return seconds < 10 ? `${seconds.toFixed(seconds < 1 ? 3 : 2)} s` : `${seconds.toFixed(1)} s`;
}
