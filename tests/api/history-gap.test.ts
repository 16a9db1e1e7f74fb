import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { chainSink } from '../../processors/chain/sink.js';
import { fillsSink } from '../../processors/fills/sink.js';
import { publishViews } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';
import type { AnyEvent } from '../../schemas/codec.js';
import { ScriptedVenue } from '../accounting/world.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { insertAccountsOfBlocks, insertRecords } from '../support/positions.js';

/** Time of block 0, time between blocks, and length of the gap, seconds. */
const START_S = 1_700_000_000;
const BLOCK_S = 2;
const GAP_S = 3_600;
/** Index of the market that is prepared after the gap. */
const LATE = 7;

interface Act {
  readonly kind: 'split' | 'merge' | 'match';
  readonly market: number;
  readonly wallet: number;
  readonly amount: bigint;
}
const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom('split' as const, 'split' as const, 'merge' as const, 'match' as const),
  market: fc.nat(LATE),
  wallet: fc.nat(3),
  amount: fc.integer({ min: 1, max: 50_000_000 }).map((n) => BigInt(n) * 2n),
});

/** A block for each act. Before the late market is prepared its acts fall to its neighbour. */
function playActs(venue: ScriptedVenue, acts: readonly Act[], markets: number): void {
  for (const { kind, market, wallet, amount } of acts) {
    const at = market % markets;
    if (kind !== 'match') venue.set(kind, at, wallet, amount);
    else
      venue.match({
        market: at,
        outcome: 0,
        taker: wallet,
        side: 'BUY',
        makers: [{ wallet: wallet + 1, shares: amount, cents: 40n, opposite: true }],
        generation: 2,
        feeBps: 0n,
        leftover: 0n,
      });
    venue.endTransaction();
    venue.endBlock();
  }
}

interface Block {
  readonly number: number;
  readonly atS: number;
  readonly events: readonly AnyEvent[];
}

/** The blocks of a played history; with a hole those in the middle are lost, and an hour passes. */
function historyOf(seed: number, hole: boolean): { readonly venue: ScriptedVenue; readonly blocks: readonly Block[] } {
  const [first, middle, last] = fc.sample(fc.array(act, { minLength: 25, maxLength: 25 }), { numRuns: 3, seed });
  const venue = new ScriptedVenue(true, { wallets: 5, plain: LATE + 1, questions: 0 });
  playActs(venue, first ?? [], LATE);
  const holeFrom = venue.blocks.length;
  playActs(venue, middle ?? [], LATE);
  const holeTo = venue.blocks.length;
  playActs(venue, last ?? [], LATE + 1);
  const late = venue.markets[LATE]?.condition;
  const isLate = (event: AnyEvent) => event.kind === 'condition_prepared' && event.value.condition_id === late;
  const lateEvent = venue.blocks.flat().find(isLate) as AnyEvent;
  const blocks = venue.blocks.flatMap((facts, index): Block[] => {
    if (hole && index >= holeFrom && index < holeTo) return [];
    const number = index + 1;
    const atS = START_S + number * BLOCK_S + (index >= holeTo ? GAP_S : 0);
    const own = facts.filter((event) => !isLate(event));
    const all = index === holeTo ? [lateEvent, ...own] : own;
    const events = all.map((event, log_index) => ({
      kind: event.kind,
      value: { ...event.value, block_number: number, log_index, timestamp_ms: atS * 1000 },
    })) as AnyEvent[];
    return [{ number, atS, events }];
  });
  return { venue, blocks };
}

/** Blocks between those that are an hour apart, so that there is no gap. */
const fillers = (blocks: readonly Block[]): { number: number; atS: number }[] =>
  blocks.flatMap(({ number, atS }, i) => {
    const next = blocks[i + 1];
    if (next === undefined || next.atS - atS < GAP_S) return [];
    return Array.from({ length: 12 }, (_, n) => ({ number, atS: atS + (n + 1) * 290 }));
  });

describe.each([5, Date.now() % 1_000_000])('open interest of history %i', (seed) => {
  let api: ApiHarness;
  afterEach(() => api.stop());

  const answersOf = async (hole: boolean) => {
    const { venue, blocks } = historyOf(seed, hole);
    api = await startApi({ nowMs: (START_S + 2 * GAP_S) * 1000 });
    const key = await api.key('enterprise');
    const events = blocks.flatMap((block) => block.events);
    await insertAccountsOfBlocks(
      api.clickhouse,
      blocks.map((block) => block.events),
    );
    await insertRecords(api.clickhouse, chainSink, events);
    await insertRecords(api.clickhouse, fillsSink, events);
    const seen = hole ? blocks : [...blocks, ...fillers(blocks)];
    await api.clickhouse.insertRows(
      'blocks',
      seen.map(({ number, atS }, n) => ({
        block_number: number * 100 + n,
        block_hash: '0x1',
        parent_hash: '0x0',
        timestamp: atS,
        tx_count: 1,
        polymarket_tx_count: 1,
        settlement_count: 0,
        trade_volume: 0,
        _offset: n,
      })),
    );
    const markets = await Promise.all(
      venue.markets.map(async ({ condition }) => ({
        truth: Number(venue.collateral.get(condition) ?? 0n) / 1e6,
        ...(await api.ok<{ open_interest_usdc: number | null; complete: boolean }>(
          `/v2/onchain/markets/${condition}/oi`,
          key,
        )),
      })),
    );
    const all = await api.ok<{ open_interest_usdc: number | null; complete: boolean }>('/v2/onchain/oi', key);
    await publishViews({ client: api.clickhouse, database: 'market', views: publicViews, logger: silentLogger() });
    const viewed = await api.clickhouse.query<{ condition_id: string; usd: string | null }>(
      'SELECT condition_id, toString(open_interest_usd) AS usd FROM market.open_interest',
    );
    // Markets without a full set have no row in the view.
    const ofView = new Map(viewed.map(({ condition_id, usd }) => [condition_id, usd === null ? null : Number(usd)]));
    return {
      markets: markets.map((one, n) => ({ ...one, viewed: ofView.get(venue.markets[n]?.condition ?? '') })),
      all,
    };
  };

  it('equals the collateral on chain if the history has no gap since the preparation', async () => {
    const { markets, all } = await answersOf(false);
    expect(markets.filter(({ viewed }) => viewed !== undefined).length).toBeGreaterThan(3);
    for (const { truth, open_interest_usdc, complete, viewed } of markets) {
      expect(complete).toBe(true);
      expect(open_interest_usdc).toBeCloseTo(truth, 6);
      if (viewed !== undefined) expect(viewed).toBe(open_interest_usdc);
    }
    expect(all.complete).toBe(true);
    expect(all.open_interest_usdc).toBeCloseTo(
      markets.reduce((sum, { truth }) => sum + truth, 0),
      5,
    );
  });

  it('is null if blocks are missing after the preparation, and exact for a market prepared after the gap', async () => {
    const { markets, all } = await answersOf(true);
    markets.forEach(({ truth, open_interest_usdc, complete, viewed }, n) => {
      expect(complete, `market ${n}`).toBe(n === LATE);
      if (n === LATE) expect(open_interest_usdc).toBeCloseTo(truth, 6);
      else expect(open_interest_usdc, `market ${n}`).toBeNull();
      if (viewed !== undefined) expect(viewed, `market ${n}`).toBe(open_interest_usdc);
    });
    expect(all).toMatchObject({ complete: false, open_interest_usdc: null });
  });
});
