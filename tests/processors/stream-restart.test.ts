import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NewRecord } from '../../infra/log/port.js';
import { createMemoryLog, createMemoryStore, type MemoryStore } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createStreamProcessor } from '../../processors/stream/processor.js';
import type { AnyEvent } from '../../schemas/codec.js';
import type { Settlement, Trade } from '../../schemas/types.gen.js';
import { codec, freshLog } from '../support/chain-harness.js';
import { createTestTick, createTestTrade, hash } from './events.js';

const NOW = 1_800_000_000_000;
const COMBO = `0x03${'0'.repeat(30)}4d${'0'.repeat(28)}`;
const YES = BigInt(`${COMBO}00`).toString();
const LEGS = ['71', '72'];

const combo = (block: number, index: number, tx: number, isTakerOrder = false): Trade =>
  createTestTrade(block, index, {
    exchange_version: 3,
    token_id: YES,
    tx_hash: hash(tx),
    is_taker_order: isTakerOrder,
    id: `${hash(tx)}-${index}`,
  });
const pending = (tx: number): Settlement => ({
  id: `settlement-${hash(tx)}`,
  tx_hash: hash(tx),
  detected_at_ms: NOW - 5_000,
  exchange: '0xe0',
  exchange_version: 2,
  neg_risk: false,
  condition_id: null,
  combo_legs: null,
  taker_wallet: '0xd1',
  taker_token: '9001',
  taker_side: 'BUY',
  taker_usdc: 1_000_000n,
  taker_shares: 2_000_000n,
  taker_fee: 0n,
  trades: [1, 2, 3].map((n) => ({
    order_hash: hash(n),
    maker: n === 3 ? '0xd1' : '0xe1',
    signer: '0xe2',
    taker: '0xd1',
    token_id: '9001',
    side: 'BUY' as const,
    usdc: 1_000_000n,
    shares: 2_000_000n,
    maker_amount: 1_000_000n,
    taker_amount: 2_000_000n,
    fee: 0n,
  })),
});
const logPosition = (block: number) => ({
  block_number: block,
  block_hash: hash(block),
  timestamp_ms: NOW,
  tx_hash: hash(900 + block),
  log_index: 0,
});
const status = (block: number, tx: number): AnyEvent => ({
  kind: 'status_update',
  value: {
    id: `status-${hash(tx)}`,
    tx_hash: hash(tx),
    block_number: block,
    block_hash: hash(block),
    confirmed_at_ms: NOW,
    pending_detected_at_ms: NOW - 5_000,
    latency_ms: 5_000,
    taker_wallet: '0xd1',
    token_id: YES,
    taker_usdc: null,
    maker_wallets: [],
    order_hashes: [],
    confirmed_fills: [],
  },
});
const block = (number: number): AnyEvent => ({
  kind: 'block',
  value: {
    id: `block-${number}`,
    block_number: number,
    block_hash: hash(number),
    parent_hash: hash(number - 1),
    timestamp_ms: NOW,
    tx_count: null,
    polymarket_tx_count: 1,
    settlement_count: 1,
    trade_volume: 0n,
    contracts: null,
  },
});

/** A combo is defined in one block and matched in the next two, once with its pending match and once without. */
const HEAD: AnyEvent[] = [
  {
    kind: 'combo_definition',
    value: { ...logPosition(1), id: 'definition', subject_id: COMBO, legs: LEGS, legacy_id: null },
  },
  block(1),
  { kind: 'settlement', value: pending(50) },
  { kind: 'trade', value: combo(2, 1, 60) },
  { kind: 'trade', value: combo(2, 2, 60, true) },
  { kind: 'trade', value: combo(2, 3, 61) },
  status(2, 60),
  block(2),
  { kind: 'settlement', value: pending(51) },
  { kind: 'trade', value: combo(3, 1, 62) },
  block(3),
];

