import type { Account, AccountMeter, CustomLimits, Plan } from './types.gen.js';

/** A limit; `null` means unlimited. */
export type Limit = number | null;

/** Features that a plan may exclude. */
export type Feature = 'v1' | 'v3' | 'v2x' | 'clobv2' | 'copyPnl' | 'v2Onchain' | 'sql';

/** Limits of one plan. Rates are requests per sliding 60 s per account; sizes are bytes with 1 GB = 10^9. */
export interface PlanTerms {
  readonly plan: Plan;
  readonly title: string;
  readonly priceUsdPerMonth: number;
  /** /v1, /v2, and the standard bucket of /v3 and /clobv2 if the plan includes them. */
  readonly standardPerMinute: number;
  /** Trade-history paths of /v3, which also count in the standard bucket. `null` if the plan has no /v3. */
  readonly heavyPerMinute: number | null;
  readonly eventSockets: Limit;
  readonly orderbookSockets: Limit;
  readonly filterItemsPerSubscription: number;
  /** Socket time per UTC day. */
  readonly sessionSecondsPerDay: Limit;
  readonly apiKeys: number;
  /** Cap of `snapshot_count`. */
  readonly snapshotCap: number;
  /** How far back `since` reaches. */
  readonly sinceLookbackMs: number;
  /** How far back `since_seq` reaches; `null`: the complete retained log. */
  readonly seqLookbackMs: Limit;
  /** Largest page of condition positions. */
  readonly conditionPositionsMaxLimit: number;
  /** Successful social searches per calendar month (UTC). */
  readonly socialSearchesPerMonth: number;
  /** Quantity per service month, by meter. */
  readonly monthlyAllowance: Readonly<Record<AccountMeter, Limit>>;
  readonly features: Readonly<Record<Feature, boolean>>;
}

const SECOND = 1_000;
const GB = 1_000_000_000;
const TB = 1_000 * GB;

const allFeatures: Readonly<Record<Feature, boolean>> = {
  v1: true,
  v3: true,
  v2x: true,
  clobv2: true,
  copyPnl: true,
  v2Onchain: true,
  sql: true,
};

/** Limits of all plans. The enterprise limits are defaults that an agreement may raise. */
export const plans: Readonly<Record<Plan, PlanTerms>> = {
  free: {
    plan: 'free',
    title: 'Free',
    priceUsdPerMonth: 0,
    standardPerMinute: 60,
    heavyPerMinute: null,
    eventSockets: 1,
    orderbookSockets: 1,
    filterItemsPerSubscription: 10_000,
    sessionSecondsPerDay: 3_600,
    apiKeys: 1,
    snapshotCap: 20,
    sinceLookbackMs: 30 * SECOND,
    seqLookbackMs: 30 * SECOND,
    conditionPositionsMaxLimit: 0,
    socialSearchesPerMonth: 0,
    monthlyAllowance: { api_requests: 100_000, orderbook_chainlink_bytes: 5 * GB, onchain_event_bytes: 5 * GB },
    features: { v1: true, v3: false, v2x: false, clobv2: false, copyPnl: false, v2Onchain: false, sql: false },
  },
  starter: {
    plan: 'starter',
    title: 'Starter',
    priceUsdPerMonth: 50,
    standardPerMinute: 1_000,
    heavyPerMinute: 1_000,
    eventSockets: 10,
    orderbookSockets: 10,
    filterItemsPerSubscription: 10_000,
    sessionSecondsPerDay: null,
    apiKeys: 3,
    snapshotCap: 100,
    sinceLookbackMs: 120 * SECOND,
    seqLookbackMs: 120 * SECOND,
    conditionPositionsMaxLimit: 300,
    socialSearchesPerMonth: 500,
    monthlyAllowance: { api_requests: 10_000_000, orderbook_chainlink_bytes: 250 * GB, onchain_event_bytes: 250 * GB },
    features: allFeatures,
  },
  growth: {
    plan: 'growth',
    title: 'Growth',
    priceUsdPerMonth: 200,
    standardPerMinute: 2_000,
    heavyPerMinute: 1_500,
    eventSockets: 50,
    orderbookSockets: 50,
    filterItemsPerSubscription: 10_000,
    sessionSecondsPerDay: null,
    apiKeys: 10,
    snapshotCap: 200,
    sinceLookbackMs: 300 * SECOND,
    seqLookbackMs: 300 * SECOND,
    conditionPositionsMaxLimit: 1_000,
    socialSearchesPerMonth: 1_000,
    monthlyAllowance: { api_requests: 50_000_000, orderbook_chainlink_bytes: TB, onchain_event_bytes: TB },
    features: allFeatures,
  },
  enterprise: {
    plan: 'enterprise',
    title: 'Enterprise',
    priceUsdPerMonth: 750,
    standardPerMinute: 4_000,
    heavyPerMinute: 1_500,
    eventSockets: null,
    orderbookSockets: null,
    filterItemsPerSubscription: 100_000,
    sessionSecondsPerDay: null,
    apiKeys: 25,
    snapshotCap: 500,
    sinceLookbackMs: 300 * SECOND,
    seqLookbackMs: null,
    conditionPositionsMaxLimit: 1_000,
    socialSearchesPerMonth: 5_000,
    monthlyAllowance: { api_requests: null, orderbook_chainlink_bytes: null, onchain_event_bytes: null },
    features: allFeatures,
  },
};

/**
 * Largest agreed number of each kind. What a number bounds in a process stays bounded: a rate window holds 8 bytes per request, and a message
 * with all filter items of a subscription fits into the event socket's largest message.
 */
