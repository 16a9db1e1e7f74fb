import type { StreamCombo } from '../../../schemas/types.gen.js';
import type { MarketMetadata } from '../catalog-model.js';

/** Sources of enrichment: the current state, without waiting. */
export interface Enrichment {
  marketOfToken(tokenId: string): MarketMetadata | undefined;
  marketOfCondition(conditionId: string): MarketMetadata | undefined;
  /** By question id, or by the request id of a neg-risk question at the oracle. */
  marketOfQuestion(questionId: string): MarketMetadata | undefined;
  /** Markets of a neg-risk group by question index. */
  negRiskGroup(marketId: string): ReadonlyMap<number, MarketMetadata> | undefined;
  /** Payout numerators of a resolved condition, outcome order. */
  payouts(conditionId: string): readonly string[] | undefined;
}

/** Top-level fields of an event frame without `type` and `seq`. */
export interface FrameBody {
  readonly timestamp: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** A stream event before it gets its `seq`. */
export interface Draft {
  readonly id: string;
  readonly kind: string;
  /** Canonical event time. */
  readonly timestampMs: number;
  readonly confirmed: boolean;
  readonly body: FrameBody;
  readonly blockNumber?: number;
  readonly txHash?: string;
  readonly wallets?: readonly string[];
  readonly tokens?: readonly string[];
  readonly conditionIds?: readonly string[];
  readonly slugs?: readonly string[];
  readonly side?: string;
  /** USDC base units that size bounds compare with. */
  readonly usd?: bigint;
  readonly feed?: string;
  readonly twapWindowS?: number | null;
  readonly combo?: StreamCombo;
  /** `type` of the frame if it differs from the kind. */
  readonly frameType?: string;
}

/** Common fields of events of mined logs. */
export interface MinedEvent {
  readonly id: string;
  readonly block_number: number;
  readonly block_hash: string;
  readonly timestamp_ms: number;
  readonly tx_hash: string;
  readonly log_index: number;
}

/** Id of a log's event in a block: the same log in another block is another stream event. */
export const idInBlock = (id: string, blockHash: string): string => `${id}@${blockHash.slice(2, 18)}`;

/** Draft of a mined log: envelope, log position and the leading fields of `data`. */
export function chainDraft(
  kind: string,
  event: MinedEvent,
  data: Readonly<Record<string, unknown>>,
  filters: Pick<Draft, 'wallets' | 'tokens' | 'conditionIds' | 'slugs' | 'side' | 'usd' | 'combo'> = {},
): Draft {
  return {
    id: idInBlock(event.id, event.block_hash),
    kind,
    timestampMs: event.timestamp_ms,
    confirmed: true,
    blockNumber: event.block_number,
    txHash: event.tx_hash,
    ...filters,
    body: {
      timestamp: event.timestamp_ms,
      data: {
        event_type: kind,
        tx_hash: event.tx_hash,
        block_number: event.block_number,
        log_index: event.log_index,
        timestamp: event.timestamp_ms,
        ...data,
      },
    },
  };
}

/** Each value once, in order of first appearance, without null and undefined. */
export function distinct(...values: readonly (string | null | undefined)[]): string[] {
  return [...new Set(values)].filter((value): value is string => value !== null && value !== undefined);
}
