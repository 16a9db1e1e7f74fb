import type { Block, Retract } from '../../../schemas/types.gen.js';
import { toUnits } from './enrichment.js';
import { type Draft, idInBlock } from './frame.js';

/** A block, after all of its events. */
export function blockDraft(block: Block): Draft {
  return {
    id: idInBlock(block.id, block.block_hash),
    kind: 'block',
    timestampMs: block.timestamp_ms,
    confirmed: true,
    blockNumber: block.block_number,
    body: {
      timestamp: block.timestamp_ms,
      data: {
        event_type: 'block',
        block_number: block.block_number,
        block_hash: block.block_hash,
        timestamp: block.timestamp_ms,
        parent_hash: block.parent_hash,
        // Records of older versions have no count if the source had none.
        tx_count: block.tx_count ?? block.polymarket_tx_count,
        polymarket_tx_count: block.polymarket_tx_count,
        settlement_count: block.settlement_count,
        trade_volume_usd: toUnits(block.trade_volume),
      },
    },
  };
}

/** Blocks that are no longer canonical. The events sent for them are invalid; the replacing blocks follow. */
export function retractDraft(retract: Retract): Draft {
  return {
    id: `${retract.id}@${retract.detected_at_ms}`,
    kind: 'retract',
    timestampMs: retract.detected_at_ms,
    confirmed: true,
    blockNumber: retract.from_block,
    body: {
      timestamp: retract.detected_at_ms,
      data: {
        event_type: 'retract',
        from_block: retract.from_block,
        to_block: retract.to_block,
        block_hashes: retract.block_hashes,
      },
    },
  };
}