export const customLimitBounds: Readonly<Record<keyof CustomLimits, number>> = {
  standard_per_minute: 1_000_000,
  heavy_per_minute: 1_000_000,
  event_sockets: 100_000,
  orderbook_sockets: 100_000,
  filter_items_per_subscription: 125_000,
  api_keys: 1_000,
  social_searches_per_month: 1_000_000_000,
  api_requests_per_month: 1_000_000_000_000_000,
  orderbook_chainlink_bytes_per_month: 1_000_000_000_000_000,
  onchain_event_bytes_per_month: 1_000_000_000_000_000,
};

const termsWithCustomLimits = new WeakMap<object, PlanTerms>();

/** Limits of an account: those of its plan, with the agreed numbers of the account in their place. The same object for the same account value. */
export function accountTerms(account: Pick<Account, 'plan' | 'custom_limits'>): PlanTerms {
  const { custom_limits: custom } = account;
  const terms = plans[account.plan];
  if (custom === null) return terms;
  const known = termsWithCustomLimits.get(account);
  if (known !== undefined) return known;
  const allowance = terms.monthlyAllowance;
  const own: PlanTerms = {
    ...terms,
    standardPerMinute: custom.standard_per_minute ?? terms.standardPerMinute,
    // A plan without /v3 has no trade-history limit to replace.
    heavyPerMinute: terms.heavyPerMinute === null ? null : (custom.heavy_per_minute ?? terms.heavyPerMinute),
    eventSockets: custom.event_sockets ?? terms.eventSockets,
    orderbookSockets: custom.orderbook_sockets ?? terms.orderbookSockets,
    filterItemsPerSubscription: custom.filter_items_per_subscription ?? terms.filterItemsPerSubscription,
    apiKeys: custom.api_keys ?? terms.apiKeys,
    socialSearchesPerMonth: custom.social_searches_per_month ?? terms.socialSearchesPerMonth,
    monthlyAllowance: {
      api_requests: custom.api_requests_per_month ?? allowance.api_requests,
      orderbook_chainlink_bytes: custom.orderbook_chainlink_bytes_per_month ?? allowance.orderbook_chainlink_bytes,
      onchain_event_bytes: custom.onchain_event_bytes_per_month ?? allowance.onchain_event_bytes,
    },
  };
  termsWithCustomLimits.set(account, own);
  return own;
}

/** HTTP status of a response to a plan without the feature; the API's error formats define the text. */
export const missingFeatureStatus: Readonly<Record<Feature, 402 | 403>> = {
  v1: 403,
  v3: 402,
  v2x: 402,
  clobv2: 402,
  copyPnl: 403,
  v2Onchain: 403,
  sql: 402,
};

/** Limits that do not depend on the plan. */
export const commonLimits = {
  /** Length of the sliding window of every per-minute limit. */
  rateWindowMs: 60 * SECOND,
  /** POST /v1/keys without authentication. */
  freeKeysPerIpAndUtcDay: 1,
  /** Longest time that a rotated key still works. */
  keyGraceMaxMs: 7 * 24 * 3_600 * SECOND,
  /** Revoked keys of an account that are retained, for its lists; older ones are removed. */
  revokedKeysPerAccount: 50,
  /** Requests of a signed-in browser, per account. */
  sessionRequestsPerMinute: 240,
  /** Window of the limits of signing in. */
  signInWindowMs: 900 * SECOND,
  /** Passwords that may be tried for one email, and passwords and links by one address, per window. */
  passwordGuessesPerEmail: 10,
  signInsPerAddress: 30,
  /** Mails with links that one address may ask for, per window. */
  linksPerAddress: 10,
  /** One-time links of one email that are neither used nor expired and were created within an hour. */
  unusedLinksPerEmailAndHour: 5,
  /** Requests without a valid key, per client address and process. */
  keylessPerMinute: 1_200,
  /** The same of scripts and style sheets with a version in their address, which are in memory: a first visit of /app sends 22, later ones none. */
  assetsPerMinute: 6_000,
  includeTradesPerMinutePerKey: 60,
  socialRequestsPerSecondPerKey: 1,
  copyPnlIntervalMsPerKey: 5 * SECOND,
  copyPnlScanBudgetMs: 30 * SECOND,
  copyPnlRefreshBudgetMs: 180 * SECOND,
  copyPnlWindowDays: 180,
  copyPnlBatchWallets: 100,
  copyPnlPoolWallets: 1_000,
  /** PnL of one wallet in /v3: requests that run at once. */
  v3PnlAtOncePerAccount: 2,
  v3PnlAtOncePerProcess: 16,
  equityIntervalMsPerKey: 10 * SECOND,
  v3DefaultLimit: 100,
  v3MaxLimit: 300,
  v3MaxPageRows: 1_000,
  topTradersMaxLimit: 500,
  topTradersMaxUsers: 20,
  closedPositionsMaxLimit: 50,
  negRiskChildrenMaxLimit: 1_000,
  overlapMaxLimit: 500,
  /** POST /v1/sql. */
  sqlPerMinutePerKey: 60,
  /** Statements of POST /v1/sql that run, or whose results are sent, at once. */
  sqlAtOncePerAccount: 1,
  sqlAtOncePerProcess: 4,
  ticksMaxRangeMs: 24 * 3_600 * SECOND,
  ticksDefaultLimit: 10_000,
  ticksMaxLimit: 100_000,
} as const;
