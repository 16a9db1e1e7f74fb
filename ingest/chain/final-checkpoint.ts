import { FatalError } from '../../infra/errors.js';
import type { Log } from '../../infra/log/port.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';

/** End of chain.final: a complete block, or a partial block without its block record. */
export type FinalCheckpoint =
  | { readonly kind: 'empty' }
  | { readonly kind: 'block'; readonly number: number; readonly hash: string }
  | { readonly kind: 'partial'; readonly number: number; readonly hash: string; readonly lastId: string };

const TOPIC = topics.chainFinal.name;

/**
 * Reads the checkpoint from the last event of chain.final; no other checkpoint is stored. Skips records that are not events, newest first.
 */
export async function readFinalCheckpoint(deps: {
  log: Omit<Log, 'append'>;
  codec: Codec;
  onUnreadable: OnUnreadable;
}): Promise<FinalCheckpoint> {
  const { log } = deps;
  const { earliest, next } = await log.bounds(TOPIC, 0);
  let end = next;
  for (let width = 1; end > earliest; width *= 4) {
    const from = Math.max(earliest, end - width);
    const found = await lastEventIn({ ...deps, from, end });
    if (found !== null) return found;
    end = from;
  }
  if (next > earliest)
    throw new FatalError('chain.final contains records but no event: check that the log belongs to this version');
  return { kind: 'empty' };
}

async function lastEventIn(deps: {
  log: Omit<Log, 'append'>;
  codec: Codec;
  onUnreadable: OnUnreadable;
  from: number;
  end: number;
}): Promise<FinalCheckpoint | null> {
  let found: FinalCheckpoint | null = null;
  for await (const batch of deps.log.read({ topic: TOPIC, partition: 0, from: { offset: deps.from }, follow: false })) {
    for (const { offset, value } of batch.records) {
      if (offset >= deps.end) return found;
      const pass = (reason: string) => deps.onUnreadable({ topic: TOPIC, offset }, reason);
      const event = value === null ? undefined : tryDecode(deps.codec, value, pass);
      if (event === undefined) continue;
      if (!('block_hash' in event.value)) {
        pass(`a ${event.kind} is not a fact`);
        continue;
      }
      const { block_number: number, block_hash: hash } = event.value;
      found =
        event.kind === 'block'
          ? { kind: 'block', number, hash }
          : { kind: 'partial', number, hash, lastId: event.value.id };
    }
  }
  return found;
}
