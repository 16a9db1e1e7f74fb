import type { Log } from '../../infra/log/port.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { HeadState, IncompleteBlock, PendingSettlement } from './head-state.js';
import type { Hex } from './source.js';

export interface RecoveredHead {
  /** The block whose block record was not written before the process died. */
  readonly open: IncompleteBlock | null;
  /** Newest block of chain.final if all blocks of chain.head are deleted, so that the ones after it may be missing; otherwise null. */
  readonly missingAfter: number | null;
}

/**
 * Applies the end of chain.head to the state, so that a restart neither repeats nor loses records. Reads back from the newest record to
 * `pendingTtlMs` before the newest final block, at most `windowMs`: older blocks cannot be retracted and older settlements have expired.
 * Reads further back only while it has found no block.
 */
export async function recoverHead(deps: {
  log: Omit<Log, 'append'>;
  codec: Codec;
  state: HeadState;
  windowMs: number;
  pendingTtlMs: number;
  nowMs: number;
  onUnreadable: OnUnreadable;
}): Promise<RecoveredHead> {
  const { log, codec, state, nowMs } = deps;
  const topic = topics.chainHead.name;
  const final = await newestFinal(deps);
  const { earliest } = await log.bounds(topic, 0);
  const result = (open: IncompleteBlock | null): RecoveredHead => ({
    open,
    missingAfter: earliest > 0 && state.tip() === undefined ? (final?.number ?? null) : null,
  });
  const last = await log.lastRecord(topic, 0);
  if (last === null) return result(null);
  let open: {
    number: number;
    hash: Hex;
    ids: Set<string>;
    settled: Set<string>;
    confirmed: PendingSettlement[];
  } | null = null;
  const openFor = (number: number, hash: string) => {
    if (open?.hash !== hash) open = { number, hash: hash as Hex, ids: new Set(), settled: new Set(), confirmed: [] };
    return open;
  };
  if (final !== null) state.finalize(final.number, final.hash);
  const sinceFinalMs = last.timestampMs - (final?.timestampMs ?? Number.NEGATIVE_INFINITY);
  let rangeMs = Math.min(deps.windowMs, Math.max(sinceFinalMs, 0) + deps.pendingTtlMs);
  const read = async (): Promise<void> => {
    open = null;
    const from = { timestampMs: last.timestampMs - rangeMs };
    for await (const batch of log.read({ topic, partition: 0, from, follow: false })) {
      for (const { value: bytes, offset } of batch.records) {
        if (bytes === null) continue;
        const event = tryDecode(codec, bytes, (reason) => deps.onUnreadable({ topic, offset }, reason));
        if (event === undefined) continue;
        switch (event.kind) {
          case 'settlement': {
            const { tx_hash, detected_at_ms, taker_wallet, taker_token, taker_usdc } = event.value;
            const pending = {
              txHash: tx_hash,
              detectedAtMs: detected_at_ms,
              takerWallet: taker_wallet,
              takerToken: taker_token,
              takerUsdc: taker_usdc,
            };
            state.addPending(pending, nowMs);
            break;
          }
          case 'status_update': {
            const { value } = event;
            const current = openFor(value.block_number, value.block_hash);
            current.ids.add(value.id);
            current.confirmed.push({
              txHash: value.tx_hash,
              detectedAtMs: value.pending_detected_at_ms,
              takerWallet: value.taker_wallet,
              takerToken: value.token_id,
              takerUsdc: value.taker_usdc,
            });
            break;
          }
          case 'block': {
            const { block_number, block_hash } = event.value;
            const current = openFor(block_number, block_hash);
            state.push({
              number: block_number,
              hash: current.hash,
              settledTxs: [...current.settled],
              confirmed: current.confirmed,
            });
            open = null;
            break;
          }
          case 'retract':
            state.rollback(event.value.from_block, nowMs);
            open = null;
            break;
          default: {
            if (!('block_hash' in event.value)) break;
            const current = openFor(event.value.block_number, event.value.block_hash);
            current.ids.add(event.value.id);
            if (event.kind === 'trade') current.settled.add(event.value.tx_hash);
          }
        }
      }
    }
  };
  await read();
  if (state.tip() === undefined) {
    // Without a block, the gap since the newest one would not be noticed.
    const oldestMs = await oldestTimestampMs(log);
    while (state.tip() === undefined && last.timestampMs - rangeMs > oldestMs) {
      rangeMs = Math.max(2 * rangeMs, deps.windowMs);
      await read();
    }
  }
  return result(open);
}

/** Time of the oldest record of chain.head. */
async function oldestTimestampMs(log: Pick<Log, 'read'>): Promise<number> {
  const oldest = {
    topic: topics.chainHead.name,
    partition: 0,
    from: 'earliest',
    follow: false,
    maxRecords: 1,
  } as const;
  for await (const { records } of log.read(oldest)) for (const { timestampMs } of records) return timestampMs;
  return Number.POSITIVE_INFINITY;
}

/** Block of the last record of chain.final; null when there is none or it is not an event of a block. */
async function newestFinal(deps: { log: Omit<Log, 'append'>; codec: Codec; onUnreadable: OnUnreadable }) {
  const topic = topics.chainFinal.name;
  const last = await deps.log.lastRecord(topic, 0);
  if (last === null || last.value === null) return null;
  const { offset, timestampMs } = last;
  const event = tryDecode(deps.codec, last.value, (reason) => deps.onUnreadable({ topic, offset }, reason));
  if (event === undefined || !('block_hash' in event.value)) return null;
  return { number: event.value.block_number, hash: event.value.block_hash as Hex, timestampMs };
}
