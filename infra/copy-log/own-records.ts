import { type Topic, topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { Key } from '../../schemas/types.gen.js';
import { partitionsOf } from '../log/partitions.js';
import { isDevKey } from '../up/dev-key.js';
import type { CopiedEvent, CopySource } from './copy-topic.js';

/** What of a topic belongs to its own log only. */
export interface OwnRecords {
  readonly copied?: CopiedEvent;
  /** For the end of the line about the topic; empty: nothing is left out. */
  readonly leftOut: string;
}

/** Ready keys of `npm start` that still work. */
async function readDevKeys({ log, codec }: CopySource, dataDir: string): Promise<readonly Key[]> {
  const keys = new Map<string, Key>();
  const topic = topics.accountsState;
  for (const partition of await partitionsOf(log, topic))
    for await (const { records } of log.read({ topic: topic.name, partition, from: 'earliest', follow: false }))
      for (const { key, value } of records) {
        const event = value === null ? undefined : tryDecode(codec, value, () => undefined);
        if (event?.kind === 'account_state' && 'oddstream.Key' in event.value.state)
          keys.set(key, event.value.state['oddstream.Key']);
        else keys.delete(key);
      }
  return [...keys.values()].filter((key) => key.active && isDevKey(key, dataDir));
}

/**
 * The ready keys stay in their log, where they are printed at every start; `npm start` creates the key in a copy that lacks it. A revoked one is copied,
 * because a start with the copy would create it again. The status of the stream names events that the copy does not have.
 */
export async function ownRecordsOf(topic: Topic, source: CopySource, dataDir: string): Promise<OwnRecords> {
  if (topic.name === topics.sources.name)
    return { copied: (event) => (event.kind === 'stream_status' ? null : event), leftOut: '' };
  if (topic.name !== topics.accountsState.name) return { leftOut: '' };
  const keys = await readDevKeys(source, dataDir);
  if (keys.length === 0) return { leftOut: '' };
  const left = new Set(keys.map(({ key_hash }) => key_hash));
  const copied: CopiedEvent = (event) => {
    if (event.kind !== 'account_state') return event;
    const { state } = event.value;
    if ('oddstream.Key' in state) return left.has(state['oddstream.Key'].key_hash) ? null : event;
    if (!('oddstream.Account' in state)) return event;
    const account = state['oddstream.Account'];
    // Replaced keys do not count.
    const counted = keys.filter((key) => key.account_id === account.account_id && key.replaced_by === null);
    const active_keys = Math.max(0, account.active_keys - counted.length);
    return { ...event, value: { ...event.value, state: { 'oddstream.Account': { ...account, active_keys } } } };
  };
  return { copied, leftOut: ', the key of npm start left out' };
}
