import fc from 'fast-check';
import { decodeEventLog } from 'viem';
import { describe, expect, it } from 'vitest';
import type { Hex } from '../source.js';
import { abiOf, encodeEvent, hash } from './build.fixture.js';
import { MalformedError } from './hex.js';
import { type DecodedName, logDecoders } from './log-decoders.js';
import { realLogs } from './real-logs.fixture.js';

/** Arguments as text, so that decimal ids and bigints compare. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
  }
  return typeof value === 'boolean' ? value : String(value).toLowerCase();
}

const decode = (event: DecodedName, topics: readonly string[], data: string) => logDecoders[event](topics, data);

function viemArgs(event: DecodedName, topics: readonly Hex[], data: Hex): Record<string, unknown> {
  const { args } = decodeEventLog({ abi: [abiOf(event)], topics: topics as [Hex, ...Hex[]], data });
  return args as unknown as Record<string, unknown>;
}

function expectSubset(decoded: object, reference: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(decoded)) {
    const expected = value === null ? hash('00') : value;
    expect(plain(expected), key).toEqual(plain(reference[key]));
  }
}

const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((b) => `0x${Buffer.from(b).toString('hex')}` as Hex);
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((b) => `0x${Buffer.from(b).toString('hex')}` as Hex);
const bytes = fc.uint8Array({ maxLength: 200 }).map((b) => `0x${Buffer.from(b).toString('hex')}` as Hex);
const uint = (below: bigint) => fc.bigInt({ min: 0n, max: below - 1n });

/** Value of an ABI input within what its decoder accepts. */
function argument(event: DecodedName, name: string, type: string): fc.Arbitrary<unknown> {
  if (type === 'address') return address;
  const sized = /^bytes(29|31|32)$/.exec(type);
  if (sized !== null) return word.map((text) => text.slice(0, 2 + Number(sized[1]) * 2));
  if (type === 'address[]') return fc.array(address, { maxLength: 5 });
  if (type === 'bytes') return bytes;
  if (type === 'bool') return fc.boolean();
  if (type === 'uint8') return fc.integer({ min: 0, max: 1 });
  if (type === 'int256') return fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n });
  if (type === 'uint256[]') {
    if (name === 'result') return fc.tuple(uint(2n ** 256n), fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }));
    const item = name === 'values' || name === 'amounts' ? uint(10n ** 38n) : uint(2n ** 256n);
    return fc.array(item, {
      minLength: event === 'transferBatch' ? 3 : 0,
      maxLength: event === 'transferBatch' ? 3 : 9,
    });
  }
  if (/Id$|AssetId$|^id$|feeCharged|indexSet|Timestamp$|reward|Bond|timestamp/.test(name) && type === 'uint256') {
    return uint(name === 'expirationTimestamp' ? 2n ** 64n : 2n ** 256n);
  }
  if (name === 'feeBips') return uint(10_001n);
  if (/^(outcomeSlotCount|index|count)$/.test(name) || event === 'operatorQuestionPrepared') return uint(2n ** 31n);
  return uint(/^order|^feeRefunded/.test(event) ? 2n ** 64n : 10n ** 38n);
}

function argumentsOf(event: DecodedName): fc.Arbitrary<Record<string, unknown>> {
  const inputs = abiOf(event).inputs.map((input) => [input.name ?? '', argument(event, input.name ?? '', input.type)]);
  const record = fc.record(Object.fromEntries(inputs) as Record<string, fc.Arbitrary<unknown>>);
  if (event !== 'operatorQuestionPrepared') return record;
  return record.map((args) => {
    const marketId = `${String(args.marketId).slice(0, 64)}00`;
    return { ...args, marketId, questionId: `${marketId.slice(0, 64)}2a` };
  });
}

const names = Object.keys(logDecoders) as DecodedName[];

