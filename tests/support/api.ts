import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { IdentityProvider } from '../../api/auth/identity-provider.js';
import { createKeyDirectory } from '../../api/auth/key-directory.js';
import { createPasswordHasher } from '../../api/auth/password-hasher.js';
import { createSessionDirectory } from '../../api/auth/session.js';
import type { PaymentProvider } from '../../api/billing/port.js';
import { createPoolDirectory } from '../../api/copy-pnl/pool-directory.js';
import { listen, type RunningServer } from '../../api/http/server.js';
import { createMemoryRateLimitStore } from '../../api/limits/memory-rate-limit-store.js';
import type { Mail } from '../../api/mail/mailer.js';
import type { CompletedRequest } from '../../api/metering/port.js';
import type { LoadStatus } from '../../api/readiness/load-status.js';
import { type TableGroup, tableGroups } from '../../api/readiness/table-groups.js';
import { createService, type Service } from '../../api/service.js';
import { createKnownContent } from '../../api/social/known-content.js';
import { createPostWriter } from '../../api/social/post-writer.js';
import { createGatewayView, type GatewayLoad } from '../../api/sources/gateway-view.js';
import { createAnalystQueries } from '../../api/sql/analyst-queries.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import type { Sql, Tables } from '../../api/tables/port.js';
import type { ChainState, Profiles } from '../../api/wallets/ports.js';
import { createAccountCommands } from '../../infra/accounts/commands.js';
import { createLedgerView } from '../../infra/accounts/ledger-view.js';
import { createAccountsReadModel } from '../../infra/accounts/read-model.js';
import { createUsedUpUntil } from '../../infra/accounts/used-up.js';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { DEFAULT_ANALYST_LIMITS } from '../../infra/clickhouse/embedded/analyst-profile.js';
import { createMemoryLog, type MemoryLog } from '../../infra/log/testing.js';
import type { SocialPlatform } from '../../infra/social/port.js';
import { createSourceStatusView } from '../../infra/sources/source-status-view.js';
import { type Logger, silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics, type Metrics } from '../../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import { createAccountsProcessor } from '../../processors/accounts/processor.js';
import { displayedKeyPrefix, hashKey, newRawKey } from '../../schemas/api-keys.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { AccountCommand, Plan, SourceStatus, StreamStatus } from '../../schemas/types.gen.js';
import { startMigratedClickHouse, type TestClickHouse } from './clickhouse.js';

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or text. */
  readonly body: unknown;
}

export interface ApiHarness {
  readonly url: string;
  readonly clickhouse: ClickHouse;
  readonly engine: TestClickHouse;
  readonly log: MemoryLog;
  readonly service: Service;
  readonly metered: CompletedRequest[];
  /** Mails that were sent. */
  readonly mails: Mail[];
  /** Account of each counted search of social posts. */
  readonly searches: string[];
  /** The API's clock. */
  readonly clock: { nowMs: number };
  /** All statements that the API has sent to the tables. */
  readonly statements: Sql[];
  /** Faults to inject: `tables` fails every table read; `reachable` false fails the check. */
  readonly faults: { tables: Error | null; reachable: boolean };
  /** Creates an account with this plan and returns its key. */
  key(plan: Plan): Promise<string>;
  /** Creates another key of the account of a key. */
  siblingKey(rawKey: string): Promise<string>;
  send(command: AccountCommand['command']): Promise<void>;
  reportSource(status: Partial<SourceStatus>): Promise<void>;
  /** Writes the record that the stream processor keeps in topic `sources`. */
  reportStream(status: StreamStatus): Promise<void>;
  /** Report of a gateway process at the current time. */
  reportGateway(processId: string, load: GatewayLoad): Promise<void>;
  /** GET; the body of a 2xx response must match the schema of the route exactly. */
  get(path: string, key?: string | null, headers?: Record<string, string>): Promise<ApiResponse>;
  /** Body of a GET that must return 200. */
  ok<T>(path: string, key?: string | null): Promise<T>;
  request(path: string, init: RequestInit): Promise<ApiResponse>;
  stop(): Promise<void>;
}

const loaded = (table: TableGroup) => ({
  table,
  state: 'loaded' as const,
  position: 1,
  target: 1,
  percent: 100,
  throughBlock: null,
  throughMs: null,
  lagS: 0,
});

/** Load status of tables with the complete history. */
export const allTablesLoaded: LoadStatus = {
  groups: Object.fromEntries(tableGroups.map((table) => [table, loaded(table)])) as LoadStatus['groups'],
  ready: true,
};

