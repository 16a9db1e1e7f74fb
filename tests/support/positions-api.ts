import { type ApiHarness, startApi } from './api.js';
import { insertVenueAccounts } from './positions.js';
import { insertVenue, T } from './venue.js';

/** Time of the API's clock, unless a test changes it. */
export const NOW_S = T + 100;

export interface PositionsApi {
  readonly api: ApiHarness;
  /** A key of the free plan. */
  readonly key: string;
  /** A key of a paid plan. */
  readonly paid: string;
  /** Advances the API's clock. */
  later(seconds: number): void;
}

/** Starts the API with the fixture venue and the positions of its wallets. */
export async function startPositionsApi(): Promise<PositionsApi> {
  const api = await startApi({ nowMs: NOW_S * 1000 });
  const [key, paid] = [await api.key('free'), await api.key('starter')];
  await insertVenue(api.clickhouse);
  await insertVenueAccounts(api.clickhouse);
  return {
    api,
    key,
    paid,
    later(seconds) {
      api.clock.nowMs += seconds * 1000;
    },
  };
}
