import { describe, expect, it, onTestFinished } from 'vitest';
import type { SourceFreshness } from '../infra/sources/freshness.js';
import { controlFrames } from '../schemas/socket/control.js';
import type { SourceStatus } from '../schemas/types.gen.js';
import type { MarketRow } from './filters/market-lookup.js';
import { defaultPeerLimits } from './hub/peer.js';
import { gateway } from './test-gateway.fixture.js';
import { connectTestClient, type Frame, streamEvent } from './testing.js';

async function client(server: { port: number }, query = '') {
  const connected = await connectTestClient(server, { query });
  onTestFinished(() => connected.socket.terminate());
  const request = async (message: object): Promise<Frame> => {
    connected.send(message);
    for (;;) {
      const frame = await connected.next();
      if (['subscribed', 'updated', 'error', 'unsubscribed'].includes(frame.type)) return frame;
    }
  };
  const subscribe = (type: string, filters: object = {}) =>
    request({ action: 'subscribe', type, filters: { snapshot_count: 0, ...filters } });
  return { ...connected, request, subscribe };
}
/** Frames in the form that a test compares: seq of events, the rest without ids and times. */
const shown = (frames: readonly Frame[]) =>
  frames.map(({ subscription_id: _s, subscriber_id: _c, ts: _t, ...frame }) =>
    ['trade', 'block', 'price_feed'].includes(frame.type) ? frame.seq : frame,
  );
const expectDocumented = (frames: readonly Frame[]) => {
  for (const frame of frames) {
    const schema = (controlFrames as Record<string, { safeParse(value: unknown): { error?: unknown } }>)[frame.type];
    expect(schema?.safeParse(frame).error, JSON.stringify(frame)).toBeUndefined();
  }
};

describe('update', () => {
  it('changes the filters between two events, from and to a subscription without filters', async () => {
    const { server, publish } = await gateway();
    const one = await client(server);
    const { subscription_id } = await one.subscribe('trades');
    const change = (add: object, remove: object = {}) =>
      one.request({ action: 'update', subscription_id, add, remove });
    const trades = (...seqs: readonly number[]) =>
      publish(...seqs.map((seq) => streamEvent(seq, { wallets: [['0xaa', '0xbb', '0xcc'][seq % 3] as string] })));
    await trades(1, 2, 3);
    expect(await change({ wallets: [`0x${'A'.repeat(40)}`, '0xbb'] })).toMatchObject({ type: 'updated', seq: 3 });
    await trades(4, 5, 6);
    expect(await change({ wallets: ['0xCC'] }, { wallets: ['0xbb'] })).toMatchObject({ seq: 6 });
    await trades(7, 8, 9);
    expect(await change({}, { wallets: ['0xcc', `0x${'a'.repeat(40)}`] })).toMatchObject({ code: 'invalid_message' });
    expect(await change({ tokens: ['7'] }, { wallets: ['0xdd'] })).toMatchObject({
      seq: 9,
      warnings: ['not in wallets: 0xdd'],
    });
    await trades(10, 11, 12);
    await one.request({ action: 'unsubscribe' });
    const seqs = one.frames.flatMap(({ type, seq }) => (type === 'trade' ? [seq] : []));
    expect(seqs).toEqual([1, 2, 3, 4, 8]);
    expectDocumented(one.frames.filter(({ type }) => type !== 'trade'));
  });

  it('during a replay applies to the events that were not examined yet', async () => {
    const peer = { ...defaultPeerLimits, replayHighWaterBytes: 400_000, replayLowWaterBytes: 200_000 };
    const { server, load } = await gateway({ limits: { peer } });
    const pad = 'x'.repeat(20_000);
    for (let seq = 1; seq <= 900; seq++) {
      const frame = JSON.stringify({ type: 'trade', seq, pad });
      load(streamEvent(seq, { wallets: [seq % 2 === 0 ? '0xaa' : '0xbb'], frame }));
    }
    const one = await client(server);
    const { subscription_id } = await one.subscribe('trades', { wallets: ['0xaa'], since_seq: 0 });
    one.send({ action: 'update', subscription_id, add: { wallets: ['0xbb'] }, remove: { wallets: ['0xaa'] } });
    const last = () => one.frames.at(-1)?.seq;
    await expect.poll(last).toBe(899);
    const at = one.frames.find(({ type }) => type === 'updated')?.seq as number;
    const expected = Array.from({ length: 900 }, (_, i) => i + 1).filter((seq) => seq % 2 === (seq <= at ? 0 : 1));
    expect(one.frames.flatMap(({ type, seq }) => (type === 'trade' ? [seq] : []))).toEqual(expected);
  });

  it('is rejected without a subscription, items or a list that it can change', async () => {
    const { server } = await gateway();
    const one = await client(server);
    const { subscription_id } = await one.subscribe('chainlink');
    for (const message of [
      { action: 'update', subscription_id: 'none', add: { wallets: ['0xaa'] } },
      { action: 'update', add: { wallets: ['0xaa'] } },
      { action: 'update', subscription_id },
      { action: 'update', subscription_id, add: { side: ['BUY'] } },
      { action: 'update', subscription_id, add: [] },
      { action: 'update', subscription_id, add: { wallets: ['0xaa'] } },
    ])
      expect(await one.request(message)).toMatchObject({ type: 'error', code: 'invalid_message' });
  });
});

