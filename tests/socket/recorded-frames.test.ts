import { encodePacked, keccak256 } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventFrame, eventFrames, type StreamKind } from '../../schemas/socket/frames.js';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { recordedStream, recording, tickShiftMs } from '../support/recorded-stream.js';

type Data = Record<string, unknown>;
type Frame = { type: string; seq: number; timestamp: number; data: Data } & Data;

/** Replayed period: a whole number of days after the recording, at a time of day with many trades, window ends and redemptions. */
const FROM = Date.UTC(2026, 10, 21, 14, 54, 0);
const TO = FROM + 12 * 60_000;
const EXCHANGES = ['0xe111180000d2663c0091e4f400237545b87b996b', '0xe2222d279d744050d28e00520010520000310f59'];

let events: StreamEvent[] = [];
let frames: { kind: StreamKind; frame: Frame }[] = [];
const of = (kind: StreamKind) => frames.filter((one) => one.kind === kind).map((one) => one.frame);

beforeAll(async () => {
  events = await recordedStream(FROM, TO);
  frames = events.map((event) => ({ kind: event.kind as StreamKind, frame: JSON.parse(event.frame) as Frame }));
});

/** The recorded maker orders per transaction of the tail, read from the columns, keyed by the transaction hash of the replayed day. */
function recordedMakerOrders(): Map<string, { usdc: bigint; shares: bigint }[]> {
  const chain = recording.chain();
  const fromS = recording.meta.tail.from_s;
  const days = Math.floor((FROM / 1000 - fromS) / 86_400);
  const orders = new Map<string, { usdc: bigint; shares: bigint }[]>();
  for (let tx = 0, action = 0, match = 0, leg = 0; tx < chain.timeS.length; tx++) {
    const list: { usdc: bigint; shares: bigint }[] = [];
    let matches = 0;
    for (let n = 0; n < chain.actions[tx]!; n++, action++) {
      if (chain.kind[action] !== 0) continue;
      matches++;
      for (let maker = 0; maker < chain.makers[match]!; maker++, leg++)
        list.push({ usdc: BigInt(chain.legUsdc[leg]!), shares: BigInt(chain.legShares[leg]!) });
      match++;
    }
    const playedMs = (chain.timeS[tx]! + days * 86_400) * 1000;
    if (matches !== 1 || chain.source[tx] !== 0 || playedMs < FROM - 60_000 || playedMs > TO + 60_000) continue;
    const hash = `0x${chain.hashes.subarray(tx * 32, tx * 32 + 32).toString('hex')}` as const;
    orders.set(keccak256(encodePacked(['bytes32', 'uint32'], [hash, days])), list);
  }
  return orders;
}

