import type { Express } from 'express';
import type { AccountCommands } from '../infra/accounts/commands.js';
import type { LedgerView } from '../infra/accounts/ledger-view.js';
import type { AccountsReadModel } from '../infra/accounts/read-model.js';
import type { UsedUpUntil } from '../infra/accounts/used-up.js';
import type { Log } from '../infra/log/port.js';
import { productVersion } from '../infra/release/product-version.js';
import type { SocialPlatform } from '../infra/social/port.js';
import type { SourceStatusView } from '../infra/sources/source-status-view.js';
import type { Logger } from '../infra/telemetry/logger.js';
import type { Metrics } from '../infra/telemetry/metrics.js';
import type { SocketAddress } from '../pages/content-security-policy.js';
import { createDecide } from './accounts/decide.js';
import { asyncApiDocument } from './asyncapi/document.js';
import type { KeyDirectory } from './auth/caller.js';
import { createSessionCookie } from './auth/cookies.js';
import type { IdentityProvider } from './auth/identity-provider.js';
import type { PasswordHasher } from './auth/password-hasher.js';
import type { SessionDirectory } from './auth/session.js';
import { createSessionAdmission } from './auth/session-admission.js';
import { createSignInThrottle } from './auth/sign-in-throttle.js';
import type { PaymentProvider } from './billing/port.js';
import { createResponseCache } from './cache/response-cache.js';
import { runCacheWarmup } from './catalog/cache-warmup.js';
import { createMarketCard } from './catalog/market-card.js';
import type { PoolDirectory } from './copy-pnl/pool-directory.js';
import { createScoreReader } from './copy-pnl/score-reader.js';
import { createApp } from './http/app.js';
import { mountPages } from './http/pages.js';
import type { Route } from './http/route.js';
import type { RateLimitStore } from './limits/port.js';
import { createRateLimiter } from './limits/rate-limiter.js';
import type { Mailer } from './mail/mailer.js';
import type { MeterRequest } from './metering/port.js';
import { openApiDocument } from './openapi/document.js';
import { createOrderBookReader } from './order-books/reader.js';
import { createReaders } from './readers.js';
import type { TableProgress } from './readiness/table-progress.js';
import { createAccountRoutes } from './routes/account/account.js';
import { createUsageHistoryRoute } from './routes/account/history.js';
import { createAccountKeyRoutes } from './routes/account/keys.js';
import { createPasswordRoute } from './routes/account/password.js';
import { createUsageRoute } from './routes/account/usage.js';
import type { SignInDeps } from './routes/auth/deps.js';
import { createLinkRoutes } from './routes/auth/link.js';
import { createProviderRoutes } from './routes/auth/provider.js';
import { createSignOutRoutes } from './routes/auth/sessions.js';
import { createSignInRoutes } from './routes/auth/sign-in.js';
import { createBillingRoutes } from './routes/billing/routes.js';
import { createClobRoutes } from './routes/clobv2/routes.js';
import { createPoolRoutes } from './routes/copy-pnl/pool-routes.js';
import { createScoreRoutes } from './routes/copy-pnl/score-routes.js';
import { createCoverageRoute } from './routes/coverage/coverage.js';
import { createCoverageDaysRoute } from './routes/coverage/coverage-days.js';
import { createCatalogRoutes } from './routes/crypto/catalog.js';
import { createOracleRoutes } from './routes/crypto/oracle.js';
import { createPriceRoute } from './routes/crypto/price.js';
import { createOverlapRoute } from './routes/datasets/overlap.js';
import { createEventRoute } from './routes/event/event.js';
import { createEventSearchRoute } from './routes/event/search.js';
import { createHealthRoutes } from './routes/health/health.js';
import { createKeyRoute } from './routes/keys/create-key.js';
import { createSocialRoutes } from './routes/social/routes.js';
import { createSqlRoute } from './routes/sql/sql.js';
import { createPublicStatusRoute } from './routes/status/public-status.js';
import { createStatusRoute } from './routes/status/status.js';
import { createTableFacts } from './routes/status/table-facts.js';
import { createOrderBookRoutes } from './routes/v1-order-books/routes.js';
import { createV1WalletRoutes } from './routes/v1-wallets/routes.js';
import { createOnchainRoutes } from './routes/v2-onchain/routes.js';
import { createV2WalletRoutes } from './routes/v2-wallets/routes.js';
import { createV3Routes } from './routes/v3/routes.js';
import type { PostWriter } from './social/post-writer.js';
import { createSocialPosts } from './social/posts.js';
import { type CountSearch, createSearchQuota } from './social/quota.js';
import type { GatewayView } from './sources/gateway-view.js';
import type { AnalystQueries } from './sql/analyst-queries.js';
import type { Tables } from './tables/port.js';
import type { ChainState, Profiles } from './wallets/ports.js';

