import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Log, NewRecord } from '../../infra/log/port.js';
import { createMemoryLog, createMemoryStore, type MemoryStore } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { plainMarket } from '../../processors/stream/catalog-market.fixture.js';
import { createStreamProcessor } from '../../processors/stream/processor.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics } from '../../schemas/topics.js';
import type { Retract, Settlement, StreamEvent, StreamStatus } from '../../schemas/types.gen.js';
import { createTestTick, createTestTrade, hash } from './events.js';

const codec = createCodec();
const NOW = 1_800_000_000_000;

const record = (key: string, value: Buffer, timestampMs = NOW): NewRecord => ({ key, value, timestampMs });
const trade = (block: number, index: number, blockHash = hash(block)) =>
  record(String(block), codec.encode('trade', { ...createTestTrade(block, index), block_hash: blockHash }));
const retract = (from: number, hashes: readonly string[], at = 5): NewRecord => {
  const value: Retract = {
    id: `retract-${from}-${from + hashes.length - 1}-${hashes[0]}`,
    from_block: from,
    to_block: from + hashes.length - 1,
    block_hashes: hashes,
    detected_at_ms: at,
  };
  return record(String(from), codec.encode('retract', value));
};
const tick = (second: number, feed = 'BTC/USD') =>
  record(feed, codec.encode('price_tick', createTestTick(feed, second, 100n)), second * 1000);

async function storeWith(head: readonly NewRecord[], ticks: readonly NewRecord[] = []): Promise<MemoryStore> {
  const store = createMemoryStore();
  const log = createMemoryLog({ store });
  await log.ensureTopics(allTopics);
  await log.append('chain.head', head);
  await log.append('oracle.ticks', ticks);
  return store;
}

const streamOf = (store: MemoryStore): StreamEvent[] =>
  createMemoryLog({ store })
    .all('stream.events')
    .map(({ key, value }) => {
      const event = codec.decode(value as Buffer);
      if (event.kind !== 'stream_event') throw new Error(event.kind);
      expect(event.value.id).toBe(key);
      return event.value;
    });

/** Runs a processor until the end of its inputs, or until it dies at its `dieAt`-th write, which is committed or not. */
async function runOnce(store: MemoryStore, dieAt = Number.POSITIVE_INFINITY, committed = true, maxBatchRecords = 500) {
  const controller = new AbortController();
  let writes = 0;
  let crashed = false;
  const log = createMemoryLog({
    store,
    onStep: () => {
      if (writes++ !== dieAt) return undefined;
      crashed = true;
      return { error: new Error('crashed'), committed };
    },
  });
  const processor = createStreamProcessor({
    log,
    codec,
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    now: () => NOW,
    maxBatchRecords,
  });
  const running = processor.run(controller.signal);
  running.catch(() => undefined);
  let ended = false;
  running.then(
    () => undefined,
    () => {
      ended = true;
    },
  );
  const idle = async () => {
    const state = await processor.state();
    return state.loaded && state.lag === 0;
  };
  while (!ended && !(await idle())) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  await running.catch((error) => {
    if (!crashed) throw error;
  });
}

