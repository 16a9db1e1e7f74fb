import type { ParsedEnvironment } from './environment.js';
import { requireHttps } from './require-https.js';
import { rejectUnused } from './unused-settings.js';

/** The platform of social posts. */
export interface SocialConfig {
  /** Base of its API v2. */
  readonly url: string;
  /** Bearer token; undefined: no platform, stored posts are served. */
  readonly token: string | undefined;
  /** Whether the token may search posts older than 7 days. */
  readonly fullArchive: boolean;
}

/** Throws FatalError when the token would be sent unencrypted, or when a setting of the platform is `given` without one. */
export function socialOf(e: ParsedEnvironment, given: Readonly<Record<string, string | undefined>>): SocialConfig {
  if (e.SOCIAL_API_TOKEN === undefined) {
    rejectUnused(given, ['SOCIAL_API_URL'], 'SOCIAL_API_TOKEN is missing');
    if (e.SOCIAL_FULL_ARCHIVE) rejectUnused(e, ['SOCIAL_FULL_ARCHIVE'], 'SOCIAL_API_TOKEN is missing');
  }
  requireHttps(e, 'SOCIAL_API_URL');
  return { url: e.SOCIAL_API_URL, token: e.SOCIAL_API_TOKEN, fullArchive: e.SOCIAL_FULL_ARCHIVE };
}