/** Version of the API contract, not of the program. */
const API_VERSION = '1.0.0';

export interface ServiceDeps {
  readonly tables: Tables;
  /** SQL of clients, as the read-only user. */
  readonly analystQueries: AnalystQueries;
  readonly log: Pick<Log, 'bounds' | 'read'>;
  readonly sources: Pick<SourceStatusView, 'all' | 'get' | 'stream' | 'freshness'>;
  readonly gateways: Pick<GatewayView, 'load'>;
  readonly keys: KeyDirectory;
  readonly sessions: SessionDirectory;
  /** Client networks are stored as HMACs under this secret. All API processes of one log need the same secret. */
  readonly addressSecret: string;
  /** Copy-PnL wallets by key, following the log that `sendCommand` appends to. */
  readonly pools: PoolDirectory;
  readonly accounts: Pick<
    AccountsReadModel,
    'account' | 'capacity' | 'keysOf' | 'lookupKey' | 'users' | 'waitForOutcome'
  >;
  readonly sendCommand: AccountCommands['send'];
  readonly passwords: PasswordHasher;
  readonly mailer: Mailer;
  /** Ledger entries, following the same log as `accounts`. */
  readonly ledger: LedgerView;
  /** Who takes payments for packages; null: they are not sold. */
  readonly payments: PaymentProvider | null;
  /** OpenID Connect provider for signing in; null: none. */
  readonly provider: IdentityProvider | null;
  readonly rateLimitStore: RateLimitStore;
  /** See `createApp`. */
  readonly keylessPerMinute?: number;
  /** See `createApp`. */
  readonly usedUpUntil: UsedUpUntil | null;
  readonly meter: MeterRequest;
  /** Load progress of the tables. */
  readonly progress: Pick<TableProgress, 'current'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** null: no node configured. */
  readonly chainState: ChainState | null;
  /** null: names are not resolved. */
  readonly profiles: Profiles | null;
  readonly social: {
    /** null: none is configured; stored posts are served. */
    readonly platform: SocialPlatform | null;
    readonly writer: PostWriter;
    readonly countSearch: CountSearch;
    /** Id under which `countSearch` records usage. */
    readonly processId: string;
  };
  /** Size of the response cache; 0: off. */
  readonly cacheBytes: number;
  /** Markets whose metadata and prices are cached. */
  readonly cachedMarkets: number;
  readonly nowMs: () => number;
  readonly trustedProxies: readonly string[];
  /** Host names accepted in `Host`, besides loopback names and IP addresses. */
  readonly allowedHosts: readonly string[];
  /** URL under which this API is reached from outside. */
  readonly baseUrl: string;
  /** Address under which the event socket is reached from outside. */
  readonly socket: SocketAddress;
  /** The same of the order-book socket. */
  readonly orderBookSocket: SocketAddress;
}

export interface Service {
  readonly app: Express;
  readonly routes: readonly Route[];
  readonly openApi: Readonly<Record<string, unknown>>;
  /** Keeps metadata, prices and closes of the largest markets cached until `signal` aborts. */
  runCacheWarmup(signal: AbortSignal): Promise<void>;
}

