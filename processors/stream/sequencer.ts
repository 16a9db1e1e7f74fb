import type { NewRecord } from '../../infra/log/port.js';
import type { Codec } from '../../schemas/codec.js';
import { oldestTenth } from '../../schemas/primitives/oldest.js';
import type { Retract, StreamEvent } from '../../schemas/types.gen.js';
import type { Draft } from './frames/frame.js';

/** Ids remembered to drop an event that the input contains twice. About 15 minutes at 150 events per second. */
const MAX_REMEMBERED_IDS = 150_000;

/**
 * Assigns contiguous `seq` numbers but for `skip`, drops repeated events, and gives a new id to an event that is sent again because its block was retracted
 * and became canonical again. The state is derived from the stream: pass its newest records to `restore` at start, oldest first; `seq`
 * continues after the last of them, or starts with `firstSeq`; it is above `lastSeq` in any case.
 */
export function createSequencer(options: { codec: Codec; firstSeq: number; lastSeq?: number | null }) {
  const { codec } = options;
  const lowestSeq = (options.lastSeq ?? 0) + 1;
  let nextSeq = Math.max(options.firstSeq, lowestSeq);
  const seen = new Set<string>();
  /** Number of retractions by prefix of an orphaned block's hash. */
  const retracted = new Map<string, number>();

  const remember = (id: string) => {
    seen.add(id);
    for (const old of oldestTenth(seen, MAX_REMEMBERED_IDS)) seen.delete(old);
  };
  const noteRetract = (hashes: readonly string[]) => {
    for (const hash of hashes) {
      const prefix = hash.slice(2, 18);
      retracted.set(prefix, (retracted.get(prefix) ?? 0) + 1);
    }
  };
  const finalId = (draft: Draft): string => {
    if (retracted.size === 0) return draft.id;
    const times = retracted.get(draft.id.slice(draft.id.lastIndexOf('@') + 1)) ?? 0;
    return times === 0 ? draft.id : `${draft.id}.${times + 1}`;
  };

  return {
    get nextSeq() {
      return nextSeq;
    },
    /** Leaves out one `seq`: subscribers take the hole for events that they will never get. */
    skip(): void {
      nextSeq += 1;
    },
    /** Applies a record of the stream that was written before this process started. */
    restore(event: StreamEvent): void {
      nextSeq = Math.max(event.seq + 1, lowestSeq);
      remember(event.id);
      if (event.kind !== 'retract') return;
      const frame = JSON.parse(event.frame) as { data: Pick<Retract, 'block_hashes'> };
      noteRetract(frame.data.block_hashes);
    },
    /** The record of an event; null when it was sent already. `orphans`: block hashes that the event retracts. */
    assignSeq(draft: Draft, orphans: readonly string[] = []): NewRecord | null {
      const id = finalId(draft);
      if (seen.has(id)) return null;
      const seq = nextSeq;
      const { body } = draft;
      const value = codec.encode('stream_event', {
        seq,
        id,
        kind: draft.kind,
        timestamp_ms: draft.timestampMs,
        block_number: draft.blockNumber ?? null,
        tx_hash: draft.txHash ?? null,
        confirmed: draft.confirmed,
        wallets: draft.wallets ?? [],
        tokens: draft.tokens ?? [],
        condition_ids: draft.conditionIds ?? [],
        slugs: draft.slugs ?? [],
        side: draft.side ?? null,
        usd: draft.usd ?? null,
        feed: draft.feed ?? null,
        twap_window_s: draft.twapWindowS ?? null,
        combo: draft.combo ?? null,
        frame: JSON.stringify({ type: draft.frameType ?? draft.kind, seq, ...body }),
      });
      nextSeq += 1;
      remember(id);
      noteRetract(orphans);
      return { key: id, value, timestampMs: draft.timestampMs };
    },
  };
}

export type Sequencer = ReturnType<typeof createSequencer>;
