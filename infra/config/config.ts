import { resolve } from 'node:path';
import { FatalError } from '../errors.js';
import { type BillingConfig, billingOf, redactBilling } from './billing-config.js';
import { environment, type ParsedEnvironment } from './environment.js';
import { type KafkaConfig, kafkaOf } from './kafka-config.js';
import {
  copyLogRegistryOf,
  type SchemaRegistryConfig,
  schemaRegistryOf,
  type TargetRegistryConfig,
} from './schema-registry-config.js';
import { withSecretFiles } from './secret-files.js';
import { type SignInConfig, signInOf } from './sign-in-config.js';
import { type SocialConfig, socialOf } from './social-config.js';
import { rejectUnused, rejectUnusedSources } from './unused-settings.js';

/** Names of all environment variables. */
export const environmentVariables: readonly string[] = Object.keys(environment.shape);

export type Environment = Record<string, string | undefined>;

export interface Config {
  readonly dataDir: string;
  readonly host: string;
  /** undefined: the generated secret in the data directory. */
  readonly addressSecret: string | undefined;
  readonly logLevel: string;
  /** `lmdb:<dir>` or `kafka://host:port`. */
  readonly logUrl: string;
  readonly kafka: KafkaConfig;
  /** Complete UTC days for which raw history is kept; null: without limit. */
  readonly rawHistoryDays: number | null;
  /** undefined: the ids of schemas/registry.lock.json. */
  readonly schemaRegistry: SchemaRegistryConfig | undefined;
  readonly copyLogRegistry: TargetRegistryConfig;
  readonly clickhouse: {
    readonly url: string;
    /** Listening address of the embedded server; null when CLICKHOUSE_URL names an external one. */
    readonly embedded: { readonly host: string; readonly port: number; readonly memoryBytes: number } | null;
    readonly user: string;
    /** Empty for the embedded server: the password in the data directory is then used (`clickHouseConnection`). */
    readonly password: string;
    /** The read-only user of the embedded server. */
    readonly analyst: {
      readonly password: string | undefined;
      readonly queries: number;
      readonly memoryBytes: number;
      readonly executionS: number;
      readonly resultRows: number;
      readonly resultBytes: number;
    };
    readonly database: string;
    /** Database of the views that analysts read. */
    readonly analystDatabase: string;
    readonly cluster: string | undefined;
    /** null: parts are not merged by the product, as always in a cluster. */
    readonly compactionEveryMs: number | null;
    /** Threads of this process's libuv pool; undefined: not given. */
    readonly threads: number | undefined;
  };
  readonly ports: {
    readonly api: number;
    readonly gateway: number;
    readonly orderbook: number;
    readonly admin: {
      readonly clickhouse: number;
      readonly ingest: number;
      readonly processors: number;
      readonly stream: number;
      readonly api: number;
      readonly gateway: number;
    };
  };
  readonly gatewayProcesses: number;
  /** Shared rate limits of several API instances; undefined: each instance counts separately. */
  readonly redisUrl: string | undefined;
  /** Name of this processors process among several on one log. undefined: host and admin port. */
  readonly memberName: string | undefined;
  /** Public address of the event socket; undefined: the gateway's port on the host of the API request. */
  readonly eventSocketUrl: string | undefined;
  /** The same of the order-book socket. */
  readonly orderBookSocketUrl: string | undefined;
  readonly trustedProxies: readonly string[];
  /** Names that `Host` headers may have in addition to loopback names and IP addresses, lowercase. */
  readonly allowedHosts: readonly string[];
  /** scheme://host[:port] of links to the API in responses, pages and mails. */
  readonly publicUrl: string;
  /** Size of the response cache of each API process; 0: off. */
  readonly apiCacheMb: number;
  readonly apiCachedMarkets: number;
  readonly signIn: SignInConfig;
  /** Whether accounts that have used up their capacity are rejected. */
  readonly usageEnforcement: boolean;
  readonly billing: BillingConfig;
  readonly social: SocialConfig;
  readonly sources: {
    /** `recorded` unless POLYGON_RPC_URL is set. */
    readonly mode: 'recorded' | 'live';
    readonly rpcUrl: string | undefined;
    /** WebSocket of the node; derived from rpcUrl (http -> ws) when not set. */
    readonly rpcWsUrl: string | undefined;
    readonly startBlock: number | undefined;
    readonly rtdsUrl: string;
    readonly gammaUrl: string;
    readonly orderbookWsUrl: string;
    readonly orderbookRestUrl: string;
    /** 0: no order books are read. */
    readonly orderbookTokens: number;
    readonly recordedDir: string;
    readonly recordedHistoryOnly: boolean;
  };
}

