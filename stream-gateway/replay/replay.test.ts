import { describe, expect, it, onTestFinished } from 'vitest';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { defaultPeerLimits } from '../hub/peer.js';
import { gateway } from '../test-gateway.fixture.js';
import { connectTestClient, type Frame, streamEvent } from '../testing.js';

async function client(server: { port: number }, key = 'big', query = '') {
  const connected = await connectTestClient(server, { key, query });
  onTestFinished(() => connected.socket.terminate());
  const subscribe = (filters: object, type = 'trades') => connected.send({ action: 'subscribe', type, filters });
  return { ...connected, subscribe };
}

const seqs = (frames: readonly Frame[]) => frames.flatMap(({ seq }) => (seq === undefined ? [] : [seq as number]));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe('snapshots beyond memory', () => {
  it('contain the newest matching events of the window, from the log where memory ends', async () => {
    const { server, load, memory } = await gateway({ recentEvents: 10, limits: { snapshotWindowEvents: 100 } });
    for (let seq = 1; seq <= 150; seq++) load(streamEvent(seq, { wallets: [seq % 3 === 0 ? '0xaa' : '0xbb'] }));
    const one = await client(server);
    one.subscribe({ wallets: ['0xaa'], snapshot_count: 20 });
    await one.count(2);
    const expected = range(51, 150).filter((seq) => seq % 3 === 0);
    expect(seqs(one.frames[1]?.events as Frame[])).toEqual(expected.slice(-20));
    const { pages } = memory.reads;
    one.subscribe({ wallets: ['0xaa'], snapshot_count: 3 });
    await one.count(4);
    expect(seqs(one.frames[3]?.events as Frame[])).toEqual([144, 147, 150]);
    expect(memory.reads.pages).toBe(pages);
    one.subscribe({ wallets: ['0xaa'], snapshot_count: 500 });
    await one.count(6);
    expect(seqs(one.frames[5]?.events as Frame[])).toEqual(expected);
  });

  it('with since select by event time, not by position, within the look-back of the plan', async () => {
    const nowMs = 1_790_000_100_000;
    const { server, load } = await gateway({ recentEvents: 5, nowMs: () => nowMs });
    const ageS = [400, 200, 350, 120, 250, 290, 310, 60, 50, 40, 700, 30, 20, 10];
    for (const [at, age] of ageS.entries()) load(streamEvent(at + 1, { timestamp_ms: nowMs - age * 1000 }));
    const one = await client(server);
    one.subscribe({ since: 1 });
    await one.count(2);
    const recent = ageS.flatMap((age, at) => (age < 300 ? [at + 1] : []));
    expect(one.frames[0]?.warnings).toEqual(['since clamped to the last 300 s of your plan']);
    expect(seqs(one.frames[1]?.events as Frame[])).toEqual(recent);
    one.subscribe({ since: nowMs - 55_000, snapshot_count: 1 });
    await one.count(4);
    expect(seqs(one.frames[3]?.events as Frame[])).toEqual([9, 10, 12, 13, 14]);
  });

  it('over the size bound are truncated to their newest events with a warning', async () => {
    const { server, load } = await gateway({ nowMs: () => 1_790_000_001_000, limits: { maxSnapshotBytes: 1000 } });
    for (let seq = 1; seq <= 50; seq++)
      load(streamEvent(seq, { frame: JSON.stringify({ seq, pad: 'x'.repeat(200) }) }));
    const one = await client(server);
    one.subscribe({ since: 1_790_000_000_000 });
    await one.count(2);
    expect(one.frames[0]?.warnings).toEqual(['snapshot cut to its newest events; use since_seq to get all']);
    expect(seqs(one.frames[1]?.events as Frame[])).toEqual([47, 48, 49, 50]);
  });
});