describe('log decoders', () => {
  it('has the eleven real logs', () => {
    expect(realLogs).toHaveLength(11);
    expect(new Set(realLogs.map((log) => log.event)).size).toBe(11);
  });

  it.each(realLogs)('decodes a real $event to the recorded arguments and like viem', (log) => {
    const decoded = decode(log.event, log.topics, log.data);
    expectSubset(decoded, log.args);
    expectSubset(decoded, viemArgs(log.event, log.topics, log.data));
  });

  it.each(names)('agrees with viem on generated %s logs', (event) => {
    fc.assert(
      fc.property(argumentsOf(event), (args) => {
        const { topics, data } = encodeEvent(event, args);
        expectSubset(decode(event, topics, data), viemArgs(event, topics, data));
      }),
      { numRuns: 60 },
    );
  });

  it.each(names)('rejects %s logs that are truncated, padded, have non-zero padding or are not hex', (event) => {
    fc.assert(
      fc.property(argumentsOf(event), fc.nat(), fc.constantFrom('g', ' ', '_', '\u0000'), (args, seed, bad) => {
        const { topics, data } = encodeEvent(event, args);
        const tryDecode = (t: readonly string[], d: string): 'ok' | 'rejected' => {
          try {
            decode(event, t, d);
            return 'ok';
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedError);
            return 'rejected';
          }
        };
        const cut = 2 + (seed % Math.max(1, data.length - 2));
        if (data.length > 2) expect(tryDecode(topics, data.slice(0, cut))).toBe('rejected');
        expect(tryDecode(topics, `${data}0`)).toBe('rejected');
        expect(tryDecode(topics, data.slice(2))).toBe('rejected');
        if (topics.length > 1) {
          const hole = 1 + (seed % (topics.length - 1));
          const dirty: string[] = [...topics];
          dirty[hole] = `${topics[hole]!.slice(0, 40)}${bad}${topics[hole]!.slice(41)}`;
          expect(tryDecode(dirty, data)).toBe(isRead(event, hole) ? 'rejected' : 'ok');
        }
        tryDecode(topics.slice(0, seed % topics.length), data);
        const spot = 2 + (seed % Math.max(1, data.length - 2));
        tryDecode(topics, `${data.slice(0, spot)}${bad}${data.slice(spot + 1)}`);
      }),
      { numRuns: 60 },
    );
  });

  /** Topics whose value is not used are not checked. */
  function isRead(event: DecodedName, topic: number): boolean {
    return !(event === 'questionInitialized' && topic === 2);
  }

  it('rejects an address with non-zero padding', () => {
    const log = realLogs.find((one) => one.event === 'orderFilledV2')!;
    const dirty = log.topics.with(2, log.topics[2]!.replace('0x00', '0x01') as Hex);
    expect(() => decode(log.event, dirty, log.data)).toThrow('non-zero address padding');
  });

  it('rejects addresses and hashes that are not lower case', () => {
    const log = realLogs.find((one) => one.event === 'orderFilledV2')!;
    for (const index of [1, 2]) {
      const upper: string[] = [...log.topics];
      upper[index] = `0x${log.topics[index]!.slice(2).toUpperCase()}`;
      expect(() => decode(log.event, upper, log.data)).toThrow('lower-case');
    }
  });

  it('rejects offsets and lengths that point outside the data', () => {
    const log = realLogs.find((one) => one.event === 'transferBatch')!;
    const huge = 'f'.repeat(64);
    const words = log.data.slice(2).match(/.{64}/g)!;
    for (const index of [0, 1, 2, 5]) {
      const data = `0x${words.with(index, huge).join('')}`;
      expect(() => decode(log.event, log.topics, data)).toThrow(MalformedError);
      const large = `0x${words.with(index, 'ffffffff'.padStart(64, '0')).join('')}`;
      expect(() => decode(log.event, log.topics, large)).toThrow(MalformedError);
    }
  });

  it('rejects amounts over 64 bits in fills and over 38 digits elsewhere', () => {
    const fill = realLogs.find((one) => one.event === 'orderFilledV1')!;
    const words = fill.data.slice(2).match(/.{64}/g)!;
    const with64 = (value: bigint) => `0x${words.with(2, value.toString(16).padStart(64, '0')).join('')}`;
    expect(decode('orderFilledV1', fill.topics, with64(2n ** 64n - 1n))).toMatchObject({
      makerAmountFilled: 2n ** 64n - 1n,
    });
    expect(() => decode('orderFilledV1', fill.topics, with64(2n ** 64n))).toThrow('exceeds 64 bits');
    const transfer = realLogs.find((one) => one.event === 'transferSingle')!;
    const with38 = (value: bigint) => `${transfer.data.slice(0, 66)}${value.toString(16).padStart(64, '0')}`;
    expect(decode('transferSingle', transfer.topics, with38(10n ** 38n - 1n))).toMatchObject({
      value: 10n ** 38n - 1n,
    });
    expect(() => decode('transferSingle', transfer.topics, with38(10n ** 38n))).toThrow('exceeds 38 digits');
  });

  it('rejects sides other than 0 and 1', () => {
    const log = realLogs.find((one) => one.event === 'orderFilledV2')!;
    const data = log.data.replace(/^0x0{63}1/, `0x${'0'.repeat(63)}2`);
    expect(() => decode('orderFilledV2', log.topics, data)).toThrow('side');
  });
});
