import path from 'node:path';
import { type Abi, decodeEventLog, decodeFunctionData, hashTypedData, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { createLiveMarkets, openRecording } from '../../shared/recorded/index.js';
import { addresses } from '../contracts.js';
import { eventAbi } from '../event-abi.js';
import { functionAbi } from '../order-abi.js';
import type { Hex, RpcLog } from '../source.js';
import { blockAt } from './block-clock.js';
import { createRecordedHistory } from './history.js';
import { createParties } from './parties.js';
import { takerFeeV2 } from './settlement.js';
import { createRecordedTail } from './tail.js';
import { createRecordedTransactions, type MatchedOrder, type RecordedMatch } from './transactions.js';

const recording = openRecording(path.join(import.meta.dirname, '../../../tests/recorded/set'));
const chain = recording.chain();
const parties = createParties(chain);
const transactions = createRecordedTransactions(chain, parties);
const abi = parseAbi(Object.values(eventAbi).map(({ signature }) => signature) as readonly string[]) as Abi;

interface Decoded {
  readonly name: string;
  readonly address: Hex;
  readonly args: Readonly<Record<string, unknown>>;
}

/** viem picks the V1 or V2 event by topic0; the address keeps the generations apart. */
function decode(log: RpcLog): Decoded {
  const topics = log.topics as [Hex, ...Hex[]];
  const decoded: unknown = decodeEventLog({ abi, data: log.data, topics, strict: true });
  const { eventName: name, args } = decoded as { eventName: string; args: Decoded['args'] };
  return { name, address: log.address, args };
}

const lower = (value: unknown): string => String(value).toLowerCase();

describe('V1 logs of the history', () => {
  const history = createRecordedHistory(recording, transactions, 'all');

  const sides = (leg: MatchedOrder, token: bigint) =>
    leg.side === 0
      ? [0n, token, BigInt(leg.usdc), BigInt(leg.shares)]
      : [token, 0n, BigInt(leg.shares), BigInt(leg.usdc)];

  it('decode with viem to the recorded trades', () => {
    let checked = 0;
    const kinds = new Set<string>();
    for (let index = 0; index < transactions.length; index += 401) {
      const fact = transactions.at(index);
      const block = history.block(blockAt(fact.timeS));
      expect(block.timestampS).toBe(fact.timeS);
      const logs = block.logs.filter((log) => log.transactionHash === fact.hash).map(decode);
      for (const action of fact.actions) {
        const market = recording.markets[action.market]!;
        if (action.kind !== 'match') continue;
        const exchange = market.negRisk ? addresses.exchangeV1NegRisk : addresses.exchangeV1;
        const filled = logs.filter((log) => log.name === 'OrderFilled');
        expect(filled.map((log) => log.address)).toEqual(filled.map(() => exchange));
        const expected = [...action.makers, action.taker].map((leg) => [
          leg.party.address,
          leg === action.taker ? exchange : action.taker.party.address,
          ...sides(leg, BigInt(market.tokenIds[leg.outcome]!)),
          BigInt(leg === action.taker ? action.takerFee : 0),
        ]);
        expect(
          filled.map(({ args }) => [
            lower(args.maker),
            lower(args.taker),
            args.makerAssetId,
            args.takerAssetId,
            args.makerAmountFilled,
            args.takerAmountFilled,
            args.fee,
          ]),
        ).toEqual(expected);
        const matched = logs.find((log) => log.name === 'OrdersMatched')!;
        expect(matched.args.takerOrderHash).toBe(filled.at(-1)!.args.orderHash);
        expect(new Set(filled.map(({ args }) => args.orderHash)).size).toBe(filled.length);
        const sets = action.makers.filter((leg) => leg.side === action.taker.side).length;
        expect(logs.filter((log) => log.name === 'PositionSplit' || log.name === 'PositionsMerge')).toHaveLength(sets);
        kinds.add(sets > 0 ? 'mint' : 'complementary');
        checked += 1;
      }
    }
    expect(checked).toBeGreaterThan(400);
    expect(kinds.size).toBe(2);
  });

  it('decode with viem to the actions of users and the oracle', () => {
    const users = [...Array(transactions.length).keys()].filter((i) =>
      transactions.at(i).actions.some(({ kind }) => kind !== 'match'),
    );
    for (const index of users.filter((_, i) => i % 37 === 0)) {
      const fact = transactions.at(index);
      const logs = history.block(blockAt(fact.timeS)).logs.filter((log) => log.transactionHash === fact.hash);
      const events = logs
        .map(decode)
        .filter(({ name, address }) => name !== 'OrderFilled' && address === addresses.conditionalTokens);
      const expected = fact.actions.flatMap((action) => {
        if (action.kind === 'match') return [];
        const { conditionId } = recording.markets[action.market]!;
        const name = action.kind === 'merge' ? 'PositionsMerge' : 'PayoutRedemption';
        return [[name, action.party.address, conditionId, BigInt(action.amount)]];
      });
      expect(
        events.map(({ name, args }) => [
          name,
          lower(args.stakeholder ?? args.redeemer),
          args.conditionId,
          args.amount ?? args.payout,
        ]),
      ).toEqual(expect.arrayContaining(expected));
    }
    const market = recording.markets.find(({ slug }) => slug === 'btc-updown-5m-1784851200')!;
    const steps = [market.createdS!, market.resolvedS!].map((timeS) =>
      history
        .block(blockAt(timeS))
        .logs.map(decode)
        .find(({ args }) => args.conditionId === market.conditionId),
    );
    expect(steps[0]).toMatchObject({
      name: 'ConditionPreparation',
      args: { questionId: market.questionId, outcomeSlotCount: 2n },
    });
    expect(steps[1]).toMatchObject({ name: 'ConditionResolution', args: { payoutNumerators: [0n, 1n] } });
  });
});

describe('V2 settlements of the tail', () => {
  const tail = createRecordedTail(recording, transactions, parties, createLiveMarkets(recording));
  const calls = parseAbi([functionAbi.matchOrdersV2.signature]);
  const orderTypes = {
    Order: [
      { name: 'salt', type: 'uint256' },
      { name: 'maker', type: 'address' },
      { name: 'signer', type: 'address' },
      { name: 'tokenId', type: 'uint256' },
      { name: 'makerAmount', type: 'uint256' },
      { name: 'takerAmount', type: 'uint256' },
      { name: 'side', type: 'uint8' },
      { name: 'signatureType', type: 'uint8' },
      { name: 'timestamp', type: 'uint256' },
      { name: 'metadata', type: 'bytes32' },
      { name: 'builder', type: 'bytes32' },
    ],
  } as const;
  const domain = {
    name: 'Polymarket CTF Exchange',
    version: '2',
    chainId: 137,
    verifyingContract: addresses.exchangeV2,
  } as const;

  it('have calldata that viem decodes to the logged order hashes and amounts', () => {
    const first = blockAt(Date.UTC(2026, 10, 21, 15) / 1000);
    let settlements = 0;
    let reverted = 0;
    const shapes = new Set<string>();
    for (let number = first; number < first + 40; number++) {
      const { logs, timestampS } = tail.block(number, false);
      const blockMs = timestampS * 1000;
      for (const { transaction, leadMs } of tail.pending(number)) {
        expect(transaction.to).toBe(addresses.exchangeV2);
        expect(leadMs).toBeGreaterThanOrEqual(1500);
        expect(leadMs).toBeLessThanOrEqual(2500);
        const own = logs.filter((log) => log.transactionHash === transaction.hash);
        if (own.length === 0) {
          reverted += 1;
          continue;
        }
        const [conditionId, taker, makers, takerFill, makerFills, takerFee, makerFees] = decodeFunctionData({
          abi: calls,
          data: transaction.input,
        }).args;
        const filled = own.map(decode).filter(({ name }) => name === 'OrderFilled');
        const orders = [...makers, taker];
        const fills = [...makerFills, takerFill];
        expect(filled).toHaveLength(orders.length);
        orders.forEach((order, i) => {
          const { args } = filled[i]!;
          expect(hashTypedData({ domain, types: orderTypes, primaryType: 'Order', message: order })).toBe(
            args.orderHash,
          );
          expect(lower(args.maker)).toBe(lower(order.maker));
          expect(args.side).toBe(order.side);
          expect(args.tokenId).toBe(order.tokenId);
          expect(args.makerAmountFilled).toBe(fills[i]);
          expect(args.takerAmountFilled).toBe((fills[i]! * order.takerAmount) / order.makerAmount);
          expect(Number(order.timestamp)).toBeLessThan(blockMs);
        });
        expect(filled.at(-1)!.args.fee).toBe(takerFee);
        expect(makerFees.every((fee) => fee === 0n)).toBe(true);
        expect(own.some((log) => log.address === addresses.exchangeV2)).toBe(true);
        const sameSide = makers.some((maker) => maker.side === taker.side);
        for (const event of own.map(decode).filter(({ name }) => name === 'PositionSplit'))
          expect(event.args.conditionId).toBe(conditionId);
        shapes.add(`${taker.side}${sameSide}`);
        settlements += 1;
      }
    }
    expect(settlements).toBeGreaterThan(150);
    expect(reverted).toBeLessThan(settlements / 20);
    expect(shapes.size).toBeGreaterThan(2);
  });

  it('charge the fee of the venue', () => {
    // Real fills of exchange V2 with rate 0.07 (BUY: maker amount is USDC): fee in base units.
    expect(takerFeeV2(999_999, 1_219_511, 7)).toBe(12_590);
    expect(takerFeeV2(0, 0, 7)).toBe(0);
  });

  it('keep the recorded amounts of the makers', () => {
    const day = Date.UTC(2026, 10, 21, 15) / 1000;
    const expected: string[] = [];
    for (let i = 0; i < transactions.length; i++) {
      // 15:00:01 to 15:01:30 of the recorded day.
      const second = transactions.timeS[i]! - Date.UTC(2026, 2, 23, 15) / 1000;
      if (second < 1 || second > 90 || transactions.source[i] !== 0) continue;
      for (const action of transactions.at(i).actions)
        if (action.kind === 'match')
          for (const { party, usdc, shares } of (action as RecordedMatch).makers)
            expected.push(`${party.address} ${usdc} ${shares}`);
    }
    const got: string[] = [];
    for (let number = blockAt(day + 1); number <= blockAt(day + 90); number++) {
      for (const { transaction } of tail.pending(number)) {
        const [, , makers, , fills] = decodeFunctionData({ abi: calls, data: transaction.input }).args;
        makers.forEach((order, i) => {
          const taking = (fills[i]! * order.takerAmount) / order.makerAmount;
          got.push(
            `${lower(order.maker)} ${order.side === 0 ? fills[i] : taking} ${order.side === 0 ? taking : fills[i]}`,
          );
        });
      }
    }
    expect(expected.length).toBeGreaterThan(10);
    expect(got).toEqual(expect.arrayContaining(expected));
  });
});