/** Assembles the API from its ports: routes, pages, errors, limits. */
export function createService(deps: ServiceDeps): Service {
  const { tables, log, sources, nowMs, logger } = deps;
  /** Constant once the tables are loaded; while they load it changes with their progress, so that cached responses are invalidated. */
  const dataVersion = () => {
    const loading = deps.progress.current();
    return loading?.ready === true ? true : loading;
  };
  const cache = createResponseCache({ nowMs, dataVersion, maxBytes: deps.cacheBytes, metrics: deps.metrics });
  const serverOrigin = new URL(deps.baseUrl).origin;
  const sessionCookie = createSessionCookie({ secure: serverOrigin.startsWith('https:') });
  const signIn: SignInDeps = {
    decide: createDecide({ send: deps.sendCommand, waitForOutcome: deps.accounts.waitForOutcome }),
    users: deps.accounts.users,
    passwords: deps.passwords,
    throttle: createSignInThrottle({
      rateLimitStore: deps.rateLimitStore,
      secret: deps.addressSecret,
    }),
    mailer: deps.mailer,
    cookie: sessionCookie,
    baseUrl: deps.baseUrl,
  };
  const readers = createReaders({ tables, cache, nowMs, cachedMarkets: deps.cachedMarkets });
  const orderBooks = createOrderBookReader({ tables, cache, sources, nowMs });
  const facts = createTableFacts({ tables, cache, logger });
  const status = { facts, sources, progress: deps.progress, startedAtMs: nowMs() };
  const routes: readonly Route[] = [
    ...createHealthRoutes({ tables, log, sources, progress: deps.progress }),
    createStatusRoute({ ...status, log, gateways: deps.gateways }),
    createPublicStatusRoute({ ...status, versions: { product: productVersion(), api: API_VERSION } }),
    createCoverageRoute(readers),
    createCoverageDaysRoute(readers),
    createKeyRoute({ ...signIn, lookupKey: deps.accounts.lookupKey, addressSecret: deps.addressSecret }),
    createUsageRoute({ tables, accounts: deps.accounts, enforcement: deps.usedUpUntil !== null }),
    createUsageHistoryRoute({ tables }),
    ...createLinkRoutes(signIn),
    ...createSignInRoutes(signIn),
    ...createProviderRoutes({ ...signIn, provider: deps.provider, logger }),
    ...createSignOutRoutes(signIn),
    ...createAccountRoutes({ ...signIn, accounts: deps.accounts, billing: deps.payments?.name ?? null }),
    createPasswordRoute(signIn),
    ...createBillingRoutes({
      provider: deps.payments,
      decide: signIn.decide,
      send: deps.sendCommand,
      accounts: deps.accounts,
      ledger: deps.ledger,
      logger,
      metrics: deps.metrics,
    }),
    ...createAccountKeyRoutes({ decide: signIn.decide, accounts: deps.accounts, tables }),
    ...createCatalogRoutes(readers),
    ...createOracleRoutes(readers),
    createPriceRoute(readers),
    createEventSearchRoute(readers),
    createEventRoute(readers),
    ...createV1WalletRoutes(readers, deps),
    ...createOrderBookRoutes(readers, orderBooks),
    ...createV2WalletRoutes(readers, deps.rateLimitStore),
    ...createPoolRoutes({ decide: signIn.decide, tables, pools: deps.pools, rateLimitStore: deps.rateLimitStore }),
    ...createScoreRoutes({ scores: createScoreReader({ tables }), rateLimitStore: deps.rateLimitStore, nowMs, logger }),
    ...createOnchainRoutes(readers),
    ...createV3Routes(readers),
    ...createClobRoutes(readers, orderBooks),
    createOverlapRoute(readers),
    createSqlRoute({ queries: deps.analystQueries, rateLimitStore: deps.rateLimitStore, nowMs }),
    ...createSocialRoutes({
      posts: createSocialPosts({ tables, platform: deps.social.platform, writer: deps.social.writer, nowMs }),
      quota: createSearchQuota({ tables, processId: deps.social.processId, count: deps.social.countSearch }),
      rateLimitStore: deps.rateLimitStore,
    }),
  ];
  const upgradeUrl = `${deps.baseUrl}/docs#plans`;
  const openApi = openApiDocument(routes, { upgradeUrl, version: API_VERSION });
  const addressOf = ({ url, port }: SocketAddress) => {
    const { protocol, host } = new URL(url ?? `ws://${new URL(deps.baseUrl).hostname}:${port}`);
    return { host, protocol: protocol === 'wss:' ? ('wss' as const) : ('ws' as const) };
  };
  const asyncApi = asyncApiDocument({
    ...addressOf(deps.socket),
    orderBook: addressOf(deps.orderBookSocket),
    version: API_VERSION,
  });
  const app = createApp({
    routes,
    keys: deps.keys,
    admitSession: createSessionAdmission({
      sessions: deps.sessions,
      cookie: sessionCookie,
      rateLimitStore: deps.rateLimitStore,
      serverOrigin,
    }),
    limiter: createRateLimiter({ rateLimitStore: deps.rateLimitStore }),
    keylessPerMinute: deps.keylessPerMinute,
    usedUpUntil: deps.usedUpUntil,
    meter: deps.meter,
    progress: deps.progress,
    logger,
    metrics: deps.metrics,
    nowMs,
    trustedProxies: deps.trustedProxies,
    allowedHosts: deps.allowedHosts,
    serverOrigin,
    upgradeUrl,
    pages: (app) =>
      mountPages(app, {
        openApi,
        asyncApi,
        baseUrl: deps.baseUrl,
        socket: deps.socket,
        dashboard: { hasProvider: deps.provider !== null, hasBilling: deps.payments !== null },
        testPayments: deps.payments?.name === 'test',
        marketCard: createMarketCard(readers),
      }),
  });
  return {
    app,
    routes,
    openApi,
    async runCacheWarmup(signal) {
      const { metadata, prices, hourlyCloses } = readers;
      const markets = {
        ofConditions: [metadata.marketsOf, metadata.resolutionsOf],
        ofTokens: [metadata.tokensOf, prices, hourlyCloses.recent],
      };
      await runCacheWarmup({ tables, logger, metrics: deps.metrics, most: deps.cachedMarkets, ...markets }, signal);
    },
  };
}
