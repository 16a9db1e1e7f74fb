import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryLog, type MemoryLog } from '../../infra/log/testing.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createCodec } from '../../schemas/codec.js';
import { topics, topicsOnOneMachine } from '../../schemas/topics.js';
import type { PriceTick } from '../../schemas/types.gen.js';
import type { OraclePrice } from './source.js';
import { createTickWriter } from './tick-writer.js';

const codec = createCodec();
const metrics = () => createMetrics({ process: 'test', defaults: false });
const t0 = Date.UTC(2026, 6, 24);

const price = (over: Partial<OraclePrice> = {}): OraclePrice => ({
  feed: 'BTC/USD',
  isTwap: over.windowS !== undefined && over.windowS !== null,
  windowS: null,
  timestampMs: t0,
  priceE18: 65000n * 10n ** 18n,
  bidE18: null,
  askE18: null,
  receivedMs: t0 + 1600,
  source: 'test',
  ...over,
});
const emptyLog = () => createMemoryLog({ topics: topicsOnOneMachine });
const ticksIn = (log: MemoryLog): PriceTick[] =>
  log.all('oracle.ticks').map((record) => {
    const event = codec.decode(record.value!);
    if (event.kind !== 'price_tick') throw new Error(event.kind);
    return event.value;
  });

describe('createTickWriter', () => {
  it('writes the tick with its id, key and time', async () => {
    const log = emptyLog();
    const ticker = createTickWriter({ log, codec, metrics: metrics() });
    expect(await ticker.write([price(), price({ windowS: 60, priceE18: 1n })])).toBe(2);
    expect(log.appends).toBe(1);
    expect(log.all('oracle.ticks').map(({ key, timestampMs }) => [key, timestampMs])).toEqual([
      ['BTC/USD', t0],
      ['BTC/USD', t0],
    ]);
    expect(ticksIn(log)).toEqual([
      {
        id: `BTC/USD-${t0}-0`,
        feed: 'BTC/USD',
        source: 'test',
        timestamp_ms: t0,
        price: 65000n * 10n ** 18n,
        bid: null,
        ask: null,
        is_twap: false,
        twap_window_s: null,
        received_at_ms: t0 + 1600,
      },
      expect.objectContaining({ id: `BTC/USD@60-${t0}-0`, is_twap: true, twap_window_s: 60, price: 1n }),
    ]);
  });

  it('keeps the first price of a second, also for prices with different milliseconds', async () => {
    const log = emptyLog();
    const ticker = createTickWriter({ log, codec, metrics: metrics() });
    await ticker.write([
      price({ priceE18: 1n }),
      price({ priceE18: 2n }),
      price({ timestampMs: t0 + 400, priceE18: 3n }),
    ]);
    expect(await ticker.write([price({ priceE18: 4n })])).toBe(0);
    expect(ticksIn(log).map((tick) => tick.price)).toEqual([1n]);
    expect(log.appends).toBe(1);
  });

  it('keeps a late tick with its own time', async () => {
    const log = emptyLog();
    const ticker = createTickWriter({ log, codec, metrics: metrics() });
    await ticker.write([price({ timestampMs: t0 + 9000 })]);
    await ticker.write([price({ timestampMs: t0 + 2000 })]);
    expect(ticksIn(log).map((tick) => tick.timestamp_ms)).toEqual([t0 + 9000, t0 + 2000]);
  });

  it('restores written seconds and resume times after a restart', async () => {
    const log = createMemoryLog({ topics: [{ ...topics.oracleTicks, partitions: 3 }] });
    const first = createTickWriter({ log, codec, metrics: metrics() });
    const minute = Array.from({ length: 60 }, (_, s) => price({ timestampMs: t0 + s * 1000 }));
    await first.write([...minute, price({ windowS: 30, timestampMs: t0 + 7000 }), price({ feed: 'DOGE/USD' })]);
    const second = createTickWriter({ log, codec, metrics: metrics() });
    const resume = await second.restore();
    expect(Object.fromEntries(resume)).toEqual({
      'BTC/USD': t0 + 59_000,
      'BTC/USD@30': t0 + 7000,
      'DOGE/USD': t0,
    });
    expect(await second.write(minute)).toBe(0);
    expect(await second.write([price({ timestampMs: t0 + 60_000 })])).toBe(1);
  });

  it('skips records that are not ticks', async () => {
    const log = emptyLog();
    await log.append('oracle.ticks', [
      { key: 'x', value: Buffer.from('junk'), timestampMs: t0 },
      { key: 'x', value: null, timestampMs: t0 },
    ]);
    expect(await createTickWriter({ log, codec, metrics: metrics() }).restore()).toEqual(new Map());
  });

  it('agrees with a model without a memory limit, over restarts', async () => {
    const input = fc.array(
      fc.record({
        feed: fc.constantFrom('BTC/USD', 'ETH/USD'),
        windowS: fc.constantFrom(null, 30, 60),
        offsetMs: fc.integer({ min: 0, max: 20_000 }),
        priceE18: fc.bigInt({ min: 1n, max: 10n ** 24n }),
        cut: fc.constantFrom('same batch', 'next batch', 'restart'),
      }),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(input, async (rows) => {
        const log = emptyLog();
        const model = new Map<string, bigint>();
        let ticker = createTickWriter({ log, codec, metrics: metrics() });
        let batch: OraclePrice[] = [];
        for (const row of rows) {
          if (row.cut !== 'same batch') {
            await ticker.write(batch);
            batch = [];
          }
          if (row.cut === 'restart') {
            ticker = createTickWriter({ log, codec, metrics: metrics() });
            await ticker.restore();
          }
          const made = price({
            feed: row.feed,
            windowS: row.windowS,
            timestampMs: t0 + row.offsetMs,
            priceE18: row.priceE18,
          });
          batch.push(made);
          const key = `${row.feed} ${row.windowS} ${Math.floor(row.offsetMs / 1000)}`;
          if (!model.has(key)) model.set(key, row.priceE18);
        }
        await ticker.write(batch);
        const written = ticksIn(log).map((tick): [string, bigint] => [
          `${tick.feed} ${tick.twap_window_s} ${Math.floor((tick.timestamp_ms - t0) / 1000)}`,
          tick.price,
        ]);
        expect(written).toEqual([...model]);
      }),
      { numRuns: 200 },
    );
  });
});
