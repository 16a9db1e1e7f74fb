import { describe, expect, it, vi } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import type { ImportedTick } from '../../infra/import/format.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createCodec } from '../../schemas/codec.js';
import { topicsOnOneMachine } from '../../schemas/topics.js';
import type { Imported } from '../shared/imported/open-imported.js';
import type { SourceState } from '../shared/source-status.js';
import { createImportedOracleSource } from './imported/imported-source.js';
import { createRtdsSource } from './rtds/rtds-source.js';
import { runOracle } from './run-oracle.js';
import type { OracleLiveEvent, OraclePrice, OracleSource } from './source.js';
import { startFakeRtds } from './testing/fake-rtds.js';

const t0 = Date.UTC(2024, 6, 24);
const price = (second: number): OraclePrice => ({
  feed: 'BTC/USD',
  isTwap: false,
  windowS: null,
  timestampMs: t0 + second * 1000,
  priceE18: 1n,
  bidE18: null,
  askE18: null,
  receivedMs: t0,
  source: 'test',
});

function sourceOf(history: OraclePrice[][], live: OracleLiveEvent[], mode: OracleSource['mode']): OracleSource {
  return {
    mode,
    description: 'a test',
    shiftDays: 3,
    recordedFromMs: t0,
    historyTotal: () => history.flat().length,
    async *history() {
      yield* history;
    },
    async *live() {
      yield* live;
    },
  };
}

const emptyLog = () => createMemoryLog({ topics: topicsOnOneMachine });

function run(source: OracleSource, signal = new AbortController().signal, log = emptyLog()) {
  const facts: Partial<SourceState> = {};
  const phases: unknown[] = [];
  const done = runOracle({
    source,
    log,
    codec: createCodec(),
    status: {
      update: (change) => {
        if (change.phase !== undefined) phases.push(change.phase);
        Object.assign(facts, change);
      },
    },
    metrics: createMetrics({ process: 'test', defaults: false }),
    logger: silentLogger(),
    signal,
  });
  return { log, facts, phases, done };
}

describe('runOracle', () => {
  it('writes history, then live ticks, each second once, and reports their status', async () => {
    const { log, facts, phases, done } = run(
      sourceOf(
        [[price(0), price(1)], [price(2)]],
        [
          { type: 'connected', connected: true, detail: 'open' },
          { type: 'prices', prices: [price(2), price(3)] },
          { type: 'prices', prices: [price(3)] },
        ],
        'recorded',
      ),
    );
    await done;
    expect(log.all('oracle.ticks').map(({ timestampMs }) => timestampMs - t0)).toEqual([0, 1000, 2000, 3000]);
    expect(log.appends).toBe(3);
    expect(phases).toEqual(['history', 'live']);
    expect(facts).toMatchObject({
      connected: true,
      detail: 'a test: open',
      shift_days: 3,
      recorded_from_ms: t0,
      progress: 1,
      last_event_ms: t0 + 3000,
    });
  });

  it('writes one tick per second from two connections, over stalls and reconnects', async () => {
    const server = await startFakeRtds();
    const stop = new AbortController();
    const metrics = createMetrics({ process: 'test', defaults: false });
    const source = createRtdsSource({
      url: server.url,
      logger: silentLogger(),
      metrics,
      onRejected: (reason) => expect.fail(reason),
      subscriptions: [{ topic: 'crypto_prices_chainlink', symbol: 'btc/usd' }],
      times: { staleMs: 60_000, recycleMs: 600_000, backoffMs: 5, maxBackoffMs: 10 },
    });
    const { log, done } = run(source, stop.signal);
    const bothOpen = () =>
      vi.waitFor(() => {
        expect(server.clients).toHaveLength(2);
        for (const client of server.clients) expect(client.subscribed.size).toBe(1);
      });
    const rows: { timestamp: number; value: number }[] = [];
    for (let second = 0; second < 60; second++) {
      if (second % 20 === 0) await bothOpen();
      if (second === 10) server.clients[0]?.stall();
      if (second === 30) server.clients[1]?.close();
      const row = { timestamp: t0 + second * 1000, value: 65000 + second };
      rows.push(row);
      server.setDump('crypto_prices_chainlink', 'btc/usd', rows.slice(-120));
      server.publish('crypto_prices_chainlink', 'btc/usd', row);
    }
    const written = () => log.all('oracle.ticks').map(({ timestampMs }) => (timestampMs - t0) / 1000);
    await vi.waitFor(() => expect(written()).toHaveLength(60));
    stop.abort();
    await done;
    await server.stop();
    expect(written().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, second) => second));
  });

  it('writes imported ticks once over restarts, also of a series that ends hours before another one', async () => {
    const tick = (feed: string, second: number): ImportedTick => ({
      feed,
      window: 0,
      time: t0 + second * 1000,
      received: t0,
      price: '1.5',
      bid: null,
      ask: null,
    });
    const ticks = [tick('BTC/USD', 0), tick('ETH/USD', 0), tick('ETH/USD', 1), tick('BTC/USD', 7200)];
    const imported = {
      manifest: { ticks: [{ rows: ticks.length }] },
      async *ticks() {
        yield* ticks;
      },
    } as unknown as Imported;
    const log = emptyLog();
    for (let start = 0; start < 2; start++)
      await run(createImportedOracleSource(imported), new AbortController().signal, log).done;
    expect(log.all('oracle.ticks').map(({ key, timestampMs }) => [key, (timestampMs - t0) / 1000])).toEqual([
      ['BTC/USD', 0],
      ['ETH/USD', 0],
      ['ETH/USD', 1],
      ['BTC/USD', 7200],
    ]);
  });

  it('rejects with RetryableError when a live source ends', async () => {
    await expect(run(sourceOf([], [], 'live')).done).rejects.toThrow(RetryableError);
  });

  it('resolves when the signal aborts', async () => {
    await run(sourceOf([], [], 'live'), AbortSignal.abort()).done;
  });
});
