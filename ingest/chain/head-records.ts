import type { NewRecord } from '../../infra/log/port.js';
import type { Codec } from '../../schemas/codec.js';
import type { Retract, Settlement, StatusUpdate, Trade } from '../../schemas/types.gen.js';
import type { BlockRecords } from './block-records.js';
import type { HeadState, PendingSettlement } from './head-state.js';

/** A record with its event id, so that a partially written block can be completed without repetitions. */
export interface HeadRecord {
  readonly id: string;
  readonly record: NewRecord;
}

export function settlementRecord(codec: Codec, settlement: Settlement): HeadRecord {
  const value = codec.encode('settlement', settlement);
  return { id: settlement.id, record: { key: settlement.tx_hash, value, timestampMs: settlement.detected_at_ms } };
}

/** The transactions of a block's trades, and those of them that are pending settlements with their trades in log order. */
export function settle(
  trades: readonly Trade[],
  state: Pick<HeadState, 'pending'>,
): {
  readonly settledTxs: readonly string[];
  readonly updates: readonly { readonly pending: PendingSettlement; readonly trades: readonly Trade[] }[];
} {
  const byTx = new Map<string, Trade[]>();
  for (const trade of trades) {
    const list = byTx.get(trade.tx_hash);
    if (list === undefined) byTx.set(trade.tx_hash, [trade]);
    else list.push(trade);
  }
  const updates = [...byTx].flatMap(([txHash, ofTx]) => {
    const pending = state.pending(txHash);
    return pending === undefined ? [] : [{ pending, trades: ofTx }];
  });
  return { settledTxs: [...byTx.keys()], updates };
}

/** Event for subscribers when the block of a pending settlement arrives. `fills` are the trades of the transaction in log order. */
export function statusUpdate(
  pending: PendingSettlement,
  block: BlockRecords,
  fills: readonly Trade[],
  seenAtMs: number,
): StatusUpdate {
  // The time of a block is that of its announcement; a pending transaction may arrive while the block is still being read.
  const confirmedAtMs = Math.max(seenAtMs, pending.detectedAtMs);
  return {
    id: `status-${pending.txHash}`,
    tx_hash: pending.txHash,
    block_number: block.number,
    block_hash: block.hash,
    confirmed_at_ms: confirmedAtMs,
    pending_detected_at_ms: pending.detectedAtMs,
    latency_ms: confirmedAtMs - pending.detectedAtMs,
    taker_wallet: pending.takerWallet,
    token_id: pending.takerToken,
    taker_usdc: pending.takerUsdc,
    maker_wallets: [...new Set(fills.filter((fill) => !fill.is_taker_order).map((fill) => fill.maker))],
    order_hashes: [...new Set(fills.map((fill) => fill.order_hash))],
    confirmed_fills: fills.map((fill) => ({
      order_hash: fill.order_hash,
      maker: fill.maker,
      taker: fill.taker,
      token_id: fill.token_id,
      side: fill.side,
      usdc: fill.usdc,
      shares: fill.shares,
      maker_amount: fill.maker_amount,
      taker_amount: fill.taker_amount,
      fee: fill.fee,
    })),
  };
}

export function statusRecord(codec: Codec, status: StatusUpdate): HeadRecord {
  const value = codec.encode('status_update', status);
  return { id: status.id, record: { key: String(status.block_number), value, timestampMs: status.confirmed_at_ms } };
}

/** `orphans` ascending, at least one. */
export function retractRecord(
  codec: Codec,
  orphans: readonly { readonly number: number; readonly hash: string }[],
  detectedAtMs: number,
): HeadRecord {
  const first = orphans[0]!;
  const last = orphans.at(-1)!;
  const retract: Retract = {
    id: `retract-${first.number}-${last.number}-${first.hash}`,
    from_block: first.number,
    to_block: last.number,
    block_hashes: orphans.map((orphan) => orphan.hash),
    detected_at_ms: detectedAtMs,
  };
  const value = codec.encode('retract', retract);
  return { id: retract.id, record: { key: String(first.number), value, timestampMs: detectedAtMs } };
}
