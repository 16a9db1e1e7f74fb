import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ServerException } from './errors.js';

/** Who may talk to the server. */
export interface Identity {
  readonly user: string;
  /** Empty: no password is asked for, and only connections from this machine are let in. */
  readonly password: string;
  /** Statements that read, with the engine's own `readonly = 1`, and no settings but those of the output. */
  readonly readonly?: boolean;
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Finds the identity by Basic, `X-ClickHouse-User`/`-Key` or `user`/`password`. Throws code 516 when there is none. */
export function authenticate(
  request: IncomingMessage,
  query: URLSearchParams,
  identities: readonly Identity[],
): Identity {
  const { user, password } = credentialsOf(request, query);
  const identity = identities.find((entry) => entry.user === user);
  const correct = timingSafeEqual(digest(password), digest(identity?.password ?? ''));
  const allowed = identity !== undefined && (identity.password !== '' || isLoopback(request.socket.remoteAddress));
  if (identity === undefined || !correct || !allowed) {
    throw new ServerException(
      516,
      'AUTHENTICATION_FAILED',
      `${user}: Authentication failed: password is incorrect, or there is no user with such name.`,
    );
  }
  return identity;
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
    throw new ServerException(
      516,
      'AUTHENTICATION_FAILED',
      'Invalid authentication: it is not allowed to use several of HTTP Authorization, X-ClickHouse HTTP headers and authentication via parameters simultaneously',
    );
  }
  if (basic !== undefined) {
    const [scheme, encoded = ''] = basic.split(' ', 2);
    if (scheme?.toLowerCase() !== 'basic') {
      throw new ServerException(
        516,
        'AUTHENTICATION_FAILED',
        `Invalid authentication: '${scheme}' HTTP Authorization scheme is not supported`,
      );
    }
    const decoded = Buffer.from(encoded, 'base64').toString('utf8');
    const colon = decoded.indexOf(':');
    return colon === -1
      ? { user: decoded || 'default', password: '' }
      : { user: decoded.slice(0, colon) || 'default', password: decoded.slice(colon + 1) };
  }
  return { user: user ?? query.get('user') ?? 'default', password: key ?? query.get('password') ?? '' };
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (address === '::1' || /^(::ffff:)?127\./.test(address));
}
