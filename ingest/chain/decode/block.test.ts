import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCodec } from '../../../schemas/codec.js';
import { addresses } from '../contracts.js';
import type { Hex, RpcLog } from '../source.js';
import { blockEvent, decodeBlock } from './block.js';
import { blockOf, buildBlock, hash, type LogSpec, rpcLog, wallet } from './build.fixture.js';
import { realLogs } from './real-logs.fixture.js';
import { kinds } from './scenario.fixture.js';

const M = 1_000_000n;
const fill = (address: Hex, taker: Hex, usdc: bigint, tx: Hex): LogSpec => ({
  address,
  event: 'orderFilledV2',
  tx,
  args: {
    orderHash: hash('0d'),
    maker: wallet('aa'),
    taker,
    side: 0,
    tokenId: 5n,
    makerAmountFilled: usdc,
    takerAmountFilled: 2n * usdc,
    fee: 0n,
    builder: hash('00'),
    metadata: hash('00'),
  },
});
const transfer = (tx: Hex): LogSpec => ({
  address: addresses.conditionalTokens,
  event: 'transferSingle',
  tx,
  args: { operator: wallet('aa'), from: wallet('aa'), to: wallet('bb'), id: 5n, value: M },
});

describe('decodeBlock', () => {
  it('decodes real logs to events that fit the schemas', () => {
    const logs = realLogs.map((log, i) => rpcLog(log.address, log.topics, log.data, i, log.transactionHash));
    const { events, problems } = decodeBlock(blockOf(logs));
    expect(problems).toEqual([]);
    // The ERC-20 leg is not watched; batch and burn of one adapter merge explain nothing alone.
    expect(events.map((event) => event.kind)).toEqual([
      'redemption',
      'redemption',
      'condition_resolved',
      'oracle',
      'position_change',
      'position_change',
      'position_change',
      'trade',
      'trade',
      'position_split',
      'position_merge',
      'positions_converted',
    ]);
    const codec = createCodec();
    for (const event of events) expect(codec.decode(codec.encode(event.kind, event.value as never))).toEqual(event);
    expect(events[0]?.value).toMatchObject({
      redeemer: '0x5d4aba8ad45bb5eab3499a0294b42da5d1e455d3',
      payout: 59_076_955n,
    });
    expect(events[7]?.value).toMatchObject({ side: 'SELL', usdc: 3_929_200n, shares: 4_180_000n, exchange_version: 2 });
    expect(events[8]?.value).toMatchObject({
      side: 'BUY',
      usdc: 7_434_000n,
      shares: 17_700_000n,
      fee: 743_400n,
      fee_shares: 1_770_000n,
    });
    expect(events[11]?.value).toMatchObject({ index_set: '0x400', amount: 10_000_000n });
  });

  it('orders events by log index for any order of the logs', () => {
    const specs = [fill(addresses.exchangeV2, wallet('bb'), M, hash('01')), transfer(hash('02')), transfer(hash('01'))];
    const { logs } = buildBlock(...specs);
    const { events } = decodeBlock(blockOf([logs[2]!, logs[0]!, logs[1]!]));
    expect(events.map((event) => event.value.log_index)).toEqual([0, 1, 2]);
  });

  it('reports logs of another block and duplicate or invalid log indexes', () => {
    const log = buildBlock(transfer(hash('01'))).logs[0]!;
    const bad: RpcLog[] = [
      { ...log, blockHash: hash('ff') },
      { ...log, logIndex: '0x' },
      { ...log, logIndex: '0xffffffffffffffff' },
      { ...log, logIndex: '12' as Hex },
      { ...log, transactionHash: '0x12' },
      log,
      log,
    ];
    const { events, problems } = decodeBlock(blockOf(bad));
    expect(events).toHaveLength(1);
    expect(problems).toHaveLength(6);
  });

  it('reports a slot count that does not fit the schema', () => {
    const real = realLogs.find((log) => log.event === 'conditionResolution')!;
    const data = `0x${'0'.repeat(56)}ffffffff${real.data.slice(66)}` as Hex;
    const { events, problems } = decodeBlock(blockOf([rpcLog(real.address, real.topics, data, 0, hash('01'))]));
    expect(events).toEqual([]);
    expect(problems.map((problem) => problem.reason)).toEqual([expect.stringContaining('outcome slot count')]);
  });

  it('never throws on corrupted logs; each yields an event or a problem', () => {
    const whole = realLogs.filter((log) => log.event !== 'erc20Transfer');
    const mutation = fc.record({
      which: fc.nat({ max: whole.length - 1 }),
      kind: fc.constantFrom('cut', 'drop topic', 'overwrite', 'odd', 'word', 'type'),
      seed: fc.nat(),
      piece: fc.constantFrom('f'.repeat(64), 'zz', '', `${'0'.repeat(56)}ffffffff`, '0'.repeat(64)),
    });
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 6 }), (mutations) => {
        const logs = mutations.map(({ which, kind, seed, piece }, i): RpcLog => {
          const real = whole[which]!;
          const log = rpcLog(real.address, real.topics, real.data, i, hash(`0${i}`));
          const spot = seed % (log.data.length + 1);
          const topicAt = 1 + (seed % (log.topics.length - 1));
          switch (kind) {
            case 'cut':
              return { ...log, data: log.data.slice(0, spot) as Hex };
            case 'drop topic':
              return { ...log, topics: log.topics.toSpliced(topicAt, 1) };
            case 'overwrite':
              return {
                ...log,
                data: `${log.data.slice(0, spot)}${piece}${log.data.slice(spot + piece.length)}` as Hex,
              };
            case 'odd':
              return { ...log, data: `${log.data}a` };
            case 'word':
              return { ...log, topics: log.topics.with(topicAt, `0x${piece}`) };
            default:
              return { ...log, data: undefined as never, topics: log.topics.with(topicAt, null as never) };
          }
        });
        const { events, problems } = decodeBlock(blockOf(logs));
        const placed = new Set([
          ...events.map((event) => event.value.log_index),
          ...problems.map((problem) => Number(problem.log.logIndex)),
        ]);
        for (const [i, { which, kind }] of mutations.entries()) {
          const { event } = whole[which]!;
          // Well-formed and no event: an empty batch, and a set below another position or of some outcomes only.
          const isOfOtherTokens =
            ['positionSplit', 'positionsMerge', 'payoutRedemption'].includes(event) &&
            (kind === 'word' || kind === 'overwrite');
          if (event !== 'transferBatch' && !isOfOtherTokens) expect(placed).toContain(i);
        }
        const codec = createCodec();
        for (const event of events) codec.encode(event.kind, event.value as never);
      }),
      { numRuns: 1000 },
    );
  });

  it('skips logs without topics and of other contracts, stores unknown ones', () => {
    const log = buildBlock(transfer(hash('01'))).logs[0]!;
    const skipped = [
      { ...log, topics: undefined as never },
      { ...log, address: wallet('ee') },
    ];
    expect(decodeBlock(blockOf(skipped))).toEqual({ events: [], problems: [], contracts: [] });
    const unknown = [
      { ...log, topics: [], logIndex: '0x0' as const },
      { ...log, topics: [hash('ab'), ...log.topics.slice(1)], logIndex: '0x1' as const },
    ];
    expect(kinds(decodeBlock(blockOf(unknown)).events)).toEqual(['unknown_log', 'unknown_log']);
  });
});

