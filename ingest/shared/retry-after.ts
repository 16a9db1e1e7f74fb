/** Delay in milliseconds that a Retry-After header requests, as seconds or as an HTTP date; null when absent or unreadable. */
export function retryAfterMs(header: string | null, nowMs = Date.now()): number | null {
  if (header === null) return null;
  if (/^\d+(?:\.\d+)?$/.test(header.trim())) return Number(header) * 1000;
  // Date.parse also takes a plain number, such as -1, for a year.
  const at = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
