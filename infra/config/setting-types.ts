import { isIP } from 'node:net';
import { z } from 'zod';

/** Types of environment variables that several settings share, or that need more than one line. */

export const port = (fallback: number) => z.coerce.number().int().min(0).max(65535).default(fallback);

export const integer = (min: number, max: number, fallback: number) =>
  z.coerce.number().int().min(min).max(max).default(fallback);

export const flag = z
  .enum(['0', '1', 'true', 'false'])
  .default('0')
  .transform((value) => value === '1' || value === 'true');

export const identifier = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'letters, digits and _ only');

/** Entries separated by commas, each of which `accepts`; the error names the others with what is `expected`. */
const list = (accepts: (entry: string) => boolean, expected: string) =>
  z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter(Boolean),
    )
    .superRefine((entries, context) => {
      const wrong = entries.filter((entry) => !accepts(entry));
      if (wrong.length > 0) context.addIssue({ code: 'custom', message: `${wrong.join(', ')}: ${expected}` });
    });

const HOST_NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i;

/** Names as they are compared with the `Host` header: without scheme, port and path. */
export const hostNames = list(
  (entry) => HOST_NAME.test(entry) || isIP(entry) !== 0,
  'expected host names such as api.example, without scheme, port and path (other scripts as xn--...)',
);

/** Names that Express has for networks. */
const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

function isNetwork(entry: string): boolean {
  const [address = '', prefix, ...more] = entry.split('/');
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0 || more.length > 0) return false;
  return prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

/** Addresses and networks as Express's `trust proxy` takes them. */
export const networks = list(
  (entry) => NAMED_NETWORKS.includes(entry) || isNetwork(entry),
  `expected addresses (10.0.0.1), networks (10.0.0.0/8) or ${NAMED_NETWORKS.join(', ')}`,
);

/** Without an address mails would have an empty envelope sender, as only bounces have. */
export const mailSender = z
  .string()
  .max(320)
  .regex(/^([^<>\p{Cc}]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u, 'expected Name <name@host> or name@host');

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** URL whose user name and password its reader decodes, and throws if it cannot. */
export const urlWithCredentials = (protocol: RegExp, expected: string) =>
  z.url({ protocol, error: `expected ${expected}`, abort: true }).refine((text) => {
    const { username, password } = new URL(text);
    return isEncoded(username) && isEncoded(password);
  }, 'a % in the user name or password must be written as %25');

/** Whether nothing but credentials, host and port follows the scheme. */
function endsAtHost(text: string): boolean {
  const url = new URL(text);
  url.username = '';
  url.password = '';
  return url.href === `${url.origin}/`;
}

/** `urlWithCredentials` of a server: what follows its host would be ignored, or taken for something else, because of `reason`. */
export const serverUrl = (reason: string) =>
  urlWithCredentials(/^https?$/, 'http(s)://[user:password@]host[:port]').refine(endsAtHost, {
    error: `expected http(s)://[user:password@]host[:port] alone: ${reason}`,
  });

function hasCredentials(text: string): boolean {
  const { username, password } = new URL(text);
  return username !== '' || password !== '';
}

/** Scheme, host and port alone; anything else would be ignored because of `reason`. */
export const originUrl = (reason: string) =>
  z
    .url({ protocol: /^https?$/, error: 'expected http(s)://host[:port]', abort: true })
    .refine((text) => endsAtHost(text) && !hasCredentials(text), {
      error: `expected http(s)://host[:port] alone: ${reason}`,
    });

/** Base to which paths are appended. `fetch` rejects URLs with credentials, with a message that repeats them. */
export const baseUrl = z
  .url({ protocol: /^https?$/, error: 'expected http(s)://host[:port][/path]', abort: true })
  .refine((text) => !hasCredentials(text) && !/[?#]/.test(text), {
    error: 'expected http(s)://host[:port][/path], without user, password and query',
  });

export const socketUrl = z.url({ protocol: /^wss?$/, error: 'expected ws(s)://host[:port][/path]' });
