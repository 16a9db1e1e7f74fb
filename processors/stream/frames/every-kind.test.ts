import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyEvent, EventOf } from '../../../schemas/codec.js';
import { eventFrames, type StreamKind } from '../../../schemas/socket/frames.js';
import { createDraftBuilder } from '../draft-builder.js';
import type { Draft } from './frame.js';
import { emptyEnrichment, enrichmentWith, market } from './market.fixture.js';

/** Six-decimal base units as a number, converted by their digits. */
const decimal = (amount: bigint): number => {
  const digits = amount.toString().padStart(7, '0');
  return Number(`${digits.slice(0, -6)}.${digits.slice(-6)}`);
};
/** usdc / shares to six decimals, half up; 0 without shares. */
const ratio = (usdc: bigint, shares: bigint): number =>
  shares === 0n ? 0 : decimal((usdc * 10_000_000n + 5n * shares) / (shares * 10n));

const address = fc.integer({ min: 1, max: 9 }).map((n) => `0x${String(n).repeat(40)}`);
const hash = fc.integer({ min: 1, max: 9 }).map((n) => `0x${String(n).repeat(64)}`);
const amount = fc.oneof(fc.bigInt({ min: 0n, max: 5_000_000n }), fc.bigInt({ min: 0n, max: 10n ** 15n }));
const token = fc.constantFrom('9001', '9002', '77');
const condition = fc.constantFrom('0xc0', '0xc1');
const side = fc.constantFrom<'BUY' | 'SELL'>('BUY', 'SELL');
const ms = fc.integer({ min: 1_780_000_000_000, max: 1_790_000_000_000 });
const minedFields = {
  id: fc.string(),
  block_number: fc.nat(),
  block_hash: hash,
  timestamp_ms: ms,
  tx_hash: hash,
  log_index: fc.nat(9999),
};
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });

/** Fields of any of the kinds. */
interface Fields extends Readonly<Record<'tx_hash' | 'block_number' | 'log_index' | 'token_id', unknown>> {
  readonly stakeholder?: string;
  readonly redeemer?: string;
  readonly from?: string;
  readonly to?: string;
  readonly maker?: string;
  readonly taker?: string;
  readonly is_taker_order?: boolean;
  readonly neg_risk?: boolean;
  readonly timestamp_ms?: number;
  readonly amount?: bigint;
  readonly payout?: bigint;
  readonly usdc: bigint;
  readonly shares: bigint;
  readonly fee: bigint;
  readonly maker_amount: bigint;
}

/** Random events of each kind, by the fields of its schema. */
const events: { [K in AnyEvent['kind']]?: fc.Arbitrary<EventOf<K>['value']> } = {
  trade: fc.record({
    ...minedFields,
    exchange: address,
    exchange_version: fc.constantFrom(1, 2),
    neg_risk: fc.boolean(),
    order_hash: hash,
    maker: address,
    taker: address,
    is_taker_order: fc.boolean(),
    side,
    token_id: token,
    usdc: amount,
    shares: amount,
    maker_asset_id: token,
    taker_asset_id: token,
    maker_amount: amount,
    taker_amount: amount,
    fee: amount,
    fee_shares: amount,
    builder: orNull(hash),
  }),
  deposit: fc.record({
    ...minedFields,
    from: address,
    to: address,
    asset: address,
    amount,
    direction: fc.constantFrom<'deposit' | 'withdrawal'>('deposit', 'withdrawal'),
  }),
  position_change: fc.record({
    ...minedFields,
    operator: address,
    from: address,
    to: address,
    token_id: token,
    amount,
    transfer_type: fc.constantFrom<'single' | 'batch'>('single', 'batch'),
    batch_index: fc.nat(9),
  }),
  position_split: fc.record({
    ...minedFields,
    stakeholder: address,
    collateral_token: address,
    condition_id: condition,
    amount,
  }),
  position_merge: fc.record({
    ...minedFields,
    stakeholder: address,
    collateral_token: address,
    condition_id: condition,
    amount,
  }),
  positions_converted: fc.record({
    ...minedFields,
    stakeholder: address,
    market_id: hash,
    index_set: fc.constantFrom('0x1', '0x3', '0xff'),
    amount,
    question_count: fc.option(fc.integer({ min: 1, max: 256 })),
    fee: fc.option(fc.bigInt({ min: 0n, max: 1_000_000n })),
  }),
  redemption: fc.record({
    ...minedFields,
    redeemer: address,
    collateral_token: address,
    condition_id: condition,
    index_sets: fc.array(fc.integer({ min: 1, max: 3 })),
    amounts: orNull(fc.array(amount)),
    payout: amount,
    source: orNull(fc.constantFrom('AutoRedeemer.BinaryRedemption', 'AutoRedeemer.NegRiskRedemption')),
  }),
  oracle: fc.record({
    ...minedFields,
    oracle_type: fc.constantFrom('initialization', 'proposal', 'dispute', 'settled', 'resolution', 'reset', 'flag'),
    question_id: fc.constantFrom('0x51', '0x52'),
    adapter_address: address,
    condition_id: orNull(condition),
    creator: orNull(address),
    proposer: orNull(address),
    disputer: orNull(address),
    proposed_price: orNull(fc.constantFrom('0', '0.5', '1')),
    expiration_timestamp_ms: orNull(ms),
    resolved_price: orNull(fc.constantFrom('0', '0.5', '1')),
    payouts: orNull(fc.constantFrom(['0', '1'], ['1', '0'], ['1', '1'])),
  }),
  block: fc.record({
    id: fc.string(),
    block_number: fc.nat(),
    block_hash: hash,
    parent_hash: hash,
    timestamp_ms: ms,
    tx_count: orNull(fc.nat()),
    polymarket_tx_count: fc.nat(),
    settlement_count: fc.nat(),
    trade_volume: amount,
    contracts: fc.constant(null),
  }),
};

