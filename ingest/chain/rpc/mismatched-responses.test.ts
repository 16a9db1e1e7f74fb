import { afterEach, describe, expect, it } from 'vitest';
import type { Hex } from '../source.js';
import { type FakeNode, hash, type Request } from './fake-node.fixture.js';
import { closeAll, EXCHANGE, historyOf, node, sourceOf } from './rpc-source.fixture.js';

afterEach(closeAll);

const header = (number: number, own: Hex) => ({
  number: `0x${number.toString(16)}`,
  hash: own,
  parentHash: hash(1),
  timestamp: '0x65000000',
  transactions: [],
});
const log = (number: number, own: Hex, index = 0) => ({
  address: EXCHANGE,
  topics: [hash(1)],
  data: '0x',
  blockNumber: `0x${number.toString(16)}`,
  blockHash: own,
  transactionHash: hash(7),
  transactionIndex: '0x0',
  logIndex: `0x${index.toString(16)}`,
});

/** A node whose first response to the method is `result`. */
async function mistaken(method: string, result: (request: Request, fake: FakeNode) => unknown) {
  let wrong = 0;
  const fake: FakeNode = await node({
    length: 10,
    logsAt: () => 1,
    override: (request) => {
      if (request.method !== method || wrong > 0) return undefined;
      wrong += 1;
      return { result: result(request, fake) };
    },
  });
  return { fake, source: sourceOf(fake).source, wrong: () => wrong };
}

describe('a response of another block than the requested one is requested again', () => {
  it.each<[string, string, (request: Request, fake: FakeNode) => unknown]>([
    ['a block by hash', 'eth_getBlockByHash', (_, fake) => header(5, fake.blocks[6]!.hash)],
    ['a block by number', 'eth_getBlockByNumber', (_, fake) => header(6, fake.blocks[6]!.hash)],
    ['logs of another hash', 'eth_getLogs', (_, fake) => [log(5, fake.blocks[6]!.hash)]],
    ['logs of another number', 'eth_getLogs', (_, fake) => [log(6, fake.blocks[5]!.hash)]],
    ['one log twice', 'eth_getLogs', (_, fake) => [log(5, fake.blocks[5]!.hash), log(5, fake.blocks[5]!.hash)]],
  ])('%s', async (_name, method, result) => {
    const { fake, source, wrong } = await mistaken(method, result);
    const own = fake.blocks[5]!;
    const read = method === 'eth_getBlockByHash' ? source.blockByHash(own.hash) : source.blockByNumber(5);
    expect(await read).toMatchObject({
      number: 5,
      hash: own.hash,
      parentHash: own.parentHash,
      logs: [{ blockHash: own.hash, blockNumber: '0x5' }],
    });
    expect(wrong()).toBe(1);
  });

  it.each([1, 3])('the header of block %i of a range', async (number) => {
    let wrong = 0;
    const fake: FakeNode = await node({
      length: 4,
      logsAt: () => 1,
      override: ({ method, params }) => {
        const isWrong = method === 'eth_getBlockByNumber' && Number(params[0]) === number && wrong === 0;
        wrong += isWrong ? 1 : 0;
        return isWrong ? { result: header(2, fake.blocks[number]!.hash) } : undefined;
      },
    });
    const blocks = await historyOf(sourceOf(fake).source, 1, 3);
    expect(blocks.map((block) => [block.number, block.hash])).toEqual(
      fake.blocks.slice(1, 4).map((block) => [block.number, block.hash]),
    );
    expect(wrong).toBe(1);
  });
});