describe('unknown slugs and condition ids', () => {
  const markets: MarketRow[] = [];
  const lookup = {
    bySlugs: async (slugs: readonly string[]) => markets.filter(({ requested }) => slugs.includes(requested)),
    byConditions: async (ids: readonly string[]) => markets.filter(({ requested }) => ids.includes(requested)),
  };
  it('are reported one by one and begin by themselves, by the slug of an event or by the catalogue', async () => {
    markets.length = 0;
    const { server, publish } = await gateway({ lookup, limits: { unresolvedPollMs: 20 } });
    const one = await client(server, '&notices=1');
    const ack = await one.subscribe('trades', { slugs: ['soon', 'later'] });
    expect(ack.warnings).toEqual(['slug not found: soon', 'slug not found: later']);
    await publish(streamEvent(1, { slugs: ['other'] }), streamEvent(2, { slugs: ['soon'], tokens: ['7'] }));
    await publish(streamEvent(3, { slugs: [], tokens: ['7'] }));
    await one.count(1 + 3 + 1);
    markets.push({ requested: 'soon', condition_id: '0xc7', token_id: '7' });
    await one.count(1 + 3 + 1 + 1);
    await publish(streamEvent(4, { slugs: [], tokens: ['7'] }));
    await one.count(1 + 3 + 1 + 2);
    expect(shown(one.frames.slice(1))).toEqual([
      { type: 'caught_up', seq: 0 },
      { type: 'notice', code: 'unresolved', slug: 'soon' },
      { type: 'notice', code: 'unresolved', slug: 'later' },
      2,
      { type: 'notice', code: 'resolved', slug: 'soon', seq: 3 },
      4,
    ]);
  });

  it('of an event match its later markets too', async () => {
    markets.length = 0;
    const { server, publish } = await gateway({ lookup, limits: { unresolvedPollMs: 20 } });
    const one = await client(server, '&notices=1');
    await one.subscribe('trades', { slugs: ['elections'] });
    markets.push({ requested: 'elections', condition_id: '0xc7', token_id: '7' });
    await one.count(1 + 2 + 1);
    await publish(
      streamEvent(1, { slugs: ['first', 'elections'], tokens: ['7'] }),
      streamEvent(2, { slugs: ['second', 'elections'], tokens: ['8'] }),
      streamEvent(3, { slugs: ['other', 'sports'], tokens: ['9'] }),
    );
    await one.count(1 + 2 + 1 + 2);
    expect(shown(one.frames.slice(4))).toEqual([1, 2]);
  });

  it('of an update begin too, also without notices', async () => {
    markets.length = 0;
    const { server, publish } = await gateway({ lookup, limits: { unresolvedPollMs: 20 } });
    const one = await client(server);
    expect(await one.subscribe('trades', { condition_ids: ['0xc9'] })).toMatchObject({
      code: 'unresolved_condition_ids',
    });
    const { subscription_id } = await one.subscribe('trades', { tokens: ['1', '2'] });
    const updated = await one.request({ action: 'update', subscription_id, add: { condition_ids: ['0xC9'] } });
    expect(updated.warnings).toEqual(['condition_id not found: 0xc9']);
    await publish(streamEvent(1, { condition_ids: [] }), streamEvent(2, { condition_ids: ['0xc9'] }));
    await one.count(4);
    expect(shown(one.frames.slice(3))).toEqual([2]);
  });
});

