import type { Cached } from '../cache/response-cache.js';

/** Cache headers of a cached result that may be at most `maxAgeS` old. */
export function cacheHeaders(
  cached: Pick<Cached<unknown>, 'ageMs'>,
  maxAgeS: number,
): { maxAgeS: number; ageS: number } {
  return { maxAgeS, ageS: Math.floor(cached.ageMs / 1000) };
}
