import { expect, it } from 'vitest';
import { createMemoryLog } from '../infra/log/testing.js';
import { createSourceStatusView } from '../infra/sources/source-status-view.js';
import { silentLogger } from '../infra/telemetry/logger.js';
import { removeOtherSources } from '../ingest/shared/remove-other-sources.js';
import { createSourceStatus } from '../ingest/shared/source-status.js';
import { createCodec } from '../schemas/codec.js';
import { allTopics } from '../schemas/topics.js';

it('removes a source that was switched off from what readers see, and nothing else', async () => {
  const log = createMemoryLog();
  const codec = createCodec();
  await log.ensureTopics(allTopics);
  for (const source of ['chain', 'orderbook']) {
    await createSourceStatus({ log, codec, logger: silentLogger(), source, mode: 'live' }).close();
  }
  const stream = { updated_at_ms: 1, settlement_missing_full: 0, settlement_missing_title: 0 };
  const value = codec.encode('stream_status', {
    ...{ ...stream, status_missing_full: 0, status_missing_title: 0, epoch: 'aa', last_event_ms: null },
    ...{ last_seq: null, last_block: null, last_chain_event_ms: null, last_tick_ms: null },
  });
  await log.append('sources', [
    { key: 'stream', value, timestampMs: 1 },
    { key: 'junk', value: Buffer.from('junk'), timestampMs: 1 },
  ]);
  const stop = new AbortController();
  const view = createSourceStatusView({ log, codec, signal: stop.signal, onUnreadable: () => undefined });
  await view.ready();
  const shown = () => view.freshness(Date.now()).map(({ source }) => source);
  expect(shown()).toEqual(['chain', 'orderbook', 'stream']);
  const remove = () => removeOtherSources({ log, codec, running: ['chain', 'oracle'] });
  expect(await remove()).toEqual(['orderbook']);
  await expect.poll(shown).toEqual(['chain', 'stream']);
  expect(await remove()).toEqual([]);
  stop.abort();
  await view.done;
});
