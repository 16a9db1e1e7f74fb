import {
  comboModuleName,
  comboModuleOf,
  comboPositions,
  parseComboPosition,
} from '../../../schemas/primitives/combo-ids.js';
import { priceNumber } from '../../../schemas/primitives/money.js';
import type { Settlement, StatusUpdate, StreamCombo, Trade } from '../../../schemas/types.gen.js';
import type { MarketMetadata } from '../catalog-model.js';
import type { ComboDefinitions } from '../combo-definitions.js';
import { price, slugsOf, toUnits } from './enrichment.js';
import { type Draft, distinct, type Enrichment, idInBlock } from './frame.js';

/** Exchange generation whose outcome tokens are positions of the combo protocol. */
export const COMBO_EXCHANGE_VERSION = 3;
const TAKER_PRICE_DECIMALS = 4;
/** Labels by outcome index while the leg's market is unknown. */
const LABELS: readonly string[] = ['Yes', 'No'];

export interface ComboContext {
  readonly known: Enrichment;
  readonly definitions: ComboDefinitions;
}

interface Leg {
  readonly frame: Readonly<Record<string, unknown>>;
  readonly positionId: string;
  readonly conditionId: string;
  readonly eventId: string;
  readonly moduleId: number;
  readonly market: MarketMetadata | undefined;
}

/** `YES` or `NO`; undefined for another outcome index. */
export const outcomeSide = (positionId: string): 'YES' | 'NO' | undefined => {
  const { outcomeIndex } = parseComboPosition(positionId);
  return outcomeIndex === 0 ? 'YES' : outcomeIndex === 1 ? 'NO' : undefined;
};

const marketFrame = (market: MarketMetadata): Record<string, unknown> => ({
  title: market.title,
  slug: market.slug,
  ...(market.image === null ? {} : { image: market.image }),
  ...(market.eventTitle === null ? {} : { event_title: market.eventTitle }),
  ...(market.eventSlug === null ? {} : { event_slug: market.eventSlug }),
  outcomes: market.outcomes,
  token_ids: market.tokenIds,
});

function legOf(positionId: string, { known, definitions }: ComboContext): Leg {
  const position = parseComboPosition(positionId);
  const market = definitions.marketOfLeg(positionId, known);
  const label = market?.outcomes[position.outcomeIndex] ?? LABELS[position.outcomeIndex];
  return {
    positionId: position.positionId,
    conditionId: position.conditionId,
    eventId: position.eventId,
    moduleId: position.moduleId,
    market,
    frame: {
      position_id: position.positionId,
      module_id: position.moduleId,
      module_name: comboModuleName(position.moduleId) ?? `module ${position.moduleId}`,
      condition_id: position.conditionId,
      event_id: position.eventId,
      arity: position.arity,
      condition_index: position.conditionIndex,
      outcome_index: position.outcomeIndex,
      ...(label === undefined ? {} : { leg_outcome_label: label }),
      ...(market === undefined ? {} : { market: marketFrame(market) }),
    },
  };
}

/** Legs of a combo in frame format. */
export const legsOf = (positionIds: readonly string[], context: ComboContext): readonly Leg[] =>
  positionIds.map((positionId) => legOf(positionId, context));

export const legFrames = (legs: readonly Leg[]): readonly Readonly<Record<string, unknown>>[] =>
  legs.map((leg) => leg.frame);

/** Values that filters compare with: ids of the combo, its legs and their markets. */
export function comboFilters(
  ids: {
    readonly conditionIds: readonly string[];
    readonly eventIds: readonly string[];
    readonly positionIds: readonly string[];
  },
  legs: readonly Leg[],
  of: Pick<StreamCombo, 'action' | 'direction'>,
): Pick<Draft, 'tokens' | 'conditionIds' | 'slugs' | 'combo'> {
  const legConditions = legs.map((leg) => leg.conditionId);
  return {
    tokens: distinct(...ids.positionIds, ...legs.map((leg) => leg.positionId)),
    conditionIds: distinct(...ids.conditionIds, ...legConditions, ...legs.map((leg) => leg.market?.conditionId)),
    slugs: slugsOf(...legs.map((leg) => leg.market)),
    combo: {
      condition_ids: distinct(...ids.conditionIds),
      leg_position_ids: distinct(...legs.map((leg) => leg.positionId)),
      event_ids: distinct(...ids.eventIds, ...legs.map((leg) => leg.eventId)),
      module_ids: [...new Set([...ids.conditionIds.map(comboModuleOf), ...legs.map((leg) => leg.moduleId)])],
      ...of,
    },
  };
}

/** Frame row of one order, pending or filled. */
const tradeRow = (
  row: Pick<Trade, 'token_id' | 'order_hash' | 'maker' | 'taker' | 'side' | 'usdc' | 'shares' | 'fee'>,
  signer?: string,
): Record<string, unknown> => {
  const outcome = outcomeSide(row.token_id);
  return {
    position_id: row.token_id,
    order_hash: row.order_hash,
    maker: row.maker,
    ...(signer === undefined ? {} : { signer }),
    taker: row.taker,
    side: row.side,
    ...(outcome === undefined ? {} : { outcome }),
    price: price(row.usdc, row.shares),
    size: toUnits(row.shares),
    amount_usdc: toUnits(row.usdc),
    fee: toUnits(row.fee),
  };
};

