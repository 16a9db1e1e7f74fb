import { describe, expect, it } from 'vitest';
import { readRowBinary } from '../../infra/clickhouse/row-binary.fixture.js';
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
    const inserts: unknown[][] = [];
    let failures = 1;
    const stop = new AbortController();
    const writer = createProgressWriter({
      logger: silentLogger(),
      everyMs: 1,
      nowMs: () => Date.UTC(2026, 0, 3),
      store: {
        async insertBytes(table, format, data) {
          if (failures-- > 0) throw new Error('unreachable');
          inserts.push([table, format, readRowBinary(data)]);
          stop.abort();
        },
      },
    });
    writer.report(at(0, 5));
    writer.report(at(1, 7));
    writer.report(at(0, 9));
    await writer.run(stop.signal);
    const rows = [
      ['fills', 'chain.final', '0', '9', '81', String(Date.UTC(2026, 0, 2)), String(Date.UTC(2026, 0, 3))],
      ['fills', 'chain.final', '1', '7', '81', String(Date.UTC(2026, 0, 2)), String(Date.UTC(2026, 0, 3))],
    ];
    expect(inserts).toEqual([['sink_progress', 'RowBinaryWithNamesAndTypes', rows]]);
  });

  it('writes at its end what was reported since the last write', async () => {
    const offsets: unknown[] = [];
    const stop = new AbortController();
    const writer = createProgressWriter({
      logger: silentLogger(),
      everyMs: 3_600_000,
      store: {
        async insertBytes(_table, _format, data) {
          for (const row of readRowBinary(data)) offsets.push(row[3]);
        },
      },
    });
    writer.report(at(0, 5));
    const ended = writer.run(stop.signal);
    await new Promise((resolve) => setImmediate(resolve));
    writer.report(at(0, 9));
    stop.abort();
    await ended;
    expect(offsets).toEqual(['5', '9']);
  });
});