/** Returns a check of replies: the body must match the schema of its route exactly, without further fields. */
function createSchemaCheck({ routes }: Pick<Service, 'routes'>) {
  const candidates = routes.map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  return (method: string, path: string, reply: ApiResponse): void => {
    const bare = path.split('?', 1)[0] ?? '';
    const route = candidates.find((one) => one.route.method === method && one.pattern.test(bare))?.route;
    if (route === undefined || reply.status !== route.success.status) return;
    const type = reply.headers.get('content-type')?.split(';', 1)[0] ?? '';
    if (route.success.otherContent?.[type] !== undefined) return;
    const parsed = route.success.schema.parse(reply.body);
    // Vitest compares long lists slowly; it shows the difference.
    if (!isDeepStrictEqual(parsed, reply.body)) expect(parsed).toEqual(reply.body);
  };
}

/** Starts the API over the real engine and tables, an in-memory log and the real accounts processor, with a test clock. */
export async function startApi(options: {
  nowMs: number;
  keylessPerMinute?: number;
  enforceUsage?: boolean;
  trustedProxies?: readonly string[];
  socketPort?: number;
  chainState?: ChainState;
  profiles?: Profiles;
  provider?: IdentityProvider;
  /** Default: packages are not sold. */
  payments?: PaymentProvider;
  /** Platform of social posts; default: none. */
  platform?: (metrics: Metrics) => SocialPlatform;
  /** Default: silent. */
  logger?: Logger;
  /** Default: http://api.test */
  baseUrl?: string;
  /** Size of the response cache; 0: off. */
  cacheBytes?: number;
  /** Load progress of the tables; default: loaded. */
  progress?: () => LoadStatus | null;
}): Promise<ApiHarness> {
  const limits = DEFAULT_ANALYST_LIMITS;
  const analyst = { password: undefined, database: 'market', concurrency: 2, limits };
  const engine = await startMigratedClickHouse({ analyst });
  const logger = options.logger ?? silentLogger();
  const metrics = createMetrics({ process: 'test', defaults: false });
  const codec = createCodec();
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  const controller = new AbortController();
  const { signal } = controller;
  const processor = createAccountsProcessor({ log, codec, logger, metrics });
  const processing = processor.run(signal);
  const onUnreadable = createOnUnreadable({ metrics, logger });
  const pools = createPoolDirectory();
  const ledger = createLedgerView();
  const onState: typeof pools.apply = (...change) => {
    pools.apply(...change);
    ledger.apply(...change);
  };
  const accounts = createAccountsReadModel({
    log,
    codec,
    signal,
    onUnreadable,
    onState,
    nowMs: () => clock.nowMs,
  });
  const sources = createSourceStatusView({ log, codec, signal, onUnreadable, nowMs: () => clock.nowMs });
  const gateways = createGatewayView({ log, codec, signal, onUnreadable });
  await Promise.all([accounts.ready(), sources.ready(), gateways.ready()]);

  const clock = { nowMs: options.nowMs };
  const faults: ApiHarness['faults'] = { tables: null, reachable: true };
  const statements: Sql[] = [];
  const real = createClickHouseTables(engine.client);
  const tables: Tables = {
    rows: (sql) => {
      statements.push(sql);
      return faults.tables === null ? real.rows(sql) : Promise.reject(faults.tables);
    },
    reachable: async () => faults.reachable && (await real.reachable()),
  };
  const metered: CompletedRequest[] = [];
  const searches: string[] = [];
  const mails: Mail[] = [];
  const commands = createAccountCommands({ log, codec, now: () => clock.nowMs });
  const service = createService({
    tables,
    analystQueries: createAnalystQueries(
      { url: engine.url, user: 'analyst', password: '', database: analyst.database, limits },
      { logger },
    ),
    log,
    sources,
    gateways,
    keys: createKeyDirectory(accounts),
    sessions: createSessionDirectory(accounts.users),
    accounts,
    sendCommand: commands.send,
    ledger,
    payments: options.payments ?? null,
    passwords: createPasswordHasher(),
    mailer: { send: (mail) => mails.push(mail) },
    provider: options.provider ?? null,
    addressSecret: 'test secret',
    pools,
    rateLimitStore: createMemoryRateLimitStore({ windowMs: 60_000 }),
    keylessPerMinute: options.keylessPerMinute ?? 1_000_000,
    usedUpUntil: options.enforceUsage === true ? createUsedUpUntil(accounts) : null,
    meter: (request) => metered.push(request),
    progress: { current: () => (options.progress === undefined ? allTablesLoaded : options.progress()) },
    logger,
    metrics,
    chainState: options.chainState ?? null,
    profiles: options.profiles ?? null,
    social: {
      platform: options.platform?.(metrics) ?? null,
      writer: createPostWriter({
        log,
        codec,
        known: createKnownContent({ tables, logger }),
        metrics,
        nowMs: () => clock.nowMs,
      }),
      countSearch: (caller) => searches.push(caller.accountId),
      processId: 'test',
    },
    cacheBytes: options.cacheBytes ?? 64 << 20,
    cachedMarkets: 1_000,
    nowMs: () => clock.nowMs,
    trustedProxies: options.trustedProxies ?? [],
    allowedHosts: ['api.test'],
    baseUrl: options.baseUrl ?? 'http://api.test',
    socket: { url: null, port: options.socketPort ?? 8081 },
    orderBookSocket: { url: null, port: 8082 },
  });
  const server: RunningServer = await listen(service.app, { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${server.port}`;

  const send = async (command: AccountCommand['command']): Promise<void> => {
    const outcome = await accounts.waitForOutcome(await commands.send(command), 10_000);
    if (outcome?.accepted !== true) throw new Error(`Rejected: ${outcome?.code ?? 'no outcome'}`);
  };
  const addKey = async (accountId: string): Promise<string> => {
    const rawKey = newRawKey();
    const key = {
      account_id: accountId,
      key_hash: hashKey(rawKey),
      key_prefix: displayedKeyPrefix(rawKey),
      name: 'test',
    };
    await send({ 'oddstream.CreateKey': key });
    return rawKey;
  };
  let accountCount = 0;
  const checkSchema = createSchemaCheck(service);
  const request: ApiHarness['request'] = async (path, init) => {
    const response = await fetch(url + path, init);
    const text = await response.text();
    const json = text !== '' && response.headers.get('content-type')?.includes('json') === true;
    const reply = { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
    checkSchema((init.method ?? 'GET').toLowerCase(), path, reply);
    return reply;
  };

  const get: ApiHarness['get'] = (path, key = null, headers = {}) =>
    request(path, { headers: { ...(key === null ? {} : { 'x-api-key': key }), ...headers } });

  return {
    url,
    clickhouse: engine.client,
    engine,
    log,
    service,
    metered,
    mails,
    searches,
    clock,
    statements,
    faults,
    send,
    async key(plan) {
      accountCount += 1;
      const accountId = `account-${accountCount}`;
      await send({ 'oddstream.CreateAccount': { account_id: accountId, plan, label: 'test' } });
      return addKey(accountId);
    },
    async siblingKey(rawKey) {
      const found = accounts.lookupKey(rawKey);
      if (found.status !== 'ok') throw new Error('Not a key');
      return addKey(found.account.account_id);
    },
    async reportSource(status) {
      const value: SourceStatus = {
        source: 'chain',
        mode: 'recorded',
        connected: true,
        detail: 'playing',
        head: 110,
        finalized: 100,
        last_event_ms: clock.nowMs - 1500,
        updated_at_ms: clock.nowMs,
        shift_days: 40,
        recorded_from_ms: null,
        phase: 'live',
        progress: 1,
        pending: null,
        metadata: null,
        order_books: null,
        read_until_ms: null,
        rereading: null,
        connected_changed_ms: null,
        reread: null,
        gap: null,
        ...status,
      };
      const encoded = codec.encode('source_status', value);
      await log.append(topics.sources.name, [{ key: value.source, value: encoded, timestampMs: clock.nowMs }]);
      await expect.poll(() => sources.get(value.source)).toEqual(value);
    },
    async reportStream(status) {
      const value = codec.encode('stream_status', status);
      await log.append(topics.sources.name, [{ key: 'stream', value, timestampMs: clock.nowMs }]);
      await expect.poll(() => sources.stream()).toEqual(status);
    },
    async reportGateway(processId, load) {
      const atMs = clock.nowMs;
      const before = gateways.load(atMs);
      const value = codec.encode('gateway_session', {
        process_id: processId,
        at_ms: atMs,
        fact: { 'oddstream.GatewayAlive': { instance: processId, ...load } },
      });
      await log.append(topics.gatewaySessions.name, [{ key: `process:${processId}`, value, timestampMs: atMs }]);
      await expect.poll(() => gateways.load(atMs)).not.toEqual(before);
    },
    request,
    get,
    async ok<T>(path: string, key?: string | null) {
      const { status, body } = await get(path, key);
      expect([path, status, (body as { error?: string }).error]).toEqual([path, 200, undefined]);
      return body as T;
    },
    async stop() {
      controller.abort();
      await server.close(500);
      await Promise.all([processing, sources.done, gateways.done]);
      await engine.stop();
    },
  };
}