/** The URL may contain credentials; separate variables take precedence. */
function clickhouseOf(e: ParsedEnvironment): Pick<Config['clickhouse'], 'url' | 'embedded' | 'user' | 'password'> {
  if (e.CLICKHOUSE_URL === undefined) {
    rejectUnused(e, ['CLICKHOUSE_CLUSTER'], 'CLICKHOUSE_URL is missing and the embedded server has no clusters');
    const embedded = {
      host: e.CLICKHOUSE_EMBEDDED_HOST,
      port: e.CLICKHOUSE_EMBEDDED_PORT,
      memoryBytes: e.CLICKHOUSE_EMBEDDED_MEMORY_MB * 1024 * 1024,
    };
    const url = `http://${reachableHost(embedded.host)}:${embedded.port}`;
    return { url, embedded, user: e.CLICKHOUSE_USER ?? 'oddstream', password: e.CLICKHOUSE_PASSWORD ?? '' };
  }
  const url = new URL(e.CLICKHOUSE_URL);
  const user = e.CLICKHOUSE_USER ?? (decodeURIComponent(url.username) || 'default');
  const password = e.CLICKHOUSE_PASSWORD ?? decodeURIComponent(url.password);
  url.username = '';
  url.password = '';
  return { url: url.href.replace(/\/$/, ''), embedded: null, user, password };
}

function allowedHostsOf(e: ParsedEnvironment): readonly string[] {
  const urls = [e.PUBLIC_URL, e.EVENT_SOCKET_URL, e.ORDERBOOK_SOCKET_URL].flatMap((url) =>
    url === undefined ? [] : [new URL(url).hostname],
  );
  const names = [...e.ALLOWED_HOSTS, e.ODDSTREAM_HOST, e.CLICKHOUSE_EMBEDDED_HOST, ...urls];
  return [...new Set(names.map((name) => name.toLowerCase()))];
}

/** The address by which other processes reach a listening host. */
export function reachableHost(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '');
  if (bare === '0.0.0.0') return '127.0.0.1';
  if (bare === '::') return '[::1]';
  return bare.includes(':') ? `[${bare}]` : bare;
}

/** Throws FatalError that names every invalid variable. Blanks are no value: as a number they would be 0, which has a meaning for many settings. */
function parsedEnvironment(env: Environment): ParsedEnvironment {
  const blank = environmentVariables.filter((name) => env[name]?.trim() === '');
  const parsed = environment.safeParse(env);
  const issues = (parsed.error?.issues ?? []).map(({ path, message }) => ({ name: path.join('.'), message }));
  const lines = [
    ...blank.map((name) => `  ${name}: only blanks; leave it empty for the default`),
    ...issues.filter(({ name }) => !blank.includes(name)).map(({ name, message }) => `  ${name}: ${message}`),
  ];
  if (!parsed.success || lines.length > 0) throw new FatalError(`Bad configuration:\n${lines.join('\n')}`);
  return parsed.data;
}

/**
 * Parses the environment: the only place of the services that reads it. An empty variable counts as unset. Throws FatalError that names every
 * invalid variable with what is allowed.
 */