async function storeOf(): Promise<MemoryStore> {
  const store = createMemoryStore();
  const log = await freshLog({ store });
  const record = (event: AnyEvent): NewRecord => ({
    key: 'k',
    value: codec.encode(event.kind, event.value as never),
    timestampMs: NOW,
  });
  await log.append('chain.head', HEAD.map(record));
  for (let second = NOW / 1000 - 100; second < NOW / 1000; second++) {
    const tick = createTestTick('BTC/USD', second, BigInt(second % 97), { source: 'recorded' });
    await log.append('oracle.ticks', [
      { key: 'BTC/USD', value: codec.encode('price_tick', tick), timestampMs: tick.timestamp_ms },
    ]);
  }
  return store;
}

/** Runs a processor until the end of its inputs, or until it dies at its n-th write, which is committed or not. */
async function run(store: MemoryStore, maxBatchRecords: number, dieAt = Number.POSITIVE_INFINITY, committed = true) {
  const stop = new AbortController();
  let writes = 0;
  const log = createMemoryLog({
    store,
    onStep: () => (writes++ === dieAt ? { error: new Error('crashed'), committed } : undefined),
  });
  const processor = createStreamProcessor({
    log,
    codec,
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    now: () => NOW,
    maxBatchRecords,
  });
  let ended = false;
  const running = processor.run(stop.signal).catch((error: Error) => {
    ended = true;
    if (error.message !== 'crashed') throw error;
  });
  const idle = async () => {
    const state = await processor.state();
    return state.loaded && state.lag === 0;
  };
  while (!ended && !(await idle())) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await running;
}

/** Frames without `seq`, of head and ticks separately: the order between the two inputs is not defined. */
function framesOf(store: MemoryStore) {
  const frames = createMemoryLog({ store })
    .all('stream.events')
    .map(({ value }) => {
      const event = codec.decode(value as Buffer);
      if (event.kind !== 'stream_event') throw new Error(event.kind);
      const { seq: _, ...frame } = JSON.parse(event.value.frame) as { seq: number; type: string };
      return frame;
    });
  return {
    head: frames.filter(({ type }) => type !== 'price_feed'),
    ticks: frames.filter(({ type }) => type === 'price_feed'),
  };
}

/** Distinct epochs in the records of topic `sources`, oldest first. */
function epochsOf(store: MemoryStore) {
  const records = createMemoryLog({ store }).all('sources');
  const epochs = records.map(({ value }) => {
    const status = codec.decode(value as Buffer);
    if (status.kind !== 'stream_status') throw new Error(status.kind);
    return status.value.epoch;
  });
  return [...new Set(epochs)];
}

describe('stream processor after restarts', () => {
  it('keeps the epoch of the log, and a new log has another one', async () => {
    const stores = [await storeOf(), await storeOf()] as const;
    for (const store of stores) for (const batch of [5, 500]) await run(store, batch);
    const [one, other] = stores.map(epochsOf);
    expect(one).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
    expect(other).toHaveLength(1);
    expect(other).not.toEqual(one);
  });

  it('creates the same fills, combo confirmations and averages as without a restart', async () => {
    const whole = await storeOf();
    await run(whole, 500);
    const expected = framesOf(whole);
    expect(expected.head.map(({ type }) => type)).toEqual([
      'block',
      ...['settlement', 'event', 'event', 'event'],
      'combo_status_update',
      'combo_status_update',
      'block',
      ...['settlement', 'event', 'event', 'event'],
      'combo_status_update',
      'block',
    ]);
    expect(expected.ticks).toHaveLength(100 + 70 + 40);
    expect(expected.head[5]).toMatchObject({ data: { leg_position_ids: LEGS, latency_ms: 5_000 } });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ dieAt: fc.nat(8), committed: fc.boolean(), batch: fc.integer({ min: 1, max: 30 }) }), {
          minLength: 1,
          maxLength: 6,
        }),
        async (crashes) => {
          const store = await storeOf();
          for (const crash of crashes) await run(store, crash.batch, crash.dieAt, crash.committed);
          await run(store, 3);
          expect(framesOf(store)).toEqual(expected);
        },
      ),
      { numRuns: 25 },
    );
  });
});
