import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RetryableError } from '../../../infra/errors.js';
import { openLog } from '../../../infra/log/open-log.js';
import type { Log } from '../../../infra/log/port.js';
import { silentLogger } from '../../../infra/telemetry/logger.js';
import { createMetrics } from '../../../infra/telemetry/metrics.js';
import { createCodec } from '../../../schemas/codec.js';
import { consumerGroups } from '../../../schemas/consumer-groups.js';
import { addresses } from '../../../schemas/primitives/venue.js';
import { topics } from '../../../schemas/topics.js';
import type { ConditionPrepared, ConditionResolved, Trade } from '../../../schemas/types.gen.js';
import { decodeEvent } from '../decode.js';
import { GammaRejectedError } from '../gamma/client.js';
import { createMarketFinder } from '../gamma/find-markets.js';
import { createHydrationCounts } from '../hydration-counts.js';
import type { CatalogSource, MarketRequest } from '../source.js';
import { numberedCondition, numberedEvent } from '../testing/gamma-rows.js';
import { createCatalogWriter } from '../writer.js';
import { createOnDemandMarkets } from './on-demand-markets.js';

const codec = createCodec();
const zero = numberedCondition(0);
const address = `0x${'11'.repeat(20)}`;
let directory: string;
let log: Log;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'oddstream-on-demand-'));
  log = await openLog(`lmdb:${directory}`, { logger: silentLogger(), maintenance: false });
  await log.ensureTopics([topics.chainFinal, topics.catalog, topics.catalogMissing]);
});
afterEach(async () => {
  await log.close();
  rmSync(directory, { recursive: true, force: true });
});

const logPosition = (n: number) => ({
  id: `${numberedCondition(n)}-0`,
  block_number: n,
  block_hash: zero,
  timestamp_ms: 1_700_000_000_000 + n,
  tx_hash: numberedCondition(n),
  log_index: 0,
});
const prepared = (n: number): ConditionPrepared => ({
  ...logPosition(n),
  condition_id: numberedCondition(n),
  oracle: address,
  question_id: zero,
  outcome_slot_count: 2,
});
const trade = (token: string, version = 1): Trade => ({
  ...logPosition(Number(token)),
  ...{
    exchange: address,
    exchange_version: version,
    neg_risk: false,
    order_hash: zero,
    maker: address,
    taker: address,
  },
  ...{ is_taker_order: false, side: 'BUY', token_id: token, usdc: 1n, shares: 2n, maker_asset_id: '0' },
  ...{ taker_asset_id: token, maker_amount: 1n, taker_amount: 2n, fee: 0n, fee_shares: 0n, builder: null },
});
/** Of a combo condition. */
const comboResolved = (n: number): ConditionResolved => ({
  ...prepared(n),
  condition_id: `0x03${'c'.repeat(60)}`,
  question_id: '',
  payout_numerators: ['1000000', '0'],
});
const append = (values: Buffer[]) =>
  log.append(
    topics.chainFinal.name,
    values.map((value, i) => ({ key: `${i}`, value, timestampMs: i })),
  );