describe('a slow reader with on_slow skip', () => {
  const peer = {
    maxBufferedBytes: 40 * 1024 * 1024,
    replayHighWaterBytes: 8 * 1024 * 1024,
    replayLowWaterBytes: 4 * 1024 * 1024,
  };
  const pad = 'x'.repeat(256 * 1024);
  const trade = (seq: number, wallet: string) =>
    streamEvent(seq, { wallets: [wallet], frame: JSON.stringify({ type: 'trade', seq, pad }) });

  it.each([{}, { wallets: ['0xaa'] }])(
    'skips an exact range that a replay fetches, with the filters %j',
    async (filters) => {
      const { server, publish } = await gateway({ limits: { peer, tickMs: 20 } });
      const one = await client(server, '&notices=1');
      await one.subscribe('trades', { ...filters, on_slow: 'skip' });
      const matches = (seq: number) => !('wallets' in filters) || seq % 2 === 0;
      one.socket.pause();
      let seq = 0;
      // Beyond what the kernel buffers and the bound.
      for (; seq < 220; seq++) await publish(trade(seq + 1, (seq + 1) % 2 === 0 ? '0xaa' : '0xbb'));
      one.socket.resume();
      const skipped = () => one.frames.find(({ type }) => type === 'skipped');
      await expect.poll(skipped).toBeDefined();
      const { from_seq: from, to_seq: to } = skipped() as unknown as { from_seq: number; to_seq: number };
      expect(to).toBe(seq);
      for (let more = 0; more < 4; more++) await publish(trade(++seq, seq % 2 === 0 ? '0xaa' : '0xbb'));
      const seqs = () => one.frames.flatMap((frame) => (frame.type === 'trade' ? [frame.seq as number] : []));
      const all = Array.from({ length: seq }, (_, i) => i + 1).filter(matches);
      await expect.poll(() => seqs().at(-1)).toBe(all.at(-1));
      expect(seqs()).toEqual(all.filter((one) => one < from || one > to));
      const order = one.frames.filter(({ type }) => type !== 'trade').map(({ type }) => type);
      expect(order).toEqual(['subscribed', 'caught_up', 'fell_behind', 'skipped', 'caught_up']);
      const before = seqs().length;
      await one.subscribe('trades', { ...filters, on_slow: 'skip', since_seq: from - 1 });
      const missing = all.filter((one) => one >= from && one <= to);
      await expect.poll(() => seqs().length).toBe(before + missing.length);
      expect(seqs().slice(before)).toEqual(missing);
      expectDocumented(one.frames.filter(({ type }) => type !== 'trade'));
    },
  );

  it('is closed if one of its subscriptions does not skip', async () => {
    const { server, publish, metric } = await gateway({ limits: { peer, tickMs: 20 } });
    let seq = 0;
    const closeCode = async (attempt: number) => {
      const one = await client(server);
      await one.subscribe('trades', { on_slow: 'skip' });
      await one.subscribe('blocks');
      one.socket.pause();
      while (seq < 300 * attempt && (await metric('gateway_slow_closes_total')) < attempt)
        await publish(trade(++seq, '0xaa'));
      one.socket.resume();
      const { code } = await one.closed;
      expect(await metric('gateway_slow_closes_total')).toBe(attempt);
      return code;
    };
    // The library looks every four seconds for closed connections that still have data to read and cuts them: the close frame is lost then.
    let code = await closeCode(1);
    for (let attempt = 2; code === 1006 && attempt <= 4; attempt++) code = await closeCode(attempt);
    expect(code).toBe(1013);
  });
});

