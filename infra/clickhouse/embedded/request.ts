import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { accessDenied } from './analyst-rules.js';
import { ServerException } from './errors.js';
import { type Accounts, authenticate, type Identity } from './identities.js';

/** A query request without its body. */
export interface QueryRequest {
  readonly identity: Identity;
  readonly queryId: string;
  readonly sql: string;
  readonly database: string | undefined;
  readonly defaultFormat: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, string>>;
  /** GET and HEAD must not change anything. */
  readonly readonlyMethod: boolean;
  readonly session: { readonly id: string; readonly timeoutS: number; readonly mustExist: boolean } | undefined;
  readonly waitEndOfQuery: boolean;
  readonly compression: 'gzip' | 'deflate' | 'br' | undefined;
}

/** URL parameters that are not settings of the engine. */
const NON_SETTING_PARAMETERS = new Set([
  'query',
  'database',
  'user',
  'password',
  'quota_key',
  'default_format',
  'query_id',
  'session_id',
  'session_timeout',
  'session_check',
  'stacktrace',
  'role',
  'buffer_size',
  'wait_end_of_query',
  'http_wait_end_of_query',
  'enable_http_compression',
  'compress',
  'decompress',
  'close_session',
  'readonly_method',
  'client_protocol_version',
]);
const NAME = /^[A-Za-z_][A-Za-z0-9_.]*$/;
const MAX_SESSION_TIMEOUT_S = 3600;
/** Query ids are written to headers and logs. */
const QUERY_ID = /^[\x20-\x7e]{1,256}$/;

const isEnabled = (value: string | null) => value !== null && value !== '' && value !== '0' && value !== 'false';

export interface RequestRules {
  readonly accounts: Accounts;
  /** The database of analysts' requests; another requested database is rejected. */
  readonly analystDatabase: string;
}

/** Reads URL and headers. Throws the ServerException that a ClickHouse server would respond with. */
export function readQueryRequest(request: IncomingMessage, url: URL, rules: RequestRules): QueryRequest {
  const query = url.searchParams;
  const identity = authenticate(request, query, rules.accounts);
  const header = (name: string) => {
    const value = request.headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
  for (const name of ['compress', 'decompress']) {
    if (isEnabled(query.get(name))) {
      throw new ServerException(
        48,
        'NOT_IMPLEMENTED',
        `The native compressed stream (${name}=1) is not supported here; use Content-Encoding or enable_http_compression with gzip.`,
      );
    }
  }
  if (header('content-type')?.startsWith('multipart/form-data')) {
    throw new ServerException(48, 'NOT_IMPLEMENTED', 'External tables (multipart/form-data) are not supported here.');
  }
  const role = query.get('role');
  if (role !== null && role !== '') {
    throw new ServerException(511, 'UNKNOWN_ROLE', `There is no role \`${role}\` in user directories.`);
  }
  const settings: Record<string, string> = {};
  const params: Record<string, string> = {};
  for (const [name, value] of query) {
    if (name.startsWith('param_')) {
      if (!NAME.test(name)) throw new ServerException(36, 'BAD_ARGUMENTS', `Bad name of a query parameter: ${name}`);
      params[name] = value;
    } else if (!NON_SETTING_PARAMETERS.has(name)) {
      if (!NAME.test(name)) throw new ServerException(115, 'UNKNOWN_SETTING', `Unknown setting '${name}'.`);
      settings[name] = value;
    }
  }
  const sessionId = query.get('session_id') ?? '';
  const timeoutS = Number(query.get('session_timeout') ?? 60);
  if (sessionId !== '' && !(timeoutS >= 0 && timeoutS <= MAX_SESSION_TIMEOUT_S)) {
    throw new ServerException(
      374,
      'INVALID_SESSION_TIMEOUT',
      `Invalid session timeout: '${query.get('session_timeout')}'`,
    );
  }
  const queryId = query.get('query_id') || header('x-clickhouse-query-id') || randomUUID();
  if (!QUERY_ID.test(queryId)) {
    throw new ServerException(36, 'BAD_ARGUMENTS', 'A query_id must be 1 to 256 printable ASCII characters.');
  }
  const database = query.get('database') || header('x-clickhouse-database') || undefined;
  return {
    identity,
    queryId,
    sql: query.get('query') ?? '',
    database: identity.role === 'analyst' ? analystDatabaseOf(database, rules.analystDatabase) : database,
    defaultFormat: query.get('default_format') || header('x-clickhouse-format') || 'TabSeparated',
    settings,
    params,
    readonlyMethod: request.method !== 'POST',
    session:
      sessionId === '' ? undefined : { id: sessionId, timeoutS, mustExist: isEnabled(query.get('session_check')) },
    waitEndOfQuery: isEnabled(query.get('wait_end_of_query')) || isEnabled(query.get('http_wait_end_of_query')),
    compression: isEnabled(query.get('enable_http_compression'))
      ? acceptedEncoding(header('accept-encoding'))
      : undefined,
  };
}

/** Clients send `default` when their user named no database. */
function analystDatabaseOf(requested: string | undefined, database: string): string {
  if (requested === undefined || requested === 'default' || requested === database) return database;
  throw accessDenied(`Database '${requested}' is not readable; use '${database}'.`);
}

function acceptedEncoding(header: string | undefined): QueryRequest['compression'] {
  const offered = (header ?? '')
    .split(',')
    .map((part) => part.trim().split(/\s*;\s*/))
    .filter(([, weight]) => weight?.replace(/\s/g, '') !== 'q=0')
    .map(([name]) => name?.toLowerCase());
  return (['gzip', 'br', 'deflate'] as const).find((name) => offered.includes(name));
}

/** The body, decompressed according to Content-Encoding. Throws code 48 for an unknown encoding and 354 for a body that is not in it. */
export function decodedBody(request: IncomingMessage): AsyncIterable<Buffer> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return request;
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : undefined;
  if (decoder === undefined) {
    throw new ServerException(
      48,
      'NOT_IMPLEMENTED',
      `Content-Encoding ${encoding} is not supported here: use gzip, deflate or br.`,
    );
  }
  request.once('error', (error) => decoder.destroy(error));
  request.once('aborted', () => decoder.destroy(new Error('the client closed the connection')));
  return decompress(request.pipe(decoder), encoding);
}

async function* decompress(decoder: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  try {
    yield* decoder;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!/^(Z_|ERR_BROTLI|ERR__ERROR)/.test(code)) throw error;
    throw new ServerException(354, 'ZLIB_INFLATE_FAILED', `The body is not ${encoding}: ${(error as Error).message}.`);
  }
}
