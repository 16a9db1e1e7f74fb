import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import type { Hex, LiveEvent } from '../source.js';
import { hash } from './fake-node.fixture.js';
import { closeAll, EXCHANGE, listen, node, sourceOf, waitFor } from './rpc-source.fixture.js';

afterEach(closeAll);

describe('live', () => {
  it('sends the current head, then each new one with its logs, and the finalised block', async () => {
    const fake = await node({ length: 5 });
    fake.finalize(2);
    const live = listen(sourceOf(fake).source);
    await live.until(() => live.heads().includes(4));
    fake.finalize(3);
    fake.announce(fake.mine(2));
    await live.until(
      () => live.heads().includes(5) && live.events.some((e) => e.type === 'finalized' && e.number === 3),
    );
    const head = live.events.find((event) => event.type === 'head' && event.block.number === 5);
    expect(head).toMatchObject({ block: { txCount: 3, parentHash: fake.blocks[4]!.hash } });
    expect(head?.type === 'head' && head.block.logs).toHaveLength(2);
    expect(live.events.filter((event) => event.type === 'finalized')).toEqual([
      { type: 'finalized', number: 2, hash: fake.blocks[2]!.hash },
      { type: 'finalized', number: 3, hash: fake.blocks[3]!.hash },
    ]);
    live.stop.abort();
    await live.done;
  });

  it.each([
    ['fails', () => ({ error: { code: -32000, message: 'no answer from bor' } })],
    ['is null', () => ({ result: null })],
    ['stands still', () => undefined],
  ])('warns once per outage when the finalised block %s while the head advances', async (_name, reply) => {
    let isOut = false;
    const fake = await node({
      length: 3,
      override: ({ method, params }) =>
        isOut && method === 'eth_getBlockByNumber' && (params as readonly unknown[])[0] === 'finalized'
          ? reply()
          : undefined,
    });
    fake.finalize(1);
    const lines: { level: number; msg: string }[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
    const options = { live: { stillFinalityBlocks: 3 } };
    const live = listen(sourceOf(fake, options, undefined, undefined, undefined, logger).source);
    await live.until(() => live.heads().includes(2));
    const warnings = () => lines.filter(({ level, msg }) => level === 40 && msg.includes('finalised'));
    const follow = async (count: number) => {
      for (let i = 0; i < count; i += 1) {
        const block = fake.mine();
        fake.announce(block);
        await live.until(() => live.heads().includes(block.number));
      }
    };
    for (const outages of [1, 2]) {
      isOut = true;
      await follow(2);
      expect(warnings()).toHaveLength(outages - 1);
      await follow(5);
      expect(warnings()).toHaveLength(outages);
      isOut = false;
      fake.finalize(fake.blocks.length - 1);
      await follow(1);
    }
  });

  it('requests a head again whose logs the node has not indexed yet, and takes it without logs after a few attempts', async () => {
    const full: Hex = `0x${'f'.repeat(512)}`;
    const none: Hex = `0x${'0'.repeat(512)}`;
    let early = 0;
    const fake = await node({
      length: 3,
      bloomAt: (number) => (number === 5 ? none : full),
      logsAt: (number) => (number === 3 ? 2 : 0),
      override: ({ method, params }) => {
        const { blockHash } = (params as readonly { blockHash?: Hex }[])[0] ?? {};
        if (method !== 'eth_getLogs' || blockHash !== fake.blocks[3]?.hash || early === 2) return undefined;
        early += 1;
        return { result: [] };
      },
    });
    const live = listen(sourceOf(fake, { live: { headRetryMs: 1 } }).source);
    await live.until(() => live.heads().includes(2));
    const readsOf = (number: number) =>
      fake.seen.filter(
        ({ method, params }) => method === 'eth_getBlockByHash' && params[0] === fake.blocks[number]?.hash,
      ).length;
    for (const number of [3, 4, 5]) {
      fake.announce(fake.mine());
      await live.until(() => live.heads().includes(number));
    }
    const blocks = live.events.flatMap((event) => (event.type === 'head' ? [event.block] : []));
    const found = [3, 4, 5].map((number) => {
      const { logs, logsMayBeMissing } = blocks.find((block) => block.number === number) ?? {};
      return [number, readsOf(number), logs?.length, logsMayBeMissing];
    });
    expect(found).toEqual([
      [3, 3, 2, undefined],
      [4, 3, 0, true],
      [5, 1, 0, undefined],
    ]);
  });

  it('waits as long as the node requests before it requests a head again', async () => {
    const failedMs: number[] = [];
    const fake = await node({
      length: 3,
      override: ({ method }) => {
        if (method !== 'eth_getBlockByHash' || failedMs.length === 2) return undefined;
        failedMs.push(performance.now());
        return { status: 429, headers: { 'retry-after': '0.3' } };
      },
    });
    const live = listen(sourceOf(fake, { live: { headRetryMs: 1 } }).source);
    await live.until(() => live.heads().includes(2));
    // A timer may fire a millisecond early.
    expect((failedMs[1] ?? 0) - (failedMs[0] ?? 0)).toBeGreaterThan(290);
  });

  it('reconnects after a disconnect, reports it, and sends the missed head', async () => {
    const fake = await node({ length: 3 });
    const live = listen(sourceOf(fake, { live: { reconnect: { attempts: 1, baseMs: 1, maxMs: 2 } } }).source);
    await live.until(() => live.heads().includes(2));
    fake.cut();
    for (let i = 0; i < 5; i += 1) fake.mine();
    await live.until(() => live.heads().includes(7));
    const connected = live.events.filter((event) => event.type === 'connected').map((event) => event.connected);
    expect(connected.slice(0, 3)).toEqual([true, false, true]);
  });

  it('reconnects after silence of the subscription', async () => {
    const fake = await node({ length: 3 });
    const live = listen(
      sourceOf(fake, { live: { staleMs: 40, reconnect: { attempts: 1, baseMs: 1, maxMs: 2 } } }).source,
    );
    await live.until(() => live.events.some((event) => event.type === 'connected' && !event.connected));
    const lost = live.events.find((event) => event.type === 'connected' && !event.connected);
    expect(lost?.type === 'connected' && lost.detail).toContain('no head for 40 ms');
    fake.mine();
    await live.until(() => live.heads().includes(3));
  });

  it('reconnects when the node only repeats old heads, and sends each head once', async () => {
    const fake = await node({ length: 3 });
    const live = listen(
      sourceOf(fake, { live: { staleMs: 60, reconnect: { attempts: 1, baseMs: 1, maxMs: 2 } } }).source,
    );
    await live.until(() => live.heads().includes(2));
    const repeating = setInterval(() => {
      for (const block of fake.blocks.slice(-2)) fake.announce(block);
    }, 5);
    const lost = () => live.events.filter((event) => event.type === 'connected' && !event.connected);
    await live.until(() => lost().length > 1);
    clearInterval(repeating);
    expect(lost()[0]).toMatchObject({ detail: expect.stringContaining('no head for 60 ms') });
    expect(live.heads().toSorted()).toEqual([1, 2]);
    fake.announce(fake.mine());
    await live.until(() => live.heads().includes(3));
  });

  it('sends a head again after a reorganisation and back', async () => {
    const fake = await node({ length: 3 });
    const live = listen(sourceOf(fake).source);
    await live.until(() => live.heads().includes(2));
    const [first] = fake.blocks.slice(-1);
    fake.fork(1);
    fake.announce(fake.mine());
    await live.until(() => live.heads().length === 2);
    fake.fork(1);
    if (first !== undefined) fake.blocks.push(first);
    if (first !== undefined) fake.announce(first);
    await live.until(() => live.heads().length === 3);
    const hashes = live.events.flatMap((event) => (event.type === 'head' ? [event.block.hash] : []));
    expect(hashes[2]).toBe(first?.hash);
    expect(hashes[1]).not.toBe(first?.hash);
  });

  it('requests the head when a log arrives before its head', async () => {
    const fake = await node({ length: 3 });
    const live = listen(sourceOf(fake, { live: { hintDelayMs: 5 } }).source);
    await live.until(() => live.heads().includes(2));
    await waitFor(() => fake.subscribed('logs'));
    fake.mine(1);
    fake.notify('logs', { blockNumber: '0x3' });
    await live.until(() => live.heads().includes(3));
  });

  it('takes no hint of a log whose block number is not a quantity', async () => {
    const fake = await node({ length: 3 });
    const live = listen(sourceOf(fake, { live: { hintDelayMs: 1 } }).source);
    await live.until(() => live.heads().includes(2));
    await waitFor(() => fake.subscribed('logs'));
    const latest = () =>
      fake.seen.filter(({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === 'latest');
    const before = latest().length;
    const numbers: readonly unknown[] = [
      { toString: 1, valueOf: 1 },
      { valueOf: null },
      [7],
      ['0x7'],
      7,
      '7',
      true,
      null,
      '0xffffffffffff',
      {},
    ];
    for (const blockNumber of numbers) fake.notify('logs', { blockNumber });
    for (const log of [null, 7, 'x', []]) fake.notify('logs', log);
    fake.mine(1);
    fake.notify('logs', { blockNumber: '0x3' });
    await live.until(() => live.heads().includes(3));
    expect(latest().length - before).toBe(1);
  });

  it('survives an error of the node whose message has no text', async () => {
    const fake = await node({
      length: 3,
      override: ({ method, params }) =>
        method === 'eth_subscribe' && (params as readonly unknown[])[0] === 'logs'
          ? { error: { code: -1, message: { toString: 1, valueOf: 1 } as never } }
          : undefined,
    });
    const live = listen(sourceOf(fake).source);
    await waitFor(() => fake.subscribed('newPendingTransactions'));
    fake.announce(fake.mine(0));
    await live.until(() => live.heads().includes(3));
  });

  it('survives unreadable heads and frames', async () => {
    const fake = await node({ length: 3 });
    const live = listen(sourceOf(fake).source);
    await live.until(() => live.heads().includes(2));
    fake.raw('{not json');
    fake.raw('null');
    fake.raw('[null]');
    fake.notify('newHeads', { number: 'x' });
    fake.notify('newHeads', 7);
    fake.announce(fake.mine(0));
    await live.until(() => live.heads().includes(3));
  });

  const transaction = (id: number, to: string) => ({
    hash: hash(id),
    from: '0x01',
    to,
    input: '0x3c2b4399',
    blockNumber: null,
  });
  const pendings = (events: readonly LiveEvent[]) =>
    events.flatMap((event) => (event.type === 'pending' ? [event.transaction.hash] : []));

  it('reports full pending transactions to watched contracts only', async () => {
    const fake = await node({ length: 3 });
    const live = listen(sourceOf(fake).source);
    await waitFor(() => fake.subscribed('newPendingTransactions'));
    fake.notify('newPendingTransactions', transaction(1, '0x00000000000000000000000000000000000000aa'));
    fake.notify('newPendingTransactions', { hash: 5 });
    fake.notify('newPendingTransactions', { ...transaction(3, EXCHANGE), blockNumber: '0x2' });
    fake.notify('newPendingTransactions', transaction(2, '0xE111180000d2663C0091e4f400237545B87B996B'));
    await live.until(() => pendings(live.events).length > 0);
    expect(pendings(live.events)).toEqual([hash(2)]);
  });

  it('falls back to hashes read one by one', async () => {
    const fake = await node({
      length: 3,
      override: ({ method, params }) => {
        const [first, second] = params as readonly unknown[];
        if (method === 'eth_subscribe' && first === 'newPendingTransactions' && second === undefined) return undefined;
        if (method === 'eth_subscribe' && String(first).toLowerCase().includes('pending')) {
          return { error: { code: -32602, message: 'too many arguments, want at most 1' } };
        }
        if (method !== 'eth_getTransactionByHash') return undefined;
        // Of hash 7 the node returns another transaction.
        const id = first === hash(9) ? 9 : first === hash(7) ? 6 : null;
        return { result: id === null ? null : transaction(id, EXCHANGE) };
      },
    });
    const live = listen(sourceOf(fake).source);
    await waitFor(() => fake.subscribed('newPendingTransactions'));
    fake.notify('newPendingTransactions', hash(7));
    fake.notify('newPendingTransactions', hash(8));
    fake.notify('newPendingTransactions', hash(9));
    await live.until(() => pendings(live.events).length > 0);
    expect(pendings(live.events)).toEqual([hash(9)]);
  });

  it('runs without pending transactions where the node has no such subscription', async () => {
    const fake = await node({
      length: 3,
      override: ({ method, params }) =>
        method === 'eth_subscribe' &&
        String((params as readonly unknown[])[0])
          .toLowerCase()
          .includes('pending')
          ? { error: { code: -32601, message: 'not available' } }
          : undefined,
    });
    const live = listen(sourceOf(fake).source);
    await waitFor(() => fake.seen.filter(({ method }) => method === 'eth_subscribe').length === 6);
    fake.announce(fake.mine(0));
    await live.until(() => live.heads().includes(3));
  });
});