describe('blockEvent', () => {
  it('counts distinct transactions with a log where the source has no transaction list', () => {
    const block = buildBlock(
      fill(addresses.exchangeV2, wallet('bb'), 3n * M, hash('01')),
      fill(addresses.exchangeV2, wallet('bb'), 4n * M, hash('01')),
      transfer(hash('03')),
    );
    const foreign = { ...block.logs[0]!, address: wallet('99'), transactionHash: hash('04'), logIndex: '0x9' as const };
    const uncounted = { ...block, txCount: null, logs: [...block.logs, foreign] };
    const { events } = decodeBlock(uncounted);
    expect(blockEvent(uncounted, events)).toMatchObject({ tx_count: 3, polymarket_tx_count: 2 });
    expect(blockEvent({ ...uncounted, logs: [] }, [])).toMatchObject({ tx_count: 0, polymarket_tx_count: 0 });
  });

  it('counts transactions and settlements, and each match once', () => {
    const block = buildBlock(
      fill(addresses.exchangeV2, wallet('bb'), 3n * M, hash('01')),
      fill(addresses.exchangeV2, wallet('bb'), 4n * M, hash('01')),
      fill(addresses.exchangeV2, addresses.exchangeV2, 7n * M, hash('01')),
      fill(addresses.exchangeV3, wallet('cc'), M, hash('02')),
      transfer(hash('03')),
    );
    expect(blockEvent(block, decodeBlock(block).events)).toEqual({
      id: 'block-90000000',
      block_number: 90_000_000,
      block_hash: hash('b1'),
      parent_hash: hash('a0'),
      timestamp_ms: 1_784_851_200_000,
      tx_count: 77,
      polymarket_tx_count: 3,
      settlement_count: 2,
      trade_volume: 8n * M,
      contracts: null,
    });
  });
});