describe('ends of blocks and windows', () => {
  it('come after the last event, with the number of matching events, live and in a replay', async () => {
    const { server, publish, load } = await gateway();
    const block = (seq: number, number: number, kind: string, wallets: string[] = []) =>
      streamEvent(seq, { kind, block_number: number, wallets });
    load(block(1, 7, 'trade', ['0xaa']));
    load(block(2, 7, 'block'));
    const events = [
      block(3, 8, 'trade', ['0xaa']),
      streamEvent(4, { kind: 'settlement', block_number: null, confirmed: false, wallets: ['0xaa'] }),
      block(5, 8, 'trade', ['0xbb']),
      block(6, 8, 'trade', ['0xaa']),
      block(7, 8, 'block'),
      block(8, 9, 'block'),
    ];
    const live = await client(server);
    await live.subscribe('trades', { wallets: ['0xaa'], event_types: ['trade'], end_of_block: true });
    await publish(...events);
    await live.count(1 + 2 + 2);
    const ends = [
      3,
      6,
      { type: 'end_of_block', block_number: 8, events: 2 },
      { type: 'end_of_block', block_number: 9, events: 0 },
    ];
    expect(shown(live.frames.slice(1))).toEqual(ends);
    const replayed = await client(server);
    await replayed.subscribe('global', { event_types: ['trade'], wallets: ['0xaa'], since_seq: 1, end_of_block: true });
    await replayed.count(1 + 1 + ends.length);
    expect(shown(replayed.frames.slice(1))).toEqual([{ type: 'end_of_block', block_number: 7, events: null }, ...ends]);
    expectDocumented(replayed.frames.filter(({ type }) => type === 'end_of_block'));
  });

  it('of blocks do not come to a subscription of prices', async () => {
    const { server, publish } = await gateway();
    const one = await client(server);
    await one.subscribe('chainlink', { end_of_block: true });
    await publish(streamEvent(1, { kind: 'block', block_number: 7 }), streamEvent(2, { kind: 'block' }));
    one.send({ action: 'ping' });
    await one.count(2);
    expect(one.frames.map(({ type }) => type)).toEqual(['subscribed', 'pong']);
  });

  it('have no number if the subscription or its filters began inside the block', async () => {
    const { server, publish } = await gateway();
    const one = await client(server);
    const of = (seq: number, number: number, kind: string, wallet = '0xaa') =>
      streamEvent(seq, { kind, block_number: number, wallets: [wallet] });
    await publish(of(1, 7, 'block'), of(2, 8, 'trade'));
    const { subscription_id } = await one.subscribe('trades', { wallets: ['0xaa'], end_of_block: true });
    await publish(of(3, 8, 'trade'), of(4, 8, 'block'), of(5, 9, 'trade'), of(6, 9, 'block'), of(7, 10, 'trade'));
    await one.request({ action: 'update', subscription_id, add: { wallets: ['0xbb'] } });
    await publish(of(8, 10, 'trade', '0xbb'), of(9, 10, 'block'), of(10, 11, 'trade', '0xbb'), of(11, 11, 'block'));
    await one.count(1 + 4 + 1 + 1 + 4 - 1);
    const ends = one.frames.flatMap(({ type, block_number, events }) =>
      type === 'end_of_block' ? [[block_number, events]] : [],
    );
    expect(ends).toEqual([
      [8, null],
      [9, 1],
      [10, null],
      [11, 1],
    ]);
  });

  it('of a 5-minute window come per feed before its first price after the window', async () => {
    const { server, publish } = await gateway();
    const one = await client(server);
    await one.subscribe('chainlink', { feeds: ['BTC/USD'], end_of_window: true });
    const start = 1_790_000_100_000;
    expect(start % 300_000).toBe(0);
    const tick = (seq: number, feed: string, afterMs: number) =>
      streamEvent(seq, { kind: 'price_feed', feed, timestamp_ms: start + afterMs, block_number: null, tokens: [] });
    await publish(
      tick(1, 'BTC/USD', -1_000),
      tick(2, 'BTC/USD', 0),
      tick(3, 'ETH/USD', 300_000),
      tick(4, 'BTC/USD', 299_000),
      tick(5, 'BTC/USD', 300_000),
    );
    await one.count(1 + 4 + 2);
    const window = { type: 'end_of_window', feed: 'BTC/USD', twap_window_seconds: null };
    const startS = start / 1000;
    expect(shown(one.frames.slice(1))).toEqual([
      1,
      { ...window, window_start: startS - 300, window_end: startS, events: null },
      2,
      4,
      { ...window, window_start: startS, window_end: startS + 300, events: 2 },
      5,
    ]);
    expectDocumented(one.frames.filter(({ type }) => type === 'end_of_window'));
  });
});

describe('notices', () => {
  it('report stale and recovered sources, ranges and lost events, only to clients that ask for them', async () => {
    let freshness: SourceFreshness = { source: 'oracle', last_event_ms: 5, stale: null, stale_since_ms: null };
    let status = { source: 'chain', reread: null, gap: null } as unknown as SourceStatus;
    const sources = { freshness: () => [freshness], all: () => [status] };
    const { server, publish } = await gateway({ sources, limits: { tickMs: 10 } });
    const [one, plain] = [await client(server, '&notices=1'), await client(server)];
    await publish(streamEvent(1));
    freshness = { ...freshness, stale: 'no_report', stale_since_ms: 9 };
    await one.count(1);
    const late = await client(server, '&notices=1');
    await late.count(1);
    freshness = { ...freshness, last_event_ms: 20, stale: null, stale_since_ms: null };
    await one.count(2);
    status = { ...status, reread: { from_block: 3, to_block: 9, at_ms: 1 } };
    await one.count(3);
    status = { ...status, gap: { from_block: 11, to_block: 12, at_ms: 2 } };
    await one.count(4);
    await publish(streamEvent(4));
    await one.count(5);
    const stale = { type: 'notice', code: 'source_stale', source: 'oracle', reason: 'no_report', since_ms: 9 };
    expect(shown(one.frames)).toEqual([
      { ...stale, last_event_ms: 5 },
      { type: 'notice', code: 'source_recovered', source: 'oracle', since_ms: 9, last_event_ms: 20 },
      { type: 'notice', code: 'history_reread', source: 'chain', from_block: 3, to_block: 9 },
      { type: 'notice', code: 'gap', source: 'chain', from_block: 11, to_block: 12 },
      { type: 'notice', code: 'gap', from_seq: 2, to_seq: 3 },
    ]);
    expect(late.frames[0]).toMatchObject(stale);
    expectDocumented([...one.frames, ...late.frames]);
    plain.send({ action: 'ping' });
    await plain.count(1);
    expect(plain.frames.map(({ type }) => type)).toEqual(['pong']);
  });
});
