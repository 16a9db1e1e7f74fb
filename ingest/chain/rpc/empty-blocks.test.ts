import { afterEach, describe, expect, it } from 'vitest';
import type { Hex } from '../source.js';
import { closeAll, historyOf, node, sourceOf } from './rpc-source.fixture.js';

afterEach(closeAll);

const FULL: Hex = `0x${'f'.repeat(512)}`;
const NONE: Hex = `0x${'0'.repeat(512)}`;

interface Filter {
  readonly blockHash?: Hex;
  readonly fromBlock?: Hex;
  readonly toBlock?: Hex;
}
type Call = { readonly method: string; readonly params: readonly unknown[] };
const filterOf = ({ method, params }: Call): Filter | null =>
  method === 'eth_getLogs' ? ((params[0] as Filter | undefined) ?? null) : null;
const readsOf = (calls: readonly Call[], hash: Hex | undefined) =>
  calls.filter((call) => filterOf(call)?.blockHash === hash).length;

describe('history near its end', () => {
  it('has the logs of blocks that the node behind eth_getLogs lacks, on a node without batches', async () => {
    let behind = 3;
    const fake = await node({
      length: 100,
      noBatches: true,
      logsAt: (number) => (number % 4 === 0 ? 0 : 2),
      bloomAt: (number) => (number % 4 === 0 ? NONE : FULL),
      override: (request) => {
        const filter = filterOf(request);
        if (filter === null || behind === 0) return undefined;
        // This node has blocks up to 79; headers come from another one, which has all.
        if (filter.blockHash !== undefined) {
          if (fake.blocks.findIndex(({ hash }) => hash === filter.blockHash) <= 79) return undefined;
          behind -= 1;
          return { error: { code: -32000, message: 'unknown block' } };
        }
        const known = fake.blocks.slice(Number(filter.fromBlock), 80).filter(({ logs }) => logs > 0);
        return { result: known.flatMap((block) => fake.logsOf(block)) };
      },
    });
    const blocks = await historyOf(sourceOf(fake).source, 0, 99);
    const expected = Array.from({ length: 100 }, (_, number) => number).filter((number) => number % 4 !== 0);
    expect(blocks.map(({ number, logs }) => [number, logs.length])).toEqual(expected.map((number) => [number, 2]));
    expect(behind).toBe(0);
  });

  it('has the logs of a block that the node has not indexed yet', async () => {
    let early = 0;
    const fake = await node({
      length: 10,
      logsAt: () => 1,
      bloomAt: () => FULL,
      override: (request) => {
        const filter = filterOf(request);
        const isEarly = filter?.blockHash === fake.blocks[7]?.hash || filter?.fromBlock === '0x7';
        if (filter === null || !isEarly || early === 3) return undefined;
        early += 1;
        return { result: [] };
      },
    });
    expect((await historyOf(sourceOf(fake).source, 7, 7)).map(({ logs }) => logs.length)).toEqual([1]);
    expect(readsOf(fake.seen, fake.blocks[7]?.hash)).toBe(3);
  });

  it('has no block that stays empty though its header admits logs, which it reads three times', async () => {
    const fake = await node({ length: 10, bloomAt: (number) => (number === 5 ? FULL : NONE) });
    expect(await historyOf(sourceOf(fake).source, 0, 9)).toEqual([]);
    expect(fake.blocks.map(({ hash }) => readsOf(fake.seen, hash))).toEqual([0, 0, 0, 0, 0, 3, 0, 0, 0, 0]);
  });

  it('checks the newest 128 blocks without logs, and no older ones', async () => {
    const fake = await node({ length: 400, logsAt: (number) => (number % 2 === 0 ? 1 : 0), bloomAt: () => NONE });
    await historyOf(sourceOf(fake, { ranges: { startBlocks: 100, maxBlocks: 100 } }).source, 0, 399);
    const headers = fake.seen.filter(({ method }) => method === 'eth_getBlockByNumber');
    const odd = headers.map(({ params }) => Number(params[0])).filter((number) => number % 2 === 1);
    // Each range also requests the header of its last block.
    const checked = Array.from({ length: 64 }, (_, index) => 273 + 2 * index);
    expect(odd.toSorted((a, b) => a - b)).toEqual([99, 199, 299, 399, ...checked].toSorted((a, b) => a - b));
  });
});
