import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { FatalError } from '../../../infra/errors.js';
import { silentLogger } from '../../../infra/telemetry/logger.js';
import { createSteppingClock, openRecording } from '../../shared/recorded/index.js';
import { decodeBlock, decodePending } from '../decode/index.js';
import type { ChainSource, LiveEvent, SourceBlock } from '../source.js';
import { createRecordedChainSource, type RecordedChainOptions } from './recorded-source.js';

const recording = openRecording(path.join(import.meta.dirname, '../../../tests/recorded/set'));
const NOW = Date.UTC(2026, 10, 21, 7, 0, 30);
const never = new AbortController().signal;

const sourceAt = (nowMs: number, options: Partial<RecordedChainOptions> = {}): Promise<ChainSource> =>
  createRecordedChainSource({
    recording,
    logger: silentLogger(),
    clock: createSteppingClock(nowMs),
    leadS: 600,
    ...options,
  });

async function load(
  source: ChainSource,
  from: number | null,
  stopAfter = Number.POSITIVE_INFINITY,
): Promise<SourceBlock[]> {
  const blocks: SourceBlock[] = [];
  for (let next = from; ; ) {
    const range = await source.historyRange(next, never);
    if (range === null || range.fromBlock > range.toBlock) return blocks;
    for await (const block of source.history(range, never)) {
      blocks.push(block);
      if (block.number >= stopAfter) return blocks;
    }
    next = range.toBlock + 1;
  }
}

async function replay(source: ChainSource): Promise<LiveEvent[]> {
  const events: LiveEvent[] = [];
  for await (const event of source.live(never)) events.push(event);
  return events;
}

const key = (block: SourceBlock) => `${block.number} ${block.hash} ${block.logs.length} ${block.logs.at(-1)?.data}`;

const headsOf = (events: readonly LiveEvent[]) =>
  events.flatMap((event) => (event.type === 'head' ? [event.block] : []));

/** A log that ends long after the recording: it resumes like an empty log, without the history. */
const LONG_AGO = 92_000_000;

describe('recorded history', () => {
  it('is in order, decodes without a problem, contains every row up to the cut, and resumes at any block', async () => {
    const blocks = await load(await sourceAt(NOW), null);
    const cutS = recording.meta.tail.history_until_s;
    const kinds = new Map<string, number>();
    let fills = 0;
    let last = 0;
    for (const block of blocks) {
      expect(block.number).toBeGreaterThan(last);
      last = block.number;
      expect(block.logs.length).toBeGreaterThan(0);
      const { events, problems } = decodeBlock(block);
      expect(problems).toEqual([]);
      for (const { kind } of events) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      if (block.timestampS < cutS + 40 * 86_400) fills += events.filter(({ kind }) => kind === 'trade').length;
    }
    const chain = recording.chain();
    let expected = 0;
    let match = 0;
    let action = 0;
    for (let tx = 0; tx < chain.timeS.length; tx++)
      for (let i = 0; i < chain.actions[tx]!; i++, action++) {
        if (chain.kind[action] !== 0) continue;
        if (chain.source[tx] !== 0 || chain.timeS[tx]! < cutS) expected += chain.makers[match]! + 1;
        match += 1;
      }
    expect(fills).toBe(expected);
    expect(fills).toBeLessThan(250_000);

    // Splits and merges of matches yield no events; those of users do.
    expect(kinds.get('position_split')).toBeUndefined();
    expect(kinds.get('position_change')).toBeUndefined();
    for (const kind of ['position_merge', 'redemption', 'condition_prepared', 'condition_resolved'])
      expect(kinds.get(kind)).toBeGreaterThan(1000);

    const whole = blocks.map(key);
    for (const index of [Math.floor(blocks.length * 0.9), blocks.length - 200, blocks.length - 1]) {
      const rest = await load(await sourceAt(NOW), blocks[index]!.number + 1);
      expect(rest.map(key)).toEqual(whole.slice(index + 1));
    }
    const inside = await load(await sourceAt(NOW), blocks.at(-200)!.number);
    expect(inside.map(key)).toEqual(whole.slice(-200));
  });

  it('is one range with its number of blocks, and has no live tail in history-only mode', async () => {
    const source = await sourceAt(Date.UTC(2026, 4, 1), { historyOnly: true });
    const range = (await source.historyRange(null, never))!;
    const blocks = await load(source, null);
    expect(blocks).toHaveLength(range.blocksWithLogs!);
    expect([blocks[0]!.number, blocks.at(-1)!.number]).toEqual([range.fromBlock, range.toBlock]);
    expect(await source.historyRange(range.toBlock + 1, never)).toMatchObject({ toBlock: range.toBlock });
    expect(await replay(source)).toEqual([
      { type: 'connected', connected: true, detail: source.description },
      { type: 'finalized', number: range.toBlock },
    ]);
    expect(source.shiftDays).toBeNull();
  });

  it('rejects a clock before the end of the recording', async () => {
    await expect(sourceAt(Date.UTC(2026, 5, 1))).rejects.toThrow(FatalError);
  });
});

