import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { ApiError } from '../errors/failure.js';
import { newToken } from './session.js';

export const MIN_PASSWORD_LENGTH = 10;
export const MAX_PASSWORD_LENGTH = 200;

export interface PasswordHasher {
  /** argon2id PHC string. Throws ApiError (overloaded) while too many hashes wait. */
  hash(password: string): Promise<string>;
  /** Does the same work without a hash (null: unknown user, or a user without a password), and is then false. Throws as `hash`. */
  verify(password: string, passwordHash: string | null): Promise<boolean>;
}

/** OWASP's parameters of argon2id: 19 MiB, 2 passes, 1 thread. */
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Each uses a core and 19 MiB. */
const CONCURRENT_HASHES = 2;
const MAX_WAITING = 20;

/** One spelling of letters that Unicode can write in several ways, so that a password typed on another device is the same. */
const bytesOf = (password: string): Uint8Array => Buffer.from(password.normalize('NFKC'), 'utf8');

/** Hashes passwords on libuv threads, few at once. */
export function createPasswordHasher(): PasswordHasher {
  const limit = pLimit(CONCURRENT_HASHES);
  const run = <T>(work: () => Promise<T>): Promise<T> => {
    if (limit.pendingCount < MAX_WAITING) return limit(work);
    const message = 'Too many people sign in right now. Retry shortly.';
    return Promise.reject(new ApiError({ kind: 'overloaded', message, scope: 'passwords', retryAfterS: 2 }));
  };
  let dummy: Promise<string> | undefined;
  return {
    hash: (password) => run(() => hash(bytesOf(password), OPTIONS)),
    async verify(password, passwordHash) {
      dummy ??= hash(bytesOf(newToken()), OPTIONS);
      const compared = passwordHash ?? (await dummy);
      const matches = await run(() => verify(compared, bytesOf(password)));
      return matches && passwordHash !== null;
    },
  };
}
