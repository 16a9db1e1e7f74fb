import { createHmac } from 'node:crypto';
import { commonLimits } from '../../schemas/plans.js';
import type { RateLimitStore } from '../limits/port.js';
import { takeOrReject } from '../limits/take-or-reject.js';
import { clientNetwork } from './client-ip.js';

interface Attempt {
  readonly clientIp: string;
  readonly nowMs: number;
}

/** Limits of signing in, also for emails without an account. Each method counts one attempt and throws ApiError (rate_limited) beyond a limit. */
export interface SignInThrottle {
  /** A password for an email. */
  password(email: string, attempt: Attempt): Promise<void>;
  /** The use of a one-time link, or a sign-in by a provider. */
  signIn(attempt: Attempt): Promise<void>;
  /** A request for a mail. */
  link(attempt: Attempt): Promise<void>;
}

/** Text of the rejection of an attempt. */
export const tooManyAttempts = (retryAtMs: number): string =>
  `Too many attempts. Try again at ${new Date(retryAtMs).toISOString().slice(0, 16).replace('T', ' ')} UTC.`;

/** `secret`: of the installation; addresses and emails are counted under an HMAC, because a shared store may be read by others. */
export function createSignInThrottle(deps: { rateLimitStore: RateLimitStore; secret: string }): SignInThrottle {
  const windowMs = commonLimits.signInWindowMs;
  const bucket = (name: string, value: string, limit: number) => {
    const hashed = createHmac('sha256', deps.secret).update(`${name}:${value}`, 'utf8').digest('hex');
    return { key: `${name}-15m:${hashed}`, limit, windowMs };
  };
  const ofAddress = ({ clientIp }: Attempt) =>
    bucket('sign-in-address', clientNetwork(clientIp), commonLimits.signInsPerAddress);
  const take = (one: ReturnType<typeof bucket>, nowMs: number) =>
    takeOrReject(deps.rateLimitStore, one, { nowMs, message: tooManyAttempts });
  return {
    // Two steps, because buckets of one Redis call must be in one slot of a cluster.
    async password(email, attempt) {
      await take(ofAddress(attempt), attempt.nowMs);
      await take(bucket('password-email', email, commonLimits.passwordGuessesPerEmail), attempt.nowMs);
    },
    signIn: (attempt) => take(ofAddress(attempt), attempt.nowMs),
    link: (attempt) =>
      take(bucket('link-address', clientNetwork(attempt.clientIp), commonLimits.linksPerAddress), attempt.nowMs),
  };
}
