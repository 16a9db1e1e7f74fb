import { describe, expect, it } from 'vitest';
import { FatalError } from '../infra/errors.js';
import { createMemoryLog } from '../infra/log/testing.js';
import { silentLogger } from '../infra/telemetry/logger.js';
import { assertSingleSourceMode } from '../ingest/shared/single-source-mode.js';
import { createSourceStatus } from '../ingest/shared/source-status.js';
import { createCodec } from '../schemas/codec.js';
import { allTopics } from '../schemas/topics.js';

describe('assertSameMode', () => {
  it('continues a log in its mode and rejects the other mode', async () => {
    const log = createMemoryLog();
    const codec = createCodec();
    const passed: number[] = [];
    const onUnreadable = ({ offset }: { offset: number }) => passed.push(offset);
    await log.ensureTopics(allTopics);
    await assertSingleSourceMode({ log, codec, mode: 'recorded', onUnreadable });
    const status = createSourceStatus({ log, codec, logger: silentLogger(), source: 'chain', mode: 'recorded' });
    status.update({ connected: true });
    await status.close();
    await log.append('sources', [{ key: 'chain', value: Buffer.from('junk'), timestampMs: 1 }]);
    const last = await assertSingleSourceMode({ log, codec, mode: 'recorded', onUnreadable });
    expect([...last]).toMatchObject([['chain', { source: 'chain', phase: 'stopped' }]]);
    await expect(assertSingleSourceMode({ log, codec, mode: 'live', onUnreadable })).rejects.toThrow(FatalError);
    expect(passed.length).toBeGreaterThan(0);
  });
});
