import { z } from 'zod';
import { setting } from './setting-doc.js';
import {
  baseUrl,
  flag,
  hostNames,
  identifier,
  integer,
  mailSender,
  networks,
  originUrl,
  port,
  socketUrl,
  urlWithCredentials,
} from './setting-types.js';
import { storageSettings } from './storage-settings.js';

/**
 * Every environment variable of the services, with its type, bounds, default and documentation. docs/CONFIGURATION.md is generated from this
 * object; `loadConfig` (config.ts) is the only reader.
 */
export const environment = z.object({
  ODDSTREAM_DATA: setting(
    z.string().default('./data'),
    'General',
    'Data directory: log, tables, state stores, ready key, generated secrets. Delete it to start from zero.',
  ),
  ODDSTREAM_HOST: setting(
    z.string().default('127.0.0.1'),
    'General',
    'Address that every port binds to. Beyond loopback no ready key is created.',
  ),
  LOG_LEVEL: setting(
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    'General',
    'Lowest level that is logged.',
  ),
  MEMBER_NAME: setting(
    z
      .string()
      .regex(/^[\w.:-]{1,200}$/, 'letters, digits and . _ : - only')
      .optional(),
    'General',
    'Name of a processors process among several on one log; each needs a unique name. Required with admin port 0, where it also names the directory of the state of the process.',
    'host name and admin port',
  ),
  UV_THREADPOOL_SIZE: setting(
    z.coerce.number().int().min(1).max(1024).optional(),
    'General',
    'Threads of libuv, which reads the variable itself. Bounds the queries that the embedded ClickHouse runs at once.',
    '4; 16 of the embedded ClickHouse of `npm start` and `npm run clickhouse`',
  ),
  API_PORT: setting(port(8080), 'API and event socket', 'Port of the REST API, its documents and the pages.'),
  API_CACHE_MB: setting(
    integer(0, 4096, 64),
    'API and event socket',
    'Memory of each API process for cached pages and responses. 0 switches the cache off: every request reads the tables.',
  ),
  API_CACHED_MARKETS: setting(
    integer(1_000, 500_000, 40_000),
    'API and event socket',
    'Markets of which each API process keeps names, settlements, prices and hourly closes in memory, those with the largest volume first: about 45 MB per 10,000. A page with others reads them from the tables, which takes some 40 ms more.',
  ),
  GATEWAY_PORT: setting(port(8081), 'API and event socket', 'Port of the event socket.'),
  ORDERBOOK_PORT: setting(port(8082), 'API and event socket', 'Port of the order-book socket.'),
  GATEWAY_PROCESSES: setting(
    integer(1, 64, 1),
    'API and event socket',
    'Event-socket processes that share `GATEWAY_PORT` and `ORDERBOOK_PORT`, for more cores. Their admin ports count up from `ADMIN_PORT_GATEWAY`.',
  ),
  PUBLIC_URL: setting(
    originUrl('pages work only at the root of a host').optional(),
    'API and event socket',
    'Public `http(s)://host[:port]` of an API behind a proxy, for links in responses, pages and mails. The API must be at its root: a path is rejected. Required with `SMTP_URL`, `OIDC_ISSUER` or a `BILLING_PROVIDER` when `ODDSTREAM_HOST` is not loopback.',
    '`http://<host>:<API_PORT>`',
  ),
  EVENT_SOCKET_URL: setting(
    z.url({ protocol: /^wss?$/, error: 'expected ws(s)://host[:port]/ws' }).optional(),
    'API and event socket',
    'Public `ws(s)://.../ws` of the event socket, for the pages and `/asyncapi.json`, when it is behind TLS or another name.',
    "`GATEWAY_PORT` of the API's host",
  ),
  ORDERBOOK_SOCKET_URL: setting(
    z.url({ protocol: /^wss?$/, error: 'expected ws(s)://host[:port]/ws' }).optional(),
    'API and event socket',
    'The same of the order-book socket, for `/asyncapi.json`.',
    "`ORDERBOOK_PORT` of the API's host",
  ),
  ALLOWED_HOSTS: setting(
    hostNames,
    'API and event socket',
    'Host names that requests may carry in `Host`, besides loopback names, IP addresses and the hosts of the other settings. Others are rejected with 403.',
  ),
  TRUSTED_PROXIES: setting(
    networks,
    'API and event socket',
    'Addresses, networks (`10.0.0.0/8`) or `loopback`, `linklocal`, `uniquelocal` of proxies whose `X-Forwarded-For` is trusted. Without it all clients behind a proxy share the limits of one address.',
  ),
  ADDRESS_SECRET: setting(
    z.string().min(16, 'at least 16 characters').optional(),
    'API and event socket',
    'Key of the HMAC under which client addresses are stored (one free key per address and day). The same for all API processes on one log.',
    'random, kept in `<data>/address-secret`',
  ),
  REDIS_URL: setting(
    urlWithCredentials(/^rediss?$/, 'redis(s)://[user:password@]host[:port]').optional(),
    'API and event socket',
    'Redis that several API processes share for rate limits.',
    'each process counts by itself',
  ),
  SMTP_URL: setting(
    z.url({ protocol: /^smtps?$/, error: 'expected smtp(s)://[user:password@]host[:port]' }).optional(),
    'Accounts',
    'Mail server that sends the links to sign in. `smtp` uses STARTTLS when the server offers it.',
    "no mail: the links are written to the API's log",
  ),
  SMTP_URL_FILE: setting(z.string().optional(), 'Accounts', 'File that contains `SMTP_URL`.', 'none'),
  MAIL_FROM: setting(
    mailSender.optional(),
    'Accounts',
    'Sender of the mails: `Name <address>` or an address. Required with `SMTP_URL`, and rejected without.',
    'none',
  ),
  OIDC_ISSUER: setting(
    baseUrl.optional(),
    'Accounts',
    'OpenID Connect provider for signing in. Its redirect URI is `<PUBLIC_URL>/v1/auth/oidc/callback`. Needs https, except on loopback.',
    'none',
  ),
  OIDC_CLIENT_ID: setting(z.string().optional(), 'Accounts', 'Client id at the provider.', 'none'),
  OIDC_CLIENT_SECRET: setting(z.string().optional(), 'Accounts', 'Client secret at the provider.', 'none'),
  OIDC_CLIENT_SECRET_FILE: setting(
    z.string().optional(),
    'Accounts',
    'File that contains `OIDC_CLIENT_SECRET`.',
    'none',
  ),
  USAGE_ENFORCEMENT: setting(
    flag,
    'Accounts',
    '1 rejects requests and closes sockets of accounts that have used up the allowance of their plan, their packages and courtesy capacity. Otherwise usage is only shown.',
  ),
  BILLING_PROVIDER: setting(
    z.enum(['none', 'test', 'stripe']).default('none'),
    'Accounts',
    'Who takes payments for usage packages. `none`: nothing is sold and no price is shown. `test`: a page that says so confirms payments without money.',
  ),
  STRIPE_SECRET_KEY: setting(
    z.string().min(8).optional(),
    'Accounts',
    'Secret or restricted key of Stripe. Required with `BILLING_PROVIDER=stripe`.',
    'none',
  ),
  STRIPE_SECRET_KEY_FILE: setting(z.string().optional(), 'Accounts', 'File that contains `STRIPE_SECRET_KEY`.', 'none'),
  STRIPE_WEBHOOK_SECRET: setting(
    z.string().min(8).optional(),
    'Accounts',
    'Signing secret of the webhook endpoint `<PUBLIC_URL>/v1/billing/stripe/webhook`. Required with `BILLING_PROVIDER=stripe`.',
    'none',
  ),
  STRIPE_WEBHOOK_SECRET_FILE: setting(
    z.string().optional(),
    'Accounts',
    'File that contains `STRIPE_WEBHOOK_SECRET`.',
    'none',
  ),
  STRIPE_API_BASE: setting(
    originUrl('the paths of Stripe are fixed').optional(),
    'Accounts',
    "Another address of Stripe's API. Needs https, except on loopback.",
    "Stripe's",
  ),
  POLYGON_RPC_URL: setting(
    urlWithCredentials(/^https?$/, 'http(s)://host[:port][/path]').optional(),
    'Sources',
    'JSON-RPC URL of a Polygon node. Set: live chain, oracle and catalogue instead of the recording.',
    'recorded input',
  ),
  POLYGON_WS_URL: setting(
    socketUrl.optional(),
    'Sources',
    'WebSocket URL of the node (used together with `POLYGON_RPC_URL`, and rejected without).',
    '`POLYGON_RPC_URL` with `ws` for `http`',
  ),
  CHAIN_START_BLOCK: setting(
    z.coerce.number().int().nonnegative().optional(),
    'Sources',
    'First block to read into an empty log (used together with `POLYGON_RPC_URL`, and rejected without). An existing log continues after its last block.',
    'the finalized block at the first start',
  ),
  RTDS_URL: setting(
    socketUrl.default('wss://ws-live-data.polymarket.com'),
    'Sources',
    'Oracle price feed (used together with `POLYGON_RPC_URL`, and rejected without).',
  ),
  GAMMA_URL: setting(
    originUrl('the paths of the service are fixed').default('https://gamma-api.polymarket.com'),
    'Sources',
    'Catalogue (used together with `POLYGON_RPC_URL`, and rejected without).',
  ),
  SOCIAL_API_TOKEN: setting(
    z
      .string()
      .min(10)
      .max(500)
      .regex(/^[\x21-\x7e]+$/, 'printable characters without spaces')
      .optional(),
    'Sources',
    "Bearer token of the social platform's API v2. Requests for social posts are then served from the platform.",
    'none: stored posts only',
  ),
  SOCIAL_API_TOKEN_FILE: setting(z.string().optional(), 'Sources', 'File that contains `SOCIAL_API_TOKEN`.', 'none'),
  SOCIAL_API_URL: setting(
    baseUrl.default('https://api.x.com/2'),
    'Sources',
    "Base of the social platform's API v2. Rejected without `SOCIAL_API_TOKEN`.",
  ),
  SOCIAL_FULL_ARCHIVE: setting(
    flag,
    'Sources',
    'Whether the token may search posts older than 7 days. Rejected without a token.',
  ),
  ORDERBOOK_WS_URL: setting(
    socketUrl.default('wss://ws-subscriptions-clob.polymarket.com/ws/market'),
    'Sources',
    'Market channel with the order books (used together with `POLYGON_RPC_URL`, and rejected without: recorded input has synthetic books).',
  ),
  ORDERBOOK_REST_URL: setting(
    baseUrl.default('https://clob.polymarket.com'),
    'Sources',
    'REST address of the same service, for fresh books (rejected without `POLYGON_RPC_URL`).',
  ),
  ORDERBOOK_TOKENS: setting(
    z.coerce.number().int().min(0).max(20_000).default(4_000),
    'Sources',
    'Outcome tokens whose books are read, of the most active open markets; 0 reads none.',
  ),
  RECORDED_DIR: setting(z.string().default('./tests/recorded/set'), 'Sources', 'Directory of the recorded input.'),
  RECORDED_HISTORY_ONLY: setting(
    flag,
    'Sources',
    'Recorded input only, rejected with `POLYGON_RPC_URL`: 1 stops after the history instead of replaying the recorded day as a live tail.',
  ),
  ...storageSettings,
  ANALYST_DATABASE: setting(identifier.default('market'), 'SQL for analysts', 'Database of the views for analysts.'),
  ANALYST_PASSWORD: setting(
    z.string().min(12, 'at least 12 characters').optional(),
    'SQL for analysts',
    'Password of the user `analyst` from other machines. `POST /v1/sql` needs it where `CLICKHOUSE_URL` names a server.',
    'analysts connect from this machine only',
  ),
  ANALYST_MEMORY_MB: setting(
    integer(50, 100_000, 200),
    'SQL for analysts',
    'Memory of one statement of an analyst (embedded ClickHouse). Clients can only lower it.',
  ),
  ANALYST_TIMEOUT_S: setting(
    integer(1, 3600, 30),
    'SQL for analysts',
    'Run time of one statement of an analyst (embedded ClickHouse). Clients can only lower it.',
  ),
  ANALYST_RESULT_ROWS: setting(
    integer(1, 1_000_000_000, 1_000_000),
    'SQL for analysts',
    'Result rows of one statement of an analyst (embedded ClickHouse). Clients can only lower it.',
  ),
  ANALYST_RESULT_MB: setting(
    integer(1, 100_000, 500),
    'SQL for analysts',
    'Size of one result of an analyst, in its columns and as the text that is sent (embedded ClickHouse). Results wait on disk for their clients: up to 10, and one for each statement that runs.',
  ),
  ANALYST_QUERIES: setting(
    integer(1, 8, 2),
    'SQL for analysts',
    'Statements of analysts that run at once. The next 50 wait for up to 30 s.',
  ),
  ADMIN_PORT_CLICKHOUSE: setting(port(9100), 'Monitoring', '`/healthz`, `/readyz` and `/metrics` of clickhouse.'),
  ADMIN_PORT_INGEST: setting(port(9101), 'Monitoring', 'The same of ingest.'),
  ADMIN_PORT_PROCESSORS: setting(
    port(9102),
    'Monitoring',
    'The same of processors. 0, a free port, needs `MEMBER_NAME`.',
  ),
  ADMIN_PORT_API: setting(port(9103), 'Monitoring', 'The same of the API.'),
  ADMIN_PORT_GATEWAY: setting(port(9104), 'Monitoring', 'The same of stream-gateway.'),
  ADMIN_PORT_STREAM: setting(
    port(9099),
    'Monitoring',
    'The same of processors that run only the tasks of the stream (`npm run processors -- stream`). 0 needs `MEMBER_NAME`.',
  ),
});

/** Parsed environment. */
export type ParsedEnvironment = z.infer<typeof environment>;