describe('frames of the recorded live tail', () => {
  it('cover every kind of the recording and match their schemas', () => {
    for (const { kind, frame } of frames) {
      const parsed = eventFrames[kind].safeParse(frame);
      expect(parsed.error?.issues ?? [], JSON.stringify(frame)).toEqual([]);
      expect(eventFrame.safeParse(frame).success).toBe(true);
    }
    const counts = Object.fromEntries(
      [...new Set(frames.map((one) => one.kind))].sort().map((kind) => [kind, of(kind).length]),
    );
    expect(Object.keys(counts)).toEqual([
      'block',
      'fill',
      'oracle',
      'position_merge',
      'price_feed',
      'redemption',
      'settlement',
      'status_update',
      'trade',
    ]);
    expect(counts.settlement).toBeGreaterThan(500);
    expect(counts.redemption).toBeGreaterThan(0);
  });

  it('block: tx_count is at least the number of transactions with events', () => {
    const hashes = new Map<unknown, Set<unknown>>();
    for (const { frame } of frames) {
      const { block_number: block, tx_hash: hash } = frame.data as Record<string, unknown>;
      if (hash === undefined || block === null) continue;
      hashes.set(block, (hashes.get(block) ?? new Set()).add(hash));
    }
    const blocks = frames.flatMap(({ kind, frame }) =>
      kind === 'block' ? [frame.data as Record<string, number>] : [],
    );
    for (const data of blocks) {
      expect(data.tx_count).toBeGreaterThanOrEqual(hashes.get(data.block_number)?.size ?? 0);
      expect(data.tx_count).toBeGreaterThanOrEqual(data.polymarket_tx_count as number);
    }
    expect(blocks.some((data) => data.tx_count! > 1)).toBe(true);
  });

  it('have contiguous seq, equal in the frame text and in the record', () => {
    expect(frames.map(({ frame }) => frame.seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  });

  it('settlement: maker amounts equal the recorded ones', () => {
    const orders = recordedMakerOrders();
    let compared = 0;
    for (const { data } of of('settlement')) {
      const recorded = orders.get(data.tx_hash as string);
      if (recorded === undefined) continue;
      compared++;
      const rows = (data.trades as Data[]).slice(0, -1).map((row) => {
        const [maker, taker] = [BigInt(row.maker_amount as string), BigInt(row.taker_amount as string)];
        return row.side === 'BUY' ? { usdc: maker, shares: taker } : { usdc: taker, shares: maker };
      });
      expect(rows).toEqual(recorded);
      for (const [index, row] of rows.entries()) {
        const shown = (data.trades as Data[])[index] as Data;
        expect(shown.size).toBe(Number(row.shares) / 1e6);
        expect(shown.price as number).toBeCloseTo(Number(row.usdc) / Number(row.shares), 5);
      }
    }
    expect(compared).toBeGreaterThan(500);
  });

  it('fill: the rows of every settlement follow it directly, in order', () => {
    for (const [index, { kind, frame }] of frames.entries()) {
      if (kind !== 'settlement') continue;
      const { data } = frame;
      const rows = data.trades as Data[];
      const fills = frames.slice(index + 1, index + 1 + rows.length);
      expect(fills.every((one) => one.kind === 'fill')).toBe(true);
      expect(frames[index + 1 + rows.length]?.kind).not.toBe('fill');
      for (const [at, fill] of fills.entries()) {
        const row = rows[at] as Data;
        const { taker, ...rest } = fill.frame.data;
        const shares = BigInt((row.side === 'BUY' ? row.taker_amount : row.maker_amount) as string);
        expect(rest).toEqual({
          order_hash: row.order_hash,
          user: row.maker,
          tx_hash: data.tx_hash,
          side: row.side,
          price: row.price,
          shares: at === rows.length - 1 ? expect.any(Number) : Number(shares),
          shares_normalized: row.size,
          token_id: row.token_id,
          token_label: row.outcome ?? null,
          condition_id: data.condition_id,
          market_slug: data.market_slug ?? null,
          title: data.market_title ?? null,
          timestamp: Math.floor((data.detected_at as number) / 1000),
          block_number: null,
          log_index: null,
        });
        if (at === rows.length - 1) expect(EXCHANGES).toContain(taker);
        else expect(taker).toBe(data.taker_wallet);
      }
    }
  });

  it('status_update: confirms a pending settlement with the same hash and the times of both', () => {
    const pending = new Map(of('settlement').map(({ data }) => [data.tx_hash, data]));
    for (const { data, timestamp } of of('status_update')) {
      const settlement = pending.get(data.tx_hash) as Data;
      expect(data.pending_detected_at).toBe(settlement.detected_at);
      expect(data.latency_ms).toBe((data.confirmed_at as number) - (settlement.detected_at as number));
      expect(timestamp).toBe(data.confirmed_at);
      expect((data.confirmed_fills as Data[]).map((fill) => fill.order_hash)).toEqual(
        (settlement.trades as Data[]).map((row) => row.order_hash),
      );
      const amounts = (row: Data) => [row.maker, row.token_id, row.side, row.maker_amount, row.taker_amount];
      expect((data.confirmed_fills as Data[]).slice(0, -1).map(amounts)).toEqual(
        (settlement.trades as Data[]).slice(0, -1).map(amounts),
      );
    }
  });

  it('redemption: names a winner exactly if one outcome pays, and omits unknown fields', () => {
    for (const { data } of of('redemption')) {
      const payouts = data.payouts as number[] | undefined;
      if (payouts === undefined) {
        for (const field of ['outcome_prices', 'winning_outcome', 'winning_token_id', 'winning_outcome_index'])
          expect(data).not.toHaveProperty(field);
        continue;
      }
      const winner =
        payouts.filter((payout) => payout > 0).length === 1 ? payouts.findIndex((payout) => payout > 0) : -1;
      expect(data.winning_outcome_index).toBe(winner === -1 ? undefined : winner);
      expect(data.winning_token_id).toBe((data.token_ids as string[])[winner]);
      expect(data.winning_outcome).toBe((data.outcomes as string[])[winner]);
    }
  });

  it('price_feed: a TWAP is the mean of the spot prices of its 30 or 60 seconds', () => {
    const shiftMs = tickShiftMs(FROM);
    const prices = new Map([...recording.ticks()].map((tick) => [(tick.timestampMs + shiftMs) / 1000, tick.priceE18]));
    const spots = of('price_feed').filter((frame) => frame.is_twap === false);
    const seconds = new Set(spots.map((frame) => frame.timestamp));
    const first = Math.min(...seconds);
    /** The price in force at a second: the last one published, if within ten seconds. */
    const inForce = (second: number) => {
      for (let age = 0; age <= 10; age++) {
        const price = prices.get(second - age);
        if (price !== undefined && second - age >= first) return price;
      }
      return undefined;
    };
    let compared = 0;
    for (const frame of of('price_feed').filter(({ is_twap }) => is_twap === true)) {
      const window = frame.twap_window_seconds as number;
      let sum = 0n;
      for (let second = frame.timestamp - window; second < frame.timestamp; second++) {
        const price = inForce(second);
        expect(price).toBeDefined();
        sum += price as bigint;
      }
      expect(frame.data.price as number).toBeCloseTo(Number(sum / BigInt(window)) / 1e18, 6);
      expect(frame).toMatchObject({ computed: true, feed: 'BTC/USD', timestamp_ms: frame.timestamp * 1000 });
      expect(frame.data.bid).toBe(frame.data.price);
      compared++;
    }
    expect(compared).toBeGreaterThan(300);
    expect(spots.length).toBeGreaterThan(200);
  });
});