export function loadConfig(env: Environment = process.env): Config {
  const cleaned = withSecretFiles(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  const e = parsedEnvironment(cleaned);
  if ([e.CLICKHOUSE_DATABASE.toLowerCase(), 'system', 'information_schema'].includes(e.ANALYST_DATABASE.toLowerCase()))
    throw new FatalError(
      `Bad configuration:\n  ANALYST_DATABASE: ${e.ANALYST_DATABASE} is in use; the views of analysts need a database for themselves`,
    );
  rejectUnusedSources(e, cleaned);
  const dataDir = resolve(e.ODDSTREAM_DATA);
  return {
    dataDir,
    host: e.ODDSTREAM_HOST,
    addressSecret: e.ADDRESS_SECRET,
    logLevel: e.LOG_LEVEL,
    logUrl: e.LOG_URL ?? `lmdb:${resolve(dataDir, 'log')}`,
    kafka: kafkaOf(e),
    rawHistoryDays: e.RAW_HISTORY_DAYS ?? null,
    schemaRegistry: schemaRegistryOf(e),
    copyLogRegistry: copyLogRegistryOf(e),
    clickhouse: {
      ...clickhouseOf(e),
      database: e.CLICKHOUSE_DATABASE,
      analystDatabase: e.ANALYST_DATABASE,
      analyst: {
        password: e.ANALYST_PASSWORD,
        queries: e.ANALYST_QUERIES,
        memoryBytes: e.ANALYST_MEMORY_MB * 1_000_000,
        executionS: e.ANALYST_TIMEOUT_S,
        resultRows: e.ANALYST_RESULT_ROWS,
        resultBytes: e.ANALYST_RESULT_MB * 1_000_000,
      },
      cluster: e.CLICKHOUSE_CLUSTER,
      compactionEveryMs:
        e.COMPACTION_EVERY_S === 0 || e.CLICKHOUSE_CLUSTER !== undefined ? null : e.COMPACTION_EVERY_S * 1000,
      threads: e.UV_THREADPOOL_SIZE,
    },
    ports: {
      api: e.API_PORT,
      gateway: e.GATEWAY_PORT,
      orderbook: e.ORDERBOOK_PORT,
      admin: {
        clickhouse: e.ADMIN_PORT_CLICKHOUSE,
        ingest: e.ADMIN_PORT_INGEST,
        processors: e.ADMIN_PORT_PROCESSORS,
        stream: e.ADMIN_PORT_STREAM,
        api: e.ADMIN_PORT_API,
        gateway: e.ADMIN_PORT_GATEWAY,
      },
    },
    gatewayProcesses: e.GATEWAY_PROCESSES,
    redisUrl: e.REDIS_URL,
    memberName: e.MEMBER_NAME,
    eventSocketUrl: e.EVENT_SOCKET_URL,
    orderBookSocketUrl: e.ORDERBOOK_SOCKET_URL,
    trustedProxies: e.TRUSTED_PROXIES,
    allowedHosts: allowedHostsOf(e),
    publicUrl: (e.PUBLIC_URL ?? `http://${reachableHost(e.ODDSTREAM_HOST)}:${e.API_PORT}`).replace(/\/+$/, ''),
    apiCacheMb: e.API_CACHE_MB,
    apiCachedMarkets: e.API_CACHED_MARKETS,
    signIn: signInOf(e),
    usageEnforcement: e.USAGE_ENFORCEMENT,
    billing: billingOf(e),
    social: socialOf(e, cleaned),
    sources: {
      mode: e.POLYGON_RPC_URL === undefined ? 'recorded' : 'live',
      rpcUrl: e.POLYGON_RPC_URL,
      rpcWsUrl: e.POLYGON_WS_URL ?? e.POLYGON_RPC_URL?.replace(/^http/, 'ws'),
      startBlock: e.CHAIN_START_BLOCK,
      rtdsUrl: e.RTDS_URL,
      gammaUrl: e.GAMMA_URL,
      orderbookWsUrl: e.ORDERBOOK_WS_URL,
      orderbookRestUrl: e.ORDERBOOK_REST_URL,
      orderbookTokens: e.ORDERBOOK_TOKENS,
      recordedDir: resolve(e.RECORDED_DIR),
      recordedHistoryOnly: e.RECORDED_HISTORY_ONLY,
    },
  };
}

/** Nodes and feeds accept keys as user, password, path or query, so only protocol and host of a URL are printed. */
function redactUrl(url: string): string {
  if (!URL.canParse(url)) return '[redacted]';
  const { protocol, host, username, password, pathname, search } = new URL(url);
  const credentials = username !== '' || password !== '' ? '[redacted]@' : '';
  const rest = (pathname !== '' && pathname !== '/') || search !== '' ? '/[redacted]' : '';
  return `${protocol}//${credentials}${host}${rest}`;
}

/** The configuration without secrets: passwords, and all parts of URLs that can be credentials, are replaced. */
export function redactConfig(config: Config): Config {
  const { sources, schemaRegistry: registry, copyLogRegistry } = config;
  return {
    ...config,
    addressSecret: config.addressSecret && '[redacted]',
    logUrl: config.logUrl.startsWith('lmdb:') ? config.logUrl : redactUrl(config.logUrl),
    kafka: { ...config.kafka, sasl: config.kafka.sasl && { ...config.kafka.sasl, password: '[redacted]' } },
    redisUrl: config.redisUrl && redactUrl(config.redisUrl),
    schemaRegistry: registry && { ...registry, password: registry.password && '[redacted]' },
    copyLogRegistry: { ...copyLogRegistry, password: copyLogRegistry.password && '[redacted]' },
    clickhouse: {
      ...config.clickhouse,
      url: redactUrl(config.clickhouse.url),
      password: config.clickhouse.password === '' ? '' : '[redacted]',
      analyst: {
        ...config.clickhouse.analyst,
        password: config.clickhouse.analyst.password && '[redacted]',
      },
    },
    billing: redactBilling(config.billing),
    social: { ...config.social, url: redactUrl(config.social.url), token: config.social.token && '[redacted]' },
    signIn: {
      mail: config.signIn.mail && { ...config.signIn.mail, smtpUrl: redactUrl(config.signIn.mail.smtpUrl) },
      oidc: config.signIn.oidc && { ...config.signIn.oidc, clientSecret: '[redacted]' },
    },
    sources: {
      ...sources,
      rpcUrl: sources.rpcUrl && redactUrl(sources.rpcUrl),
      rpcWsUrl: sources.rpcWsUrl && redactUrl(sources.rpcWsUrl),
      rtdsUrl: redactUrl(sources.rtdsUrl),
      gammaUrl: redactUrl(sources.gammaUrl),
      orderbookWsUrl: redactUrl(sources.orderbookWsUrl),
      orderbookRestUrl: redactUrl(sources.orderbookRestUrl),
    },
  };
}
