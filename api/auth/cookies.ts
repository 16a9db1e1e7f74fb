import type { IncomingHttpHeaders } from 'node:http';

/** A cookie of this server that scripts cannot read. */
export interface Cookie {
  readonly name: string;
  /** The value in a request; null if it is missing or sent more than once, as when another host of the domain sets it too. */
  read(headers: IncomingHttpHeaders): string | null;
  /** Value of `Set-Cookie`. */
  set(value: string, maxAgeS: number): string;
  clear(): string;
}

/**
 * A cookie for the whole host: HttpOnly, SameSite=Lax. With `secure`, which needs https, also Secure and with the prefix `__Host-`, so that neither
 * plain HTTP nor another host of the domain can set it.
 */
export function createCookie(options: { name: string; secure: boolean }): Cookie {
  const name = options.secure ? `__Host-${options.name}` : options.name;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${options.secure ? '; Secure' : ''}`;
  return {
    name,
    read(headers) {
      const values = (headers.cookie ?? '').split(';').flatMap((pair) => {
        const at = pair.indexOf('=');
        return pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
      });
      return values.length === 1 ? (values[0] ?? null) : null;
    },
    set: (value, maxAgeS) => `${name}=${value}; Max-Age=${maxAgeS}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
  };
}

/** Cookie of the session token. `secure`: see createCookie. */
export const createSessionCookie = (options: { secure: boolean }): Cookie =>
  createCookie({ name: 'odds_session', ...options });
