import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ServerException } from './errors.js';

/** A user with all rights: the product's processes. */
export interface OwnerAccount {
  readonly user: string;
  /** Empty: no password is needed, and only connections from this machine are accepted. */
  readonly password: string;
}

/** The users that may connect. */
export interface Accounts {
  readonly owners: readonly OwnerAccount[];
  /** The read-only user `analyst`; undefined: there is none. It needs no password from loopback; from elsewhere it needs one that is set. */
  readonly analyst: { readonly password: string | undefined } | undefined;
}

/** The authenticated user of a request. */
export interface Identity {
  readonly user: string;
  readonly role: 'owner' | 'analyst';
}

const ANALYST = 'analyst';
const DEFAULT_USER = 'default';

const digest = (text: string) => createHash('sha256').update(text).digest();
const constantTimeEqual = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));

/** Authenticates by HTTP Basic, `X-ClickHouse-User`/`-Key` headers or the parameters `user`/`password`. Throws code 516 on failure. */
export function authenticate(request: IncomingMessage, query: URLSearchParams, accounts: Accounts): Identity {
  const { user, password } = credentialsOf(request, query);
  const isLocal = isFromLoopback(request);
  const owner = accounts.owners.find((entry) => entry.user === user);
  if (owner !== undefined && constantTimeEqual(password, owner.password) && (owner.password !== '' || isLocal)) {
    return { user, role: 'owner' };
  }
  const { analyst } = accounts;
  if (analyst !== undefined && (user === ANALYST || user === DEFAULT_USER)) {
    const hasPassword = analyst.password !== undefined && constantTimeEqual(password, analyst.password);
    if (hasPassword || (password === '' && isLocal)) return { user: ANALYST, role: 'analyst' };
    if (password === '' && analyst.password === undefined) {
      throw authenticationFailed(
        `${user}: Authentication failed: without a password only connections from this machine are accepted. Set ANALYST_PASSWORD to read from elsewhere.`,
      );
    }
  }
  throw authenticationFailed(
    `${user}: Authentication failed: password is incorrect, or there is no user with such name.`,
  );
}

function authenticationFailed(text: string): ServerException {
  return new ServerException(516, 'AUTHENTICATION_FAILED', text);
}

function credentialsOf(request: IncomingMessage, query: URLSearchParams): { user: string; password: string } {
  const header = (name: string) => {
    const value = request.headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
  const basic = header('authorization');
  const user = header('x-clickhouse-user');
  const key = header('x-clickhouse-key');
  const ways = [
    basic !== undefined,
    user !== undefined || key !== undefined,
    query.has('user') || query.has('password'),
  ];
  if (ways.filter(Boolean).length > 1) {
    throw authenticationFailed(
      'Invalid authentication: it is not allowed to use several of HTTP Authorization, X-ClickHouse HTTP headers and authentication via parameters simultaneously',
    );
  }
  if (basic !== undefined) {
    const [scheme, encoded = ''] = basic.split(' ', 2);
    if (scheme?.toLowerCase() !== 'basic') {
      throw authenticationFailed(`Invalid authentication: '${scheme}' HTTP Authorization scheme is not supported`);
    }
    const decoded = Buffer.from(encoded, 'base64').toString('utf8');
    const colon = decoded.indexOf(':');
    return colon === -1
      ? { user: decoded || DEFAULT_USER, password: '' }
      : { user: decoded.slice(0, colon) || DEFAULT_USER, password: decoded.slice(colon + 1) };
  }
  return { user: (user ?? query.get('user')) || DEFAULT_USER, password: key ?? query.get('password') ?? '' };
}

/** Headers that proxies add. */
const PROXY_HEADERS = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'x-forwarded-host', 'x-forwarded-proto'];

/** Requests that a proxy on this machine passes on come from elsewhere. */
function isFromLoopback({ socket, headers }: IncomingMessage): boolean {
  const address = socket.remoteAddress;
  if (address === undefined || PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false;
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}
