import type { MetadataHydration } from '../../schemas/types.gen.js';

/** Counts of lookups and requests for market metadata since the start of the process. The callers increment the fields. */
export type HydrationCounts = { -readonly [K in keyof MetadataHydration]: MetadataHydration[K] };

/** All zero. One object per process: it outlives a restart of the catalog source. */
export function createHydrationCounts(): HydrationCounts {
  return {
    hydration_queued: 0,
    hydration_retries: 0,
    hydration_failures: 0,
    gamma_hydration_success: 0,
    gamma_hydration_no_markets: 0,
    gamma_hydration_unusable: 0,
    gamma_hydration_request_errors: 0,
    gamma_hydration_status_errors: 0,
    gamma_hydration_parse_errors: 0,
  };
}