describe('replay by since_seq', () => {
  it('sends events from the log, then from memory, then live ones, while new events arrive', async () => {
    const { server, load, publish } = await gateway({ recentEvents: 20 });
    for (let seq = 1; seq <= 300; seq++) load(streamEvent(seq));
    const one = await client(server);
    one.subscribe({ since_seq: 10, since: 5, snapshot_count: 7 });
    for (let seq = 301; seq <= 400; seq++) {
      await publish(streamEvent(seq));
      await yieldToEventLoop();
    }
    await one.count(1 + 390);
    expect(one.frames[0]).toMatchObject({ type: 'subscribed', warnings: ['since ignored: since_seq is given'] });
    expect(seqs(one.frames)).toEqual(range(11, 400));
  });

  it('rejects a seq that is no longer retained or in the future, and names the retained range', async () => {
    const { server, load, memory, publish } = await gateway({ recentEvents: 5 });
    for (let seq = 1; seq <= 50; seq++) load(streamEvent(seq));
    memory.evict(20);
    const one = await client(server);
    one.subscribe({ since_seq: 19 });
    one.subscribe({ since_seq: 51 });
    one.subscribe({ since_seq: 20 });
    await one.count(3 + 30);
    expect(one.frames[0]).toMatchObject({ code: 'since_seq_unavailable', earliest_seq: 21 });
    expect(one.frames[1]).toMatchObject({ code: 'since_seq_unavailable', newest_seq: 50 });
    expect(one.frames[2]?.type).toBe('subscribed');
    await publish(streamEvent(51));
    await one.count(3 + 31);
    expect(seqs(one.frames)).toEqual(range(21, 51));
  });

  it('reports numbers that the log lacks as a gap, from the log and from memory, to a client that requested notices', async () => {
    const { server, load } = await gateway({ recentEvents: 5 });
    for (const seq of [...range(1, 20), ...range(22, 47), ...range(50, 51)]) load(streamEvent(seq));
    const one = await client(server, 'big', '&notices=1');
    const other = await client(server);
    for (const each of [one, other]) each.subscribe({ since_seq: 18 });
    await one.count(1 + 30 + 2 + 1);
    await other.count(1 + 30);
    expect(one.frames.filter(({ code }) => code === 'gap')).toMatchObject([
      { type: 'notice', from_seq: 21, to_seq: 21 },
      { type: 'notice', from_seq: 48, to_seq: 49 },
    ]);
    expect(seqs(one.frames.filter(({ type }) => type === 'trade'))).toEqual([19, 20, ...range(22, 47), 50, 51]);
    expect(other.frames.map(({ code }) => code)).not.toContain('gap');
  });

  it('ends with an error when its first events are deleted before they are read', async () => {
    const { server, load, memory } = await gateway({ recentEvents: 5 });
    for (let seq = 1; seq <= 50; seq++) load(streamEvent(seq));
    const { offsetAfter } = memory.history;
    memory.history.offsetAfter = (seq) => {
      memory.evict(30);
      return offsetAfter(seq);
    };
    const one = await client(server);
    one.subscribe({ since_seq: 20 });
    await one.count(2);
    expect(one.frames[1]).toMatchObject({ type: 'error', code: 'since_seq_unavailable', earliest_seq: 31 });
    expect(seqs(one.frames)).toEqual([]);
  });

  it('is clamped to the look-back of the plan with a warning that names the first seq', async () => {
    const nowMs = 1_790_000_100_000;
    const { server, load, publish } = await gateway({ recentEvents: 5, nowMs: () => nowMs });
    // Events 1 to 50, two seconds apart, the last one now: 36 and later are younger than the 30 s of the free plan.
    for (let seq = 1; seq <= 50; seq++) load(streamEvent(seq, { timestamp_ms: nowMs - (50 - seq) * 2_000 }));
    const free = await client(server, 'free-1');
    free.subscribe({ since_seq: 10 });
    await free.count(1 + 15);
    expect(free.frames[0]?.warnings).toEqual([
      'since_seq clamped to the last 30 s of your plan: the replay begins at seq 36',
    ]);
    await publish(streamEvent(51, { timestamp_ms: nowMs }));
    await free.count(1 + 16);
    expect(seqs(free.frames)).toEqual(range(36, 51));
    const second = await client(server, 'free-2');
    second.subscribe({ since_seq: 35 });
    await second.count(1 + 16);
    expect(second.frames[0]?.warnings).toEqual([]);
    expect(seqs(second.frames)).toEqual(range(36, 51));
    const enterprise = await client(server);
    enterprise.subscribe({ since_seq: 10 });
    await enterprise.count(1 + 41);
    expect(enterprise.frames[0]?.warnings).toEqual([]);
    expect(seqs(enterprise.frames)).toEqual(range(11, 51));
  });

  it('starts after the newest event if no event is within the look-back of the plan', async () => {
    const nowMs = 1_790_000_100_000;
    const { server, load, publish } = await gateway({ nowMs: () => nowMs });
    for (let seq = 1; seq <= 5; seq++) load(streamEvent(seq, { timestamp_ms: nowMs - 60_000 }));
    const free = await client(server, 'free-1');
    free.subscribe({ since_seq: 1 });
    await free.count(1);
    expect(free.frames[0]?.warnings).toEqual([
      'since_seq clamped to the last 30 s of your plan: the replay begins at seq 6',
    ]);
    await publish(streamEvent(6, { timestamp_ms: nowMs }));
    await free.count(2);
    expect(seqs(free.frames)).toEqual([6]);
  });

  it('skips events that another subscription of the connection delivered', async () => {
    const { server, publish, load } = await gateway();
    for (let seq = 1; seq <= 10; seq++) load(streamEvent(seq));
    const one = await client(server);
    one.subscribe({ snapshot_count: 0, wallets: ['0xaa'] });
    await one.count(1);
    await publish(...range(11, 20).map((seq) => streamEvent(seq, seq % 2 === 0 ? { wallets: ['0xbb'] } : {})));
    one.subscribe({ since_seq: 5 });
    one.subscribe({ since_seq: 2 }, 'prices');
    await one.count(3 + 18);
    const live = [11, 13, 15, 17, 19];
    expect(seqs(one.frames).slice(0, 5)).toEqual(live);
    expect(seqs(one.frames).slice(5)).toEqual(range(3, 20).filter((seq) => !live.includes(seq)));
  });

  it('stops when it is unsubscribed halfway', async () => {
    const limits = { peer: { ...defaultPeerLimits, replayHighWaterBytes: 1, replayLowWaterBytes: 0 } };
    const { server, load, publish } = await gateway({ limits });
    const frame = JSON.stringify({ type: 'trade', seq: 1, pad: 'x'.repeat(200_000) });
    for (let seq = 1; seq <= 300; seq++) load(streamEvent(seq, { frame }));
    const one = await client(server);
    one.socket.pause();
    one.subscribe({ since_seq: 0 });
    one.send({ action: 'unsubscribe' });
    one.socket.resume();
    while (one.frames.at(-1)?.type !== 'unsubscribed') await one.count(one.frames.length + 1);
    await publish(streamEvent(301));
    one.send({ action: 'ping' });
    await one.count(one.frames.length + 1);
    expect(one.frames.at(-1)?.type).toBe('pong');
    expect(one.frames.length).toBeLessThan(300);
  });

  it('pauses for a slow reader with few bytes buffered and does not delay other connections', async () => {
    const { server, load, publish, metric } = await gateway({ recentEvents: 100, limits: { tickMs: 5 } });
    const frame = JSON.stringify({ type: 'trade', seq: 1, pad: 'x'.repeat(20_000) });
    for (let seq = 1; seq <= 2000; seq++) load(streamEvent(seq, { frame }));
    const slow = await client(server);
    slow.socket.pause();
    slow.subscribe({ since_seq: 0 });
    const other = await client(server);
    other.subscribe({ snapshot_count: 0 });
    await other.count(1);
    for (let seq = 2001; seq <= 2100; seq++) await publish(streamEvent(seq));
    await other.count(101);
    const high = defaultPeerLimits.replayHighWaterBytes + 250 * 21_000;
    expect(await metric('gateway_buffered_bytes')).toBeLessThan(high);
    slow.socket.resume();
    await slow.count(2101);
    expect(slow.frames.slice(2001).map(({ seq }) => seq)).toEqual(range(2001, 2100));
    expect(await metric('gateway_dropped_frames_total')).toBe(0);
  });
});