describe('stream processor', () => {
  it('assigns every event one contiguous seq over any restarts', async () => {
    const head = [
      ...Array.from({ length: 30 }, (_, i) => trade(10 + Math.floor(i / 3), i % 3)),
      trade(11, 0), // written twice by its producer
      retract(18, [hash(18), hash(19)]),
      trade(18, 0, hash(9018)),
      trade(18, 1, hash(9018)),
      trade(19, 0, hash(9019)),
    ];
    const ticks = Array.from({ length: 20 }, (_, i) => tick(NOW / 1000 - 20 + i, i % 2 ? 'BTC/USD' : 'ETH/USD'));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ dieAt: fc.nat(6), committed: fc.boolean(), batch: fc.integer({ min: 1, max: 12 }) }), {
          maxLength: 8,
        }),
        async (crashes) => {
          const store = await storeWith(head, ticks);
          for (const crash of crashes) await runOnce(store, crash.dieAt, crash.committed, crash.batch);
          await runOnce(store);
          const events = streamOf(store);
          expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
          expect(new Set(events.map((event) => event.id)).size).toBe(events.length);
          expect(events.filter((event) => event.kind === 'trade')).toHaveLength(33);
          expect(events.filter((event) => event.kind === 'retract')).toHaveLength(1);
          expect(events.filter((event) => event.kind === 'price_feed')).toHaveLength(20);
          const order = events.filter((event) => event.kind === 'trade').map((event) => event.tx_hash);
          expect(order.slice(0, 30)).toEqual(
            Array.from({ length: 30 }, (_, i) => hash((10 + Math.floor(i / 3)) * 1000 + (i % 3))),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  it('starts with the ticks of the last five minutes, also when older ones are loaded late', async () => {
    const seconds = [86_000, 3_000, 301, 300, 10, 1];
    const store = await storeWith([], []);
    const memory = createMemoryLog({ store });
    const controller = new AbortController();
    const processor = createStreamProcessor({
      log: memory,
      codec,
      logger: silentLogger(),
      metrics: createMetrics({ process: 'test', defaults: false }),
      now: () => NOW,
    });
    const running = processor.run(controller.signal);
    while (!(await processor.state()).loaded) await new Promise((resolve) => setImmediate(resolve));
    for (const age of seconds) await memory.append('oracle.ticks', [tick(NOW / 1000 - age, 'BTC/USD')]);
    while ((await processor.state()).lag > 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    await running;
    expect(streamOf(store).map((event) => (NOW - event.timestamp_ms) / 1000)).toEqual([300, 10, 1]);
  });

  it('sends an event again with a new id when its retracted block becomes canonical again', async () => {
    const store = await storeWith([trade(7, 0), retract(7, [hash(7)], 1), trade(7, 0, hash(8007))]);
    await runOnce(store);
    const log = createMemoryLog({ store });
    await log.append('chain.head', [retract(7, [hash(8007)], 2), trade(7, 0), trade(7, 0)]);
    await runOnce(store);
    const events = streamOf(store);
    expect(events.map((event) => event.kind)).toEqual(['trade', 'retract', 'trade', 'retract', 'trade']);
    expect(new Set(events.map((event) => event.id)).size).toBe(5);
    expect(JSON.parse(events[3]?.frame ?? '')).toEqual({
      type: 'retract',
      seq: 4,
      timestamp: 2,
      data: { event_type: 'retract', from_block: 7, to_block: 7, block_hashes: [hash(8007)] },
    });
  });

  it('continues above every earlier seq when retention has emptied the stream', async () => {
    const store = await storeWith([trade(1, 0), trade(1, 1)]);
    await runOnce(store);
    const partition = store.topics.get('stream.events')?.[0];
    if (partition === undefined) throw new Error('no stream');
    partition.earliest = 2;
    partition.records.length = 0;
    await createMemoryLog({ store }).append('chain.head', [trade(2, 0)]);
    await runOnce(store);
    expect(streamOf(store).map((event) => event.seq)).toEqual([3]);
  });

  it('skips ticks older than the retention of the stream, and writes unreadable records to dead.letters', async () => {
    const store = await storeWith(
      [record('x', Buffer.from('nonsense')), trade(1, 0)],
      [tick(NOW / 1000 - 10), tick(NOW / 1000 - 2 * 86_400), tick(NOW / 1000 - 5)],
    );
    await runOnce(store);
    expect(
      streamOf(store)
        .map((event) => event.kind)
        .sort(),
    ).toEqual(['price_feed', 'price_feed', 'trade']);
    const [letter] = createMemoryLog({ store }).all('dead.letters');
    expect(letter?.key).toBe('chain.head-0-0');
  });

  it('reports settlement frames without metadata in the topic of source statuses, with the step that writes them', async () => {
    const settlement = (n: number, token: string): NewRecord => {
      const value: Settlement = {
        ...{
          id: `settlement-${hash(n)}`,
          tx_hash: hash(n),
          detected_at_ms: NOW,
          exchange: '0xe1',
          exchange_version: 2,
        },
        ...{ neg_risk: false, condition_id: null, combo_legs: null, taker_wallet: '0xd1', taker_token: token },
        ...{ taker_side: 'BUY', taker_usdc: 1n, taker_shares: 2n, taker_fee: 0n, trades: [] },
      };
      return record(`settlement-${n}`, codec.encode('settlement', value));
    };
    const store = await storeWith([
      settlement(1, '9000'),
      settlement(2, '7'),
      settlement(3, '9000'),
      settlement(4, '8'),
    ]);
    const memory = createMemoryLog({ store });
    // Without an image and an event title.
    const value = {
      ...{ ...plainMarket, image: null, condition_id: '0xc0', token_ids: ['9000', '9001'], outcomes: ['Yes', 'No'] },
    };
    await memory.append('catalog', [record('market:0xc0', codec.encode('catalog_market', value))]);
    await runOnce(store);
    const statuses = memory.all('sources').map(({ key, value: bytes }) => [key, codec.decode(bytes as Buffer)]);
    // The first record has the epoch of the new stream only.
    expect(statuses.slice(1)).toEqual([
      [
        'stream',
        {
          kind: 'stream_status',
          value: {
            ...{ settlement_missing_full: 4, settlement_missing_title: 2, updated_at_ms: NOW },
            ...{ status_missing_full: 0, status_missing_title: 0 },
            epoch: expect.stringMatching(/^[0-9a-f]{16}$/),
            ...{ last_event_ms: NOW, last_chain_event_ms: NOW, last_tick_ms: null },
            ...{ last_seq: streamOf(store).length, last_block: null },
          },
        },
      ],
    ]);
  });

  it('leaves a hole in seq for head records that were deleted before it read them, once', async () => {
    const store = await storeWith([trade(1, 0), trade(2, 0)]);
    await runOnce(store);
    await createMemoryLog({ store }).append('chain.head', [trade(3, 0), trade(4, 0), trade(5, 0)]);
    await createMemoryLog({ store }).deleteBefore('chain.head', 0, 4);
    await runOnce(store);
    await runOnce(store);
    await createMemoryLog({ store }).append('chain.head', [trade(6, 0)]);
    await runOnce(store);
    expect(streamOf(store).map(({ seq, block_number }) => [seq, block_number])).toEqual([
      [1, 1],
      [2, 2],
      [4, 5],
      [5, 6],
    ]);
    // The stream has one seq more than records.
    const partition = store.topics.get('stream.events')?.[0];
    if (partition === undefined) throw new Error('no stream');
    partition.earliest = 4;
    partition.records.length = 0;
    await createMemoryLog({ store }).append('chain.head', [trade(7, 0)]);
    await runOnce(store);
    expect(streamOf(store).map(({ seq, block_number }) => [seq, block_number])).toEqual([[6, 7]]);
  });

  it('reports every two seconds that it runs, also without events, with the time of the newest event', async () => {
    const store = await storeWith([trade(1, 0)]);
    await runOnce(store);
    const memory = createMemoryLog({ store });
    const newest = streamOf(store).at(-1)?.timestamp_ms as number;
    const before = memory.all('sources').length;
    const stop = new AbortController();
    // The clock runs ten times as fast.
    const startedMs = performance.now();
    const processor = createStreamProcessor({
      log: memory,
      codec,
      logger: silentLogger(),
      metrics: createMetrics({ process: 'test', defaults: false }),
      now: () => NOW + Math.round((performance.now() - startedMs) * 10),
    });
    const running = processor.run(stop.signal);
    const reports = () =>
      memory
        .all('sources')
        .slice(before)
        .map(({ value }) => codec.decode(value as Buffer).value as StreamStatus);
    await expect.poll(() => reports().length).toBeGreaterThan(1);
    stop.abort();
    await running;
    const [one, two] = reports().slice(0, 2) as [StreamStatus, StreamStatus];
    expect([one.last_event_ms, two.last_event_ms]).toEqual([newest, newest]);
    expect(two.updated_at_ms - one.updated_at_ms).toBeGreaterThanOrEqual(2_000);
    expect(two.epoch).toMatch(/^[0-9a-f]{16}$/);
  });

  it('commits no position with a report while a step is being committed, so that none is skipped if the step fails', async () => {
    const store = await storeWith([trade(1, 0)]);
    const memory = createMemoryLog({ store });
    let stepStarted = false;
    let failStep: (error: Error) => void = () => undefined;
    const log: Log = {
      ...memory,
      async acquireOwnership(group) {
        const ownership = await memory.acquireOwnership(group);
        return {
          async appendAndCommit(step) {
            if (!step.outputs.some(({ topic }) => topic === 'stream.events')) return ownership.appendAndCommit(step);
            stepStarted = true;
            return new Promise<never>((_, reject) => {
              failStep = reject;
            });
          },
        };
      },
    };
    let readings = 0;
    const processor = createStreamProcessor({
      log,
      codec,
      logger: silentLogger(),
      metrics: createMetrics({ process: 'test', defaults: false }),
      // A report is due at every reading of the clock.
      now: () => NOW + 10_000 * readings++,
    });
    const running = processor.run(new AbortController().signal);
    running.catch(() => undefined);
    await expect.poll(() => stepStarted).toBe(true);
    // While the step waits, only the reports read the clock.
    const before = readings;
    await expect.poll(() => readings).toBeGreaterThan(before + 1);
    failStep(new Error('disk full'));
    await expect(running).rejects.toThrow('disk full');
    await runOnce(store);
    expect(streamOf(store).map((event) => event.kind)).toEqual(['trade']);
  });

  it('enriches from the catalogue as of the start and its later changes', async () => {
    const store = await storeWith([]);
    const memory = createMemoryLog({ store });
    const market = (slug: string): NewRecord => {
      const value = {
        ...plainMarket,
        slug,
        condition_id: '0xc0',
        token_ids: ['9000', '9001'],
        outcomes: ['Yes', 'No'],
      };
      return record('market:0xc0', codec.encode('catalog_market', value));
    };
    await memory.append('catalog', [market('old-slug')]);
    await memory.append('chain.head', [trade(1, 0)]);
    await runOnce(store);
    await memory.append('catalog', [market('new-slug')]);
    await memory.append('chain.head', [trade(1, 1)]);
    await runOnce(store);
    const events = streamOf(store);
    expect(events.map((event) => event.slugs)).toEqual([['old-slug'], ['new-slug']]);
    expect(events[0]).toMatchObject({ tokens: ['9000'], condition_ids: ['0xc0'] });
    expect(events[1]).toMatchObject({ tokens: ['9001'], condition_ids: ['0xc0'] });
    expect(JSON.parse(events[1]?.frame ?? '').data).toMatchObject({ outcome: 'No', market_slug: 'new-slug' });
  });

  it('restores final resolutions after a restart without reading chain.final again', async () => {
    const store = await storeWith([]);
    const memory = createMemoryLog({ store });
    const position = { block_number: 1, block_hash: hash(1), timestamp_ms: NOW, tx_hash: hash(2), log_index: 3 };
    await memory.append('chain.final', [
      record(
        '1',
        codec.encode('condition_resolved', {
          ...position,
          id: 'r',
          condition_id: '0xc0',
          oracle: '0x0',
          question_id: '0x1',
          outcome_slot_count: 2,
          payout_numerators: ['0', '1'],
        }),
      ),
    ]);
    const value = { ...plainMarket, condition_id: '0xc0', token_ids: ['9000', '9001'], outcomes: ['Yes', 'No'] };
    await memory.append('catalog', [record('market:0xc0', codec.encode('catalog_market', value))]);
    await runOnce(store);
    while (memory.all('stream.resolutions').length === 0) await runOnce(store);
    store.topics.set('chain.final', [{ records: [], earliest: 1 }]);
    await memory.append('chain.head', [
      record(
        '1',
        codec.encode('redemption', {
          ...position,
          id: 'x-3',
          redeemer: '0xaa',
          collateral_token: '0xbb',
          condition_id: '0xc0',
          index_sets: [1, 2],
          amounts: null,
          payout: 12_500_000n,
          source: null,
        }),
      ),
    ]);
    await runOnce(store);
    expect(JSON.parse(streamOf(store)[0]?.frame ?? '').data).toMatchObject({
      payout: 12.5,
      payouts: [0, 1],
      winning_outcome: 'No',
      winning_token_id: '9001',
    });
  });
});
