import { createHash, createHmac, randomBytes } from 'node:crypto';

/** Prefix of every issued key. */
export const KEY_PREFIX = 'odds_live_';
/** Older prefix, still accepted. */
const LEGACY_KEY_PREFIX = 'od_live_';

const RANDOM_BYTES = 16;
const KEY_PATTERN = new RegExp(`^(?:${KEY_PREFIX}|${LEGACY_KEY_PREFIX})[0-9a-f]{${RANDOM_BYTES * 2}}$`);
/** Characters of a raw key that lists may show. */
const DISPLAYED_PREFIX_LENGTH = KEY_PREFIX.length + 6;

/** A fresh raw key: the prefix and 32 lowercase hex characters from the system's CSPRNG. Shown to its owner once and never stored. */
export function newRawKey(): string {
  return KEY_PREFIX + randomBytes(RANDOM_BYTES).toString('hex');
}

/** True when the text could be a key: a known prefix and 32 lowercase hex characters. Says nothing about whether the key exists. */
export function isValidKeyFormat(text: string): boolean {
  return KEY_PATTERN.test(text);
}

/** SHA-256 hex of the raw key, the only form of a key that is written to the log, tables or output. */
export function hashKey(rawKey: string): string {
  return createHash('sha256').update(rawKey, 'utf8').digest('hex');
}

/** The first characters of a raw key, by which its owner recognizes it in a list. */
export function displayedKeyPrefix(rawKey: string): string {
  return rawKey.slice(0, DISPLAYED_PREFIX_LENGTH);
}

/**
 * HMAC-SHA-256 hex of a client's network under a secret of the installation, so that per-network limits store no addresses. A plain hash could
 * be reversed by trying all IPv4 addresses within seconds; the HMAC cannot without the secret.
 */
export function hashNetwork(network: string, secret: string): string {
  return createHmac('sha256', secret).update(`ip:${network}`, 'utf8').digest('hex');
}