const framesOf = (drafts: readonly Draft[]) =>
  drafts.map((draft) => ({ type: draft.frameType ?? draft.kind, seq: 1, ...draft.body }));

describe.each(Object.keys(events) as (keyof typeof events)[])('%s', (kind) => {
  const values = events[kind] as fc.Arbitrary<AnyEvent['value']>;
  const worlds = fc.constantFrom(
    emptyEnrichment,
    enrichmentWith(),
    enrichmentWith(['0', '1']),
    enrichmentWith(['1', '1'], { takerBaseFee: 200, image: null, eventTitle: null, eventSlug: null, tickSize: null }),
    { ...enrichmentWith(), negRiskGroup: () => new Map([[0, market]]) },
  );

  it('matches its frame schema with and without a known market', () => {
    fc.assert(
      fc.property(values, worlds, (value, world) => {
        const drafts = createDraftBuilder(world).drafts({ kind, value } as AnyEvent);
        expect(drafts.map((draft) => draft.kind)).toEqual([kind]);
        for (const frame of framesOf(drafts)) {
          const { error } = eventFrames[kind as StreamKind].safeParse(frame);
          expect(error?.issues ?? [], JSON.stringify(frame)).toEqual([]);
          expect(JSON.parse(JSON.stringify(frame))).toEqual(frame);
        }
      }),
    );
  });

  it('has exact amounts, its wallets in the filters and null only in nullable fields', () => {
    fc.assert(
      fc.property(values, worlds, (value, world) => {
        const [draft] = createDraftBuilder(world).drafts({ kind, value } as AnyEvent);
        const given = value as unknown as Fields;
        const data = draft?.body.data as Record<string, unknown>;
        const expected: Record<string, unknown> = { event_type: kind };
        for (const name of [
          'tx_hash',
          'block_number',
          'log_index',
          'stakeholder',
          'redeemer',
          'from',
          'to',
          'maker',
          'token_id',
        ] as const)
          if (given[name] !== undefined) expected[name] = given[name];
        if (given.timestamp_ms !== undefined) expected.timestamp = given.timestamp_ms;
        if (given.amount !== undefined) expected.amount = decimal(given.amount);
        if (given.payout !== undefined) {
          expected.payout = decimal(given.payout);
          expected.payout_e6 = String(given.payout);
        }
        if (kind === 'trade') {
          expected.price = ratio(given.usdc, given.shares);
          expected.size = decimal(given.shares);
          expected.fee = decimal(given.fee);
          expected.maker_amount = String(given.maker_amount);
          expected.exchange = given.neg_risk ? 'neg_risk_ctf_exchange' : 'ctf_exchange';
        }
        expect(data).toMatchObject(expected);
        const wallets = [given.stakeholder, given.redeemer, given.from, given.to, given.maker].filter(
          (wallet) => wallet !== undefined,
        );
        if (kind === 'trade' && !given.is_taker_order) wallets.push(given.taker as string);
        expect(new Set(draft?.wallets ?? [])).toEqual(new Set(wallets));
        const nulls = Object.keys(data).filter((name) => data[name] === null);
        for (const name of nulls) expect(['taker_base_fee']).toContain(name);
        const usd = { trade: given.usdc, redemption: given.payout }[kind as 'trade' | 'redemption'];
        expect(draft?.usd).toBe(usd);
      }),
    );
  });
});