describe('restart', () => {
  it('resumes at the clock without a gap', async () => {
    const before = await load(await sourceAt(NOW), LONG_AGO);
    const last = before.at(-1)!.number;
    const later = NOW + 5 * 60_000;
    const missed = await load(await sourceAt(later), last + 1);
    const all = await load(await sourceAt(later, { leadS: 1200 }), LONG_AGO);
    expect(missed.map(key)).toEqual(all.filter((block) => block.number > last).map(key));
    expect(missed.length).toBeGreaterThan(50);
  });

  it('does not replay more than the catch-up limit', async () => {
    const later = NOW + 30 * 86_400_000;
    const blocks = await load(await sourceAt(later), LONG_AGO);
    const settled = blocks.filter((block) => decodeBlock(block).events.some(({ kind }) => kind === 'trade'));
    expect(settled[0]!.timestampS).toBeGreaterThan(later / 1000 - 900);
    // Windows that are open now were prepared before; only that is played of the time before the tail.
    for (const block of blocks.filter(({ timestampS }) => timestampS < later / 1000 - 900))
      expect(new Set(decodeBlock(block).events.map(({ kind }) => kind))).toEqual(new Set(['condition_prepared']));
  });
});

describe('live tail', () => {
  const minute = async () => replay(await sourceAt(NOW, { untilMs: NOW + 120_000 }));

  it('is reproducible, with linked blocks two seconds apart', async () => {
    const events = await minute();
    expect(await minute()).toEqual(events);
    const heads = headsOf(events);
    expect(heads.length).toBe(61);
    heads.slice(1).forEach((block, i) => {
      expect(block.parentHash).toBe(heads[i]!.hash);
      expect(block.timestampS - heads[i]!.timestampS).toBe(2);
    });
    const times = events.flatMap((event) => ('seenAtMs' in event ? [event.seenAtMs] : []));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    const finals = events.flatMap((event) => (event.type === 'finalized' ? [event.number] : []));
    expect(finals).toEqual([...heads.map((block) => block.number - 2), heads.at(-1)!.number]);
  });

  it('shows every settlement before its block, joined to its fills by order hash', async () => {
    const source = await sourceAt(Date.UTC(2026, 10, 21, 15, 0, 0), { untilMs: Date.UTC(2026, 10, 21, 15, 3, 0) });
    const pending = new Map<string, { hashes: string[]; atMs: number; usdc: bigint; shares: bigint }>();
    let confirmed = 0;
    let first = true;
    for (const event of await replay(source)) {
      if (event.type === 'pending') {
        const result = decodePending(event.transaction, event.seenAtMs);
        if (result === null || !('settlement' in result)) throw new Error(JSON.stringify(result));
        const { trades, taker_usdc, taker_shares } = result.settlement;
        const hashes = trades.map((trade) => trade.order_hash);
        pending.set(event.transaction.hash, { hashes, atMs: event.seenAtMs, usdc: taker_usdc, shares: taker_shares });
      }
      if (event.type !== 'head') continue;
      const { events, problems } = decodeBlock(event.block);
      expect(problems).toEqual([]);
      const fills = events.flatMap((fact) => (fact.kind === 'trade' ? [fact.value] : []));
      for (const hash of new Set(first ? [] : fills.map((fill) => fill.tx_hash))) {
        const seen = pending.get(hash);
        if (seen === undefined) {
          // Its pending transaction was seen before this source started.
          expect(event.block.timestampS * 1000).toBeLessThan(Date.UTC(2026, 10, 21, 15, 0, 4));
          continue;
        }
        const own = fills.filter((fill) => fill.tx_hash === hash);
        expect(own.map((fill) => fill.order_hash)).toEqual(seen.hashes);
        expect(event.seenAtMs - seen.atMs).toBeGreaterThanOrEqual(1500);
        expect(event.seenAtMs - seen.atMs).toBeLessThanOrEqual(2500);
        const taker = own.find((fill) => fill.is_taker_order)!;
        expect([taker.usdc, taker.shares]).toEqual([seen.usdc, seen.shares]);
        expect(taker.exchange_version).toBe(2);
        confirmed += 1;
      }
      first = false;
    }
    expect(confirmed).toBeGreaterThan(300);
    expect(pending.size - confirmed).toBeLessThan(30);
  });

  it('skips blocks when the clock jumps, and serves them by number', async () => {
    let timeMs = NOW;
    let jumped = false;
    const clock = {
      nowMs: () => timeMs,
      waitUntil: async (wantedMs: number) => {
        const jump = !jumped && wantedMs >= NOW + 20_000;
        jumped ||= jump;
        timeMs = Math.max(timeMs, jump ? wantedMs + 3_600_000 : wantedMs);
      },
    };
    const source = await sourceAt(NOW, { clock, untilMs: NOW + 3_700_000 });
    const heads = headsOf(await replay(source));
    const jumps = heads.slice(1).map((block, i) => block.number - heads[i]!.number);
    expect(Math.max(...jumps)).toBeGreaterThan(1000);
    const last = heads.at(-1)!;
    expect((await source.blockByHash(last.parentHash))!.number).toBe(last.number - 1);
  });

  it('repeats on the next day with other ids', async () => {
    const later = NOW + 86_400_000;
    const today = headsOf(await minute());
    const tomorrow = headsOf(await replay(await sourceAt(later, { untilMs: later + 120_000 })));
    const hashes = (blocks: SourceBlock[]) =>
      new Set(blocks.flatMap((block) => block.logs.map((log) => log.transactionHash)));
    const [first, second] = [hashes(today), hashes(tomorrow)];
    expect(first.size).toBeGreaterThan(100);
    // A few others revert.
    expect(Math.abs(first.size - second.size)).toBeLessThan(10);
    expect([...first].filter((hash) => second.has(hash))).toEqual([]);
  });

  it('returns blocks and their parents, and null for others', async () => {
    const source = await sourceAt(NOW);
    const finalized = await source.finalizedNumber();
    const block = (await source.blockByNumber(finalized))!;
    expect(await source.blockByHash(block.hash)).toEqual(block);
    expect((await source.blockByHash(block.parentHash))!.number).toBe(finalized - 1);
    expect(await source.blockByNumber(finalized + 10)).toBeNull();
    expect(await source.blockByNumber(-1)).toBeNull();
    expect(await source.blockByHash(`0x${'12'.repeat(32)}`)).toBeNull();
    expect(source).toMatchObject({ mode: 'recorded', shiftDays: 243, recordedFromMs: Date.UTC(2026, 2, 22, 17) });
  });

  it('resolves BTC windows as on the recorded day, around 16 seconds after their end', async () => {
    const endMs = Date.UTC(2026, 10, 21, 7, 5);
    const source = await sourceAt(endMs, { untilMs: endMs + 30_000 });
    const resolved = headsOf(await replay(source)).flatMap((block) =>
      decodeBlock(block).events.flatMap((fact) => (fact.kind === 'condition_resolved' ? [fact.value] : [])),
    );
    const recorded = recording.markets.find(({ endS }) => endS === Date.UTC(2026, 6, 24, 7, 5) / 1000)!;
    expect(resolved.length).toBeGreaterThan(1);
    const prices = resolved.map((fact) => fact.payout_numerators);
    expect(prices).toContainEqual(recorded.outcome === 0 ? ['1', '0'] : ['0', '1']);
    for (const { timestamp_ms } of resolved) expect(timestamp_ms - endMs).toBeLessThanOrEqual(30_000);
  });
});
