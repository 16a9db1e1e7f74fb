import { z } from 'zod';
import { RetryableError } from '../../infra/errors.js';
import { tryParseAddress } from '../../schemas/primitives/address.js';
import type { Profiles } from './ports.js';

const TIMEOUT_MS = 5_000;
const profile = z.object({ proxyWallet: z.string().nullish(), name: z.string().nullish() });
const search = z.object({ profiles: z.array(profile).nullish() });

/** Reads profiles through the catalogue's public HTTP API. */
export function createProfiles(options: { url: string; timeoutMs?: number }): Profiles {
  const get = async (path: string): Promise<unknown> => {
    try {
      const response = await fetch(new URL(path, options.url), {
        signal: AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS),
      });
      if (response.status === 404) return null;
      if (!response.ok) throw new RetryableError(`The catalogue responded with ${response.status}`);
      return await response.json();
    } catch (error) {
      if (error instanceof RetryableError) throw error;
      throw new RetryableError('The catalogue cannot be reached', { cause: error });
    }
  };
  return {
    async nameOf(wallet) {
      const found = profile.safeParse(await get(`/public-profile?address=${encodeURIComponent(wallet)}`));
      const name = found.success ? (found.data.name ?? '') : '';
      return name === '' ? null : name;
    },
    async walletOf(name) {
      const path = `/public-search?q=${encodeURIComponent(name)}&search_profiles=true&limit_per_type=20`;
      const found = search.safeParse(await get(path));
      const lowerName = name.toLowerCase();
      const match = (found.success ? (found.data.profiles ?? []) : []).find(
        (one) => one.name?.toLowerCase() === lowerName && typeof one.proxyWallet === 'string',
      );
      return match === undefined ? null : tryParseAddress(match.proxyWallet ?? '');
    },
  };
}