const outcomeField = (positionId: string) => {
  const outcome = outcomeSide(positionId);
  return outcome === undefined ? {} : { outcome };
};

/** A match on the combo exchange seen in the mempool. Its size in USD is the amount that the taker pays or receives. */
export function comboExecutionDraft(settlement: Settlement, context: ComboContext): Draft {
  const position = parseComboPosition(settlement.taker_token);
  const legIds = settlement.combo_legs ?? context.definitions.legsOf(position.conditionId, position.positionId) ?? [];
  const legs = legsOf(legIds, context);
  const takerIndex = settlement.trades.length - 1;
  return {
    id: settlement.id,
    kind: 'combo_execution',
    timestampMs: settlement.detected_at_ms,
    confirmed: false,
    txHash: settlement.tx_hash,
    wallets: distinct(settlement.taker_wallet, ...settlement.trades.map((row) => row.maker)),
    side: outcomeSide(settlement.taker_token),
    usd: settlement.taker_usdc,
    ...comboFilters(
      {
        conditionIds: [position.conditionId],
        eventIds: [position.eventId],
        positionIds: [settlement.taker_token, ...settlement.trades.map((row) => row.token_id)],
      },
      legs,
      { action: null, direction: settlement.taker_side },
    ),
    body: {
      timestamp: settlement.detected_at_ms,
      data: {
        event_type: 'combo_execution',
        tx_hash: settlement.tx_hash,
        status: 'pending',
        detected_at: settlement.detected_at_ms,
        block_number: null,
        combo_condition_id: position.conditionId,
        legs: legFrames(legs),
        taker_wallet: settlement.taker_wallet,
        taker_token: settlement.taker_token,
        taker_side: settlement.taker_side,
        ...outcomeField(settlement.taker_token),
        taker_price: priceNumber(settlement.taker_usdc, settlement.taker_shares, TAKER_PRICE_DECIMALS) ?? 0,
        taker_size: toUnits(settlement.taker_shares),
        amount_usdc: toUnits(settlement.taker_usdc),
        order_hashes: distinct(...settlement.trades.map((row) => row.order_hash)),
        trades: settlement.trades.map((row, index) =>
          tradeRow(index === takerIndex ? { ...row, taker: settlement.exchange } : row, row.signer),
        ),
      },
    },
  };
}

/**
 * A mined transaction of the combo exchange: its fills in log order, with the pending match that they confirm if one was seen. A reverted
 * transaction has no logs, so it is not reported. `fills` must not be empty.
 */
export function comboStatusDraft(fills: readonly Trade[], pending: StatusUpdate | null, context: ComboContext): Draft {
  const takerFill = fills.find((fill) => fill.is_taker_order);
  const subject = (takerFill ?? fills.at(-1)) as Trade;
  const makers = fills.filter((fill) => !fill.is_taker_order);
  const takerWallet = takerFill?.maker ?? pending?.taker_wallet ?? subject.taker;
  const position = parseComboPosition(subject.token_id);
  const legs = legsOf(context.definitions.legsOf(position.conditionId, position.positionId) ?? [], context);
  const [yes, no] = comboPositions(position.conditionId);
  const confirmedAtMs = pending?.confirmed_at_ms ?? subject.timestamp_ms;
  const makerWallets = distinct(...makers.map((fill) => fill.maker));
  return {
    id: idInBlock(`combo-status-${subject.tx_hash}`, subject.block_hash),
    kind: 'combo_status_update',
    timestampMs: confirmedAtMs,
    confirmed: true,
    blockNumber: subject.block_number,
    txHash: subject.tx_hash,
    wallets: distinct(takerWallet, ...makerWallets),
    side: outcomeSide(subject.token_id),
    usd: subject.usdc,
    ...comboFilters(
      {
        conditionIds: [position.conditionId],
        eventIds: [position.eventId],
        positionIds: fills.map((fill) => fill.token_id),
      },
      legs,
      { action: null, direction: takerFill?.side ?? null },
    ),
    body: {
      timestamp: confirmedAtMs,
      data: {
        event_type: 'combo_status_update',
        tx_hash: subject.tx_hash,
        block_number: subject.block_number,
        confirmed_at: confirmedAtMs,
        execution_status: 'CONFIRMED',
        ...(pending === null
          ? {}
          : { pending_detected_at: pending.pending_detected_at_ms, latency_ms: pending.latency_ms }),
        combo_condition_id: position.conditionId,
        yes_position_id: yes,
        no_position_id: no,
        leg_position_ids: legs.map((leg) => leg.positionId),
        legs: legFrames(legs),
        order_hashes: distinct(...fills.map((fill) => fill.order_hash)),
        confirmed_fills: fills.map((fill) => tradeRow(fill)),
        fees: toUnits(fills.reduce((sum, fill) => sum + fill.fee, 0n)),
        ...(makerWallets.length === 1 ? { maker_address: makerWallets[0] } : {}),
        taker_address: takerWallet,
        amount_usdc: toUnits(subject.usdc),
      },
    },
  };
}