/** Starts the lookups against a fake service that has the markets for which `exists` returns true. */
async function start(options: {
  exists: (n: number) => boolean;
  find?: (request: MarketRequest) => void;
  /** Instead of the fake service. */
  finder?: CatalogSource['find'];
  nowMs?: () => number;
}) {
  const requests: MarketRequest[] = [];
  const stop = new AbortController();
  const metrics = createMetrics({ process: 'test', defaults: false });
  const states: string[] = [];
  const counts = createHydrationCounts();
  const writer = createCatalogWriter({
    ...{ log, codec, metrics, onRejected: (reason: string) => expect.fail(reason) },
    onMarket: ({ token_ids }) => onDemand.addTokens(token_ids),
  });
  const onDemand = createOnDemandMarkets({
    ...{ writer, log, codec, metrics, counts, logger: silentLogger(), nowMs: options.nowMs },
    onState: (state) => states.push(state),
    times: { lingerMs: 20, pollMs: 5, commitMs: 10, retryDelayMs: 5, maxRetryDelayMs: 20 },
    find:
      options.finder ??
      async function* (request) {
        requests.push(request);
        options.find?.(request);
        const all = request.ids.map((id) => (request.by === 'condition' ? Number(id) : Math.floor(Number(id) / 2)));
        yield all.filter(options.exists).flatMap((n) => decodeEvent(numberedEvent(n)).rows);
      },
  });
  await writer.restore();
  const running = onDemand.run(stop.signal);
  return {
    requests,
    states,
    counts,
    writer,
    committed: async () => (await log.committed(consumerGroups.onDemandMarkets, topics.chainFinal.name))[0]?.nextOffset,
    async stop() {
      stop.abort();
      await running;
    },
  };
}
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('createOnDemandMarkets', () => {
  it('looks up every condition and unprepared token once, in full requests, and commits its offset', async () => {
    await append([
      ...numbers(1, 121).map((n) => codec.encode('condition_prepared', prepared(n))),
      // Tokens of prepared conditions, of condition 500, and of a combo.
      ...['2', '3', '240', '1000', '1001'].map((token) => codec.encode('trade', trade(token))),
      codec.encode('trade', trade('5000', 3)),
      codec.encode('condition_resolved', comboResolved(600)),
    ]);
    const one = await start({ exists: () => true });
    await vi.waitFor(async () => expect(await one.committed()).toBe(127), 5000);
    expect(one.requests.map(({ by, ids }) => [by, ids.length])).toEqual([
      ...[
        ['condition', 50],
        ['condition', 50],
        ['condition', 20],
        ['token', 2],
      ],
    ]);
    for (const n of [...numbers(1, 121), 500]) expect(one.writer.hasMarket(numberedCondition(n))).toBe(true);
    expect(one.states.at(-1)).toBe('0 market lookups queued, 0 ids without a market');
    await one.stop();

    await append([codec.encode('trade', trade('2')), codec.encode('condition_prepared', prepared(700))]);
    const two = await start({ exists: () => true });
    await vi.waitFor(async () => expect(await two.committed()).toBe(129), 5000);
    expect(two.requests).toEqual([{ by: 'condition', ids: [numberedCondition(700)] }]);
    await two.stop();
  });

  it('keeps missing ids over a restart, looks them up again when due, and removes found ids', async () => {
    let nowMs = 1_000_000;
    await append([prepared(1), prepared(2)].map((value) => codec.encode('condition_prepared', value)));
    const one = await start({ exists: (n) => n === 1, nowMs: () => (nowMs += 1) });
    await vi.waitFor(async () => expect(await one.committed()).toBe(2), 5000);
    await one.stop();
    expect(one.states.at(-1)).toBe('0 market lookups queued, 1 ids without a market');

    await append([codec.encode('condition_prepared', prepared(2))]);
    let exists = false;
    const two = await start({ exists: () => exists, nowMs: () => (nowMs += 1) });
    await vi.waitFor(async () => expect(await two.committed()).toBe(3), 5000);
    expect(two.requests).toEqual([]);
    nowMs += 60_000;
    await vi.waitFor(() => expect(two.requests).toHaveLength(1), 5000);
    nowMs += 60_000;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(two.requests).toHaveLength(1);
    exists = true;
    nowMs += 240_000;
    await vi.waitFor(() => expect(two.writer.hasMarket(numberedCondition(2))).toBe(true), 5000);
    await vi.waitFor(() => expect(two.states.at(-1)).toBe('0 market lookups queued, 0 ids without a market'), 5000);
    await two.stop();

    const three = await start({ exists: () => true, nowMs: () => nowMs });
    await vi.waitFor(() => expect(three.states.at(-1)).toBe('0 market lookups queued, 0 ids without a market'), 5000);
    await three.stop();
    expect(three.requests).toEqual([]);
  });

  it('repeats failed requests, and finds the other ids when the service rejects one id', async () => {
    await append(numbers(1, 9).map((n) => codec.encode('condition_prepared', prepared(n))));
    let faults = 2;
    const one = await start({
      exists: () => true,
      find({ ids }) {
        if (faults-- > 0) throw new RetryableError('unreachable');
        if (ids.includes(numberedCondition(5))) throw new GammaRejectedError(422, 'no');
      },
    });
    await vi.waitFor(async () => expect(await one.committed()).toBe(8), 5000);
    expect(numbers(1, 9).filter((n) => !one.writer.hasMarket(numberedCondition(n)))).toEqual([5]);
    expect(one.states.at(-1)).toBe('0 market lookups queued, 1 ids without a market');
    // Two faults, each followed by a repetition. Of 8 ids the halves 1-4, 5-8 -> 5-6 -> 5 are tried; 8, 4, 2 and 1 ids with id 5 are rejected.
    expect(one.counts).toEqual({
      ...createHydrationCounts(),
      hydration_queued: 8,
      hydration_retries: 2,
      hydration_failures: 6,
      gamma_hydration_success: 3,
    });
    await one.stop();
  });

  it('finds the other ids while the service fails at one, which it requests again later', async () => {
    let nowMs = 1_000_000;
    await append(numbers(1, 61).map((n) => codec.encode('condition_prepared', prepared(n))));
    let isBroken = true;
    const one = await start({
      exists: () => true,
      nowMs: () => (nowMs += 1),
      find({ ids }) {
        if (isBroken && ids.includes(numberedCondition(7))) throw new RetryableError('status 500');
      },
    });
    await vi.waitFor(async () => expect(await one.committed()).toBe(60), 20_000);
    expect(numbers(1, 61).filter((n) => !one.writer.hasMarket(numberedCondition(n)))).toEqual([7]);
    expect(one.states.at(-1)).toBe('0 market lookups queued, 1 ids without a market');
    isBroken = false;
    nowMs += 60_000;
    await vi.waitFor(() => expect(one.writer.hasMarket(numberedCondition(7))).toBe(true), 5000);
    await one.stop();
  });

  it('leaves a row that is written during the requests by slug as it is', async () => {
    await append([
      codec.encode('condition_prepared', prepared(1)),
      codec.encode('condition_resolved', {
        ...prepared(2),
        oracle: addresses.cryptoOracle,
        payout_numerators: ['1', '0'],
      }),
    ]);
    const open = numberedEvent(1, { closed: false });
    const closedRows = decodeEvent(numberedEvent(1)).rows;
    const writtenCounts: number[] = [];
    const finder = createMarketFinder({
      client: {
        async get(path, query) {
          const parameters = new Map(query);
          if (parameters.has('slug')) writtenCounts.push(await one.writer.write(closedRows));
          if (parameters.get('closed') === 'true') return [];
          return path === '/events' ? [open] : [{ ...open.markets[0], events: [open] }];
        },
      },
      decodeEvents: (raws) => raws.flatMap((raw) => decodeEvent(raw).rows),
      reject: (reason) => expect.fail(reason),
      perSecond: 1e6,
    });
    const one = await start({ exists: () => false, finder });
    await vi.waitFor(async () => expect(await one.committed()).toBe(2), 5000);
    await one.stop();
    // The event and its market differ from the open ones; the tag does not.
    expect([writtenCounts[0], await one.writer.write(closedRows)]).toEqual([2, 0]);
  });

  it('does not commit past the offset of an id that waits for its lookup', async () => {
    await append([prepared(1), prepared(2)].map((value) => codec.encode('condition_prepared', value)));
    const one = await start({
      exists: () => true,
      find: () => {
        throw new RetryableError('unreachable');
      },
    });
    await vi.waitFor(async () => expect(await one.committed()).toBe(0), 5000);
    await vi.waitFor(() => expect(one.requests.length).toBeGreaterThan(2), 5000);
    await one.stop();
    expect(await one.committed()).toBe(0);
  });
});
