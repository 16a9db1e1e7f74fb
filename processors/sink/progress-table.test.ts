import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createProgressWriter } from './progress-table.js';

const at = (partition: number, nextOffset: number) => ({
  sink: 'fills',
  topic: 'chain.final',
  partition,
  nextOffset,
  recordKey: '81',
  recordTimeMs: Date.UTC(2026, 0, 2),
});

describe('createProgressWriter', () => {
  it('writes the newest progress of each sink once, and retries a failed write', async () => {
    const inserts: string[] = [];
    let failures = 1;
    const stop = new AbortController();
    const writer = createProgressWriter({
      logger: silentLogger(),
      everyMs: 1,
      nowMs: () => Date.UTC(2026, 0, 3),
      store: {
        async insertBytes(table, _format, data) {
          if (failures-- > 0) throw new Error('unreachable');
          inserts.push(`${table}\n${Buffer.from(data).toString()}`);
          stop.abort();
        },
      },
    });
    writer.report(at(0, 5));
    writer.report(at(1, 7));
    writer.report(at(0, 9));
    await writer.run(stop.signal);
    expect(inserts).toEqual([
      'sink_progress\nfills\tchain.final\t0\t9\t81\t2026-01-02 00:00:00.000\t2026-01-03 00:00:00.000\nfills\tchain.final\t1\t7\t81\t2026-01-02 00:00:00.000\t2026-01-03 00:00:00.000\n',
    ]);
  });
});
