import { toEventSelector } from 'viem';
import { describe, expect, it } from 'vitest';
import { addresses, contracts, eventsOf } from './contracts.js';
import { encodeEvent, hash, rpcLog, TX } from './decode/build.fixture.js';
import { decodeBlock } from './decode/index.js';
import { alice, bob, fillV2, M } from './decode/scenario.fixture.js';
import { eventAbi } from './event-abi.js';
import { isUnknown, isUnread, unreadEventAbi } from './unread-events.js';

const NEW_EVENT = hash('fe');
const log = (address: `0x${string}`, topic0: string | undefined, index = 0, data = '0x0b' as `0x${string}`) =>
  rpcLog(address, topic0 === undefined ? [] : [topic0 as `0x${string}`], data, index);
const blockOf = (logs: ReturnType<typeof log>[]) => ({
  number: 7,
  hash: logs[0]!.blockHash,
  parentHash: hash('aa'),
  timestampS: 1_790_000_000,
  txCount: 1,
  logs,
});

describe('unread events', () => {
  it.each(Object.entries(unreadEventAbi))('topic0 of %s is the keccak of its signature', (_name, event) => {
    expect(toEventSelector(event.signature)).toBe(event.topic0);
  });

  it('do not overlap with the decoded events of the same contract', () => {
    for (const contract of contracts)
      for (const name of eventsOf(contract))
        expect(isUnread(log(contract.address, eventAbi[name].topic0)), `${contract.name} ${name}`).toBe(false);
  });

  it('distinguish a known event of one contract from the same event of another', () => {
    const transfer = eventAbi.erc20Transfer.topic0;
    expect([isUnread(log(addresses.pusd, transfer)), isUnknown(log(addresses.pusd, transfer))]).toEqual([true, false]);
    expect(isUnknown(log(addresses.exchangeV2, transfer))).toBe(true);
    // A fill of another generation: the exchange was changed.
    expect(isUnknown(log(addresses.exchangeV2, eventAbi.orderFilledV1.topic0))).toBe(true);
    expect(isUnknown(log(addresses.exchangeV2, undefined))).toBe(true);
    // Events of contracts that are not watched are never classified.
    expect(isUnknown(log(addresses.usdcE, NEW_EVENT))).toBe(false);
    expect(isUnknown(log(addresses.ctfCollateralAdapter, NEW_EVENT))).toBe(false);
  });
});

describe('a log of an unknown event', () => {
  const fill = fillV2(addresses.exchangeV2, alice, bob, 0, M, 2n * M);
  const known = () => {
    const { topics, data } = encodeEvent(fill.event, fill.args);
    return rpcLog(fill.address, topics, data, 1);
  };

  it('is stored raw in block order and counts as not decoded', () => {
    const unknown = [
      log(addresses.exchangeV2, NEW_EVENT, 0),
      log(addresses.pusd, NEW_EVENT, 2),
      log(addresses.pusd, eventAbi.erc20Transfer.topic0, 3),
    ];
    const { events, problems, contracts: counted } = decodeBlock(blockOf([unknown[0]!, known(), ...unknown.slice(1)]));
    expect(problems).toEqual([]);
    expect(events.map(({ kind, value }) => [kind, value.log_index])).toEqual([
      ['unknown_log', 0],
      ['trade', 1],
      ['unknown_log', 2],
    ]);
    expect(events[0]?.value).toMatchObject({
      id: `${TX}-0`,
      address: addresses.exchangeV2,
      topics: [NEW_EVENT],
      data: '0x0b',
    });
    expect(counted).toEqual([
      { address: addresses.exchangeV2, logs: 2, decoded: 1 },
      { address: addresses.pusd, logs: 1, decoded: 0 },
    ]);
  });

  it('beyond the size limit is a problem and is counted', () => {
    const {
      events,
      problems,
      contracts: counted,
    } = decodeBlock(blockOf([log(addresses.exchangeV3, NEW_EVENT, 0, `0x${'00'.repeat(40_000)}`)]));
    expect(events).toEqual([]);
    expect(problems.map(({ reason }) => reason)).toEqual([
      'unknown event: data of an unknown event exceeds the size limit',
    ]);
    expect(counted).toEqual([{ address: addresses.exchangeV3, logs: 1, decoded: 0 }]);
  });
});
