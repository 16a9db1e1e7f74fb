import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { fillsTable } from '../../processors/fills/sink.js';
import { encodeRows } from '../../processors/sink/sink-definition.js';
import { SINK_FORMAT } from '../../processors/sink/table-store.js';

/** Rows of the tables with defaults for every column; tests provide the relevant ones. */
export interface FillInput {
  readonly block: number;
  readonly logIndex: number;
  readonly timestampS: number;
  readonly orderHash: string;
  readonly txHash: string;
  readonly side: 'BUY' | 'SELL';
  readonly tokenId: string;
  readonly usdc: bigint;
  readonly shares: bigint;
  readonly fee?: bigint;
  readonly feeShares?: bigint;
  readonly builder?: string;
  readonly version?: number;
  readonly maker?: string;
  readonly taker?: string;
  readonly takerOrder?: boolean;
}

export const hex32 = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
export const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;

type FillsRow = Parameters<typeof fillsTable.write>[1];

/** Inserts rows of `fills` in the format of the sinks: JSON has no form for hashes as bytes. */
export const insertFills = (clickhouse: ClickHouse, rows: readonly FillsRow[]): Promise<void> =>
  clickhouse.insertBytes(fillsTable.name, SINK_FORMAT, encodeRows(fillsTable, rows), { columns: fillsTable.columns });

export function fillRow(fill: FillInput): FillsRow {
  return {
    block_number: fill.block,
    log_index: fill.logIndex,
    timestamp: fill.timestampS * 1000,
    tx_hash: fill.txHash,
    exchange: address(0xe),
    exchange_version: fill.version ?? 2,
    neg_risk: false,
    order_hash: fill.orderHash,
    maker: fill.maker ?? address(0xa),
    taker: fill.taker ?? address(0xb),
    is_taker_order: fill.takerOrder ?? false,
    side: fill.side,
    token_id: fill.tokenId,
    usdc: fill.usdc,
    shares: fill.shares,
    fee: fill.fee ?? 0n,
    fee_shares: fill.feeShares ?? 0n,
    builder: fill.builder ?? '',
    _offset: fill.block * 1000 + fill.logIndex,
  };
}

export interface MarketInput {
  readonly conditionId: string;
  readonly id: string;
  readonly slug: string;
  readonly question: string;
  readonly tokenIds: readonly [string, string];
  readonly outcomes?: readonly [string, string];
  readonly prices?: readonly [string, string];
  readonly eventId?: string | null;
  readonly eventSlug?: string | null;
  readonly eventTitle?: string | null;
  readonly groupItemTitle?: string | null;
  readonly image?: string | null;
  readonly active?: boolean;
  readonly closed?: boolean;
  readonly startMs?: number | null;
  readonly endMs?: number | null;
  readonly offset?: number;
  readonly negRiskMarketId?: string | null;
  readonly tags?: readonly string[];
  readonly volume?: number;
  readonly bestBid?: number | null;
  readonly bestAsk?: number | null;
}

const time = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : new Date(ms).toISOString().replace('T', ' ').replace('Z', '');

export function marketRow(market: MarketInput): object {
  return {
    condition_id: market.conditionId,
    id: market.id,
    slug: market.slug,
    question: market.question,
    description: '',
    image: market.image ?? null,
    event_id: market.eventId ?? null,
    event_slug: market.eventSlug ?? null,
    event_title: market.eventTitle ?? null,
    outcomes: market.outcomes ?? ['Yes', 'No'],
    token_ids: market.tokenIds,
    outcome_prices: market.prices ?? ['0.5', '0.5'],
    active: market.active ?? true,
    closed: market.closed ?? false,
    archived: false,
    neg_risk: (market.negRiskMarketId ?? null) !== null,
    neg_risk_market_id: market.negRiskMarketId ?? null,
    best_bid: market.bestBid ?? null,
    best_ask: market.bestAsk ?? null,
    group_item_title: market.groupItemTitle ?? null,
    volume: market.volume ?? 1200.5,
    volume_24h: 20.25,
    liquidity: 300.1,
    start_at: time(market.startMs),
    end_at: time(market.endMs),
    twap_enabled: false,
    tag_slugs: market.tags ?? [],
    raw: '{}',
    _offset: market.offset ?? 1,
  };
}

export function tokenRows(market: MarketInput): object[] {
  return market.tokenIds.map((tokenId, index) => ({
    token_id: tokenId,
    condition_id: market.conditionId,
    outcome_index: index,
    outcome: (market.outcomes ?? ['Yes', 'No'])[index],
    market_slug: market.slug,
    event_id: market.eventId ?? null,
    event_slug: market.eventSlug ?? null,
    _offset: market.offset ?? 1,
  }));
}

export interface EventInput {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly conditionIds: readonly string[];
  readonly volume24h?: number;
  readonly active?: boolean;
  readonly closed?: boolean;
  readonly seriesId?: string | null;
  readonly seriesSlug?: string | null;
  readonly startMs?: number | null;
  readonly endMs?: number | null;
  readonly offset?: number;
  readonly negRiskMarketId?: string | null;
}

export function eventRow(event: EventInput): object {
  return {
    id: event.id,
    slug: event.slug,
    title: event.title,
    description: `About ${event.title}`,
    image: 'https://img.example/x.jpg',
    icon: null,
    active: event.active ?? true,
    closed: event.closed ?? false,
    archived: false,
    neg_risk: (event.negRiskMarketId ?? null) !== null,
    neg_risk_market_id: event.negRiskMarketId ?? null,
    volume: 40211.4,
    volume_24h: event.volume24h ?? 812,
    liquidity: 9120.2,
    open_interest: 3001,
    start_at: time(event.startMs),
    end_at: time(event.endMs),
    series_id: event.seriesId ?? null,
    series_slug: event.seriesSlug ?? null,
    tag_slugs: [],
    market_condition_ids: event.conditionIds,
    raw: '{}',
    _offset: event.offset ?? 1,
  };
}

export interface WalletEventInput {
  readonly wallet: string;
  readonly kind: 'split' | 'merge' | 'conversion' | 'redemption';
  readonly block: number;
  readonly logIndex: number;
  readonly timestampS: number;
  readonly txHash: string;
  /** Condition, or neg-risk market of a conversion. */
  readonly subjectId: string;
  readonly amount: bigint;
  readonly indexSets?: readonly string[];
  readonly source?: string | null;
}

export function walletEventRow(event: WalletEventInput): object {
  return {
    wallet: event.wallet,
    kind: event.kind,
    block_number: event.block,
    log_index: event.logIndex,
    timestamp: event.timestampS,
    tx_hash: event.txHash,
    subject_id: event.subjectId,
    amount: event.amount,
    index_sets: event.indexSets ?? [],
    source: event.source ?? null,
    _offset: event.block * 1000 + event.logIndex,
  };
}

export interface TickInput {
  readonly feed: string;
  readonly ms: number;
  readonly price: string;
  readonly bid?: string;
  readonly ask?: string;
  readonly twapWindowS?: number;
  readonly n?: number;
}

export function tickRow(tick: TickInput): object {
  const window = tick.twapWindowS ?? 0;
  return {
    id: `${tick.feed}${window === 0 ? '' : `-twap${window}`}-${tick.ms}-${tick.n ?? 0}`,
    feed: tick.feed,
    twap_window_s: window,
    timestamp_ms: time(tick.ms),
    price: tick.price,
    bid: tick.bid ?? null,
    ask: tick.ask ?? null,
    source: 'test',
    received_at: time(tick.ms),
    _partition: 0,
    _offset: tick.ms / 1000,
  };
}
