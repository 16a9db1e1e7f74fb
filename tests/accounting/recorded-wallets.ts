import path from 'node:path';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { decodeBlock } from '../../ingest/chain/decode/index.js';
import { createRecordedChainSource } from '../../ingest/chain/recorded/recorded-source.js';
import { createSteppingClock, openRecording } from '../../ingest/shared/recorded/index.js';
import { computeBlockActivity } from '../../processors/activity/block-activity.js';
import { createTokens } from '../../processors/activity/tokens.js';
import type { ActivityState, WalletActivity } from '../../schemas/types.gen.js';

/** Activity of all wallets of the recording, in chain order. */
export async function recordedActivity(): Promise<readonly WalletActivity[]> {
  const source = await createRecordedChainSource({
    recording: openRecording(path.join(import.meta.dirname, '../recorded/set')),
    logger: silentLogger(),
    clock: createSteppingClock(Date.UTC(2026, 10, 21, 7)),
    leadS: 600,
  });
  const { signal } = new AbortController();
  const tokens = createTokens();
  const memory = new Map<string, ActivityState>();
  const state = {
    get: (id: string) => memory.get(id),
    set: (id: string, value: ActivityState) => void memory.set(id, value),
  };
  const activity: WalletActivity[] = [];
  const range = await source.historyRange(null, signal);
  if (range === null) throw new Error('the recording has no history');
  for await (const block of source.history(range, signal))
    activity.push(...computeBlockActivity(decodeBlock(block).events, tokens, state).activity);
  return activity;
}
