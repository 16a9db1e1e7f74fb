import { describe, expect, it } from 'vitest';
import { addresses, watchedAddresses, watchedTopics } from '../contracts.js';
import { eventAbi } from '../event-abi.js';
import type { Hex } from '../source.js';
import { decodeBlock } from './block.js';
import { blockOf, buildBlock, hash, type LogSpec, rpcLog, wallet } from './build.fixture.js';
import { calldata, orderV2, transaction } from './orders.fixture.js';
import { decodePending } from './pending.js';

const alice = wallet('a1');
const bob = wallet('b2');
const M = 1_000_000n;
/** Module 3, base hash ..4d: both ids written out by hand from the layout. */
const COMBO: Hex = `0x03${'0'.repeat(30)}4d${'0'.repeat(28)}`;
const YES = BigInt(`${COMBO}00`).toString();
const NO = BigInt(`${COMBO}01`).toString();
/** Module 1, and module 2 with arity 3 and condition index 2. */
const LEG_CONDITION: Hex = `0x01${'0'.repeat(30)}0a${'0'.repeat(28)}`;
const EVENT: Hex = `0x02${'0'.repeat(30)}0b0003${'0'.repeat(20)}`;
const legs = [BigInt(`${LEG_CONDITION}00`), BigInt(`${EVENT}000201`)];

const at = (address: Hex, event: LogSpec['event'], args: Record<string, unknown>): LogSpec => ({
  address,
  event,
  args,
});
const decodeEvents = (...logs: LogSpec[]) => {
  const { events, problems } = decodeBlock(buildBlock(...logs));
  expect(problems).toEqual([]);
  return events.map(({ kind, value }) => ({ kind, ...value }));
};

describe('combo protocol', () => {
  it('contracts and approvals of the collateral are watched', () => {
    for (const address of [addresses.positionManager, addresses.combinatorialModule, addresses.comboRouter])
      expect(watchedAddresses).toContain(address);
    expect(watchedTopics).toContain(eventAbi.erc20Approval.topic0);
  });

  it('preparation yields the definition, then the step without a user', () => {
    expect(
      decodeEvents(at(addresses.combinatorialModule, 'comboPrepared', { conditionId: COMBO, legs })),
    ).toMatchObject([
      { kind: 'combo_definition', subject_id: COMBO, legs: legs.map(String), legacy_id: null },
      { kind: 'combo_lifecycle', action: 'Prepare', user: null, condition_ids: [COMBO], legs: legs.map(String) },
    ]);
  });

  it('maps migrated conditions and events to their legacy ids', () => {
    const legacyConditionId = hash('c0');
    const legacyEventId = hash('e0');
    expect(
      decodeEvents(
        at(addresses.binaryModule, 'comboMigrationRegistered', { conditionId: LEG_CONDITION, legacyConditionId }),
        at(addresses.comboNegRiskModule, 'comboEventPrepared', { eventId: EVENT, count: 3n, legacyEventId }),
      ),
    ).toMatchObject([
      { kind: 'combo_definition', subject_id: LEG_CONDITION, legs: null, legacy_id: legacyConditionId },
      { kind: 'combo_definition', subject_id: EVENT, legs: null, legacy_id: legacyEventId },
    ]);
  });

  it('names the recipient for the Router, and skips steps of the exchange and the AutoRedeemer', () => {
    const split = (initiator: Hex) =>
      at(addresses.combinatorialModule, 'comboSplit', {
        initiator,
        conditionId: COMBO,
        recipient: bob,
        recipient1: bob,
        amount: 5n * M,
      });
    const redeem = (initiator: Hex) =>
      at(addresses.combinatorialModule, 'comboRedeem', {
        initiator,
        positionId: BigInt(YES),
        recipient: bob,
        amount: 4n * M,
        payout: M,
      });
    expect(
      decodeEvents(
        split(alice),
        split(addresses.comboRouter),
        split(addresses.exchangeV3),
        redeem(alice),
        redeem(addresses.autoRedeemer),
      ),
    ).toMatchObject([
      { action: 'Split', user: alice, destination_position_ids: [YES, NO], source_position_ids: [], amount: 5n * M },
      { action: 'Split', user: bob },
      { action: 'Redeem', user: alice, source_position_ids: [YES], amount: 4n * M, payout: M },
    ]);
  });

  it('decodes each further action from its log', () => {
    const three = { initiator: alice, conditionId: COMBO, conditionId1: LEG_CONDITION, conditionId2: LEG_CONDITION };
    const many = { initiator: alice, conditionId: COMBO, recipients: [bob], amount: M };
    const one = { initiator: alice, conditionId: COMBO, recipient: bob, amount: M };
    const form = { initiator: alice, fromId: 7n, toId: 8n, recipient: bob, amount: M };
    const module = addresses.comboNegRiskModule;
    const actions = decodeEvents(
      at(module, 'comboMerge', one),
      at(module, 'comboSplitOnEvent', { ...many, eventId: EVENT }),
      at(module, 'comboMergedOnEvent', { ...one, eventId: EVENT }),
      at(module, 'comboSplitOnCondition', { ...three, recipient: bob, recipient1: bob, amount: M }),
      at(module, 'comboMergedOnCondition', { ...three, recipient: bob, amount: M }),
      at(module, 'comboConvert', { ...many, eventId: EVENT, index: 1n }),
      at(module, 'comboExtract', { ...three, recipient: bob, recipient1: bob, amount: M }),
      at(module, 'comboInject', { ...three, recipient: bob, amount: M }),
      at(module, 'comboConvertToYesBasket', many),
      at(module, 'comboMergeFromYesBasket', one),
      at(module, 'comboCompress', { ...form, positionAmount: 2n * M, collateralOut: 3n * M }),
      at(module, 'comboWrap', form),
      at(module, 'comboUnwrap', form),
    );
    expect(actions.map((fact) => 'action' in fact && fact.action)).toEqual([
      'Merge',
      'HorizontalSplit',
      'HorizontalMerge',
      'Split',
      'Merge',
      'Convert',
      'Extract',
      'Inject',
      'ConvertToYesBasket',
      'MergeFromYesBasket',
      'Compress',
      'Wrap',
      'Unwrap',
    ]);
    expect(actions.every((fact) => 'user' in fact && fact.user === alice)).toBe(true);
    expect(actions[1]).toMatchObject({ event_ids: [EVENT], condition_ids: [COMBO], amount: M });
    expect(actions[3]).toMatchObject({ condition_ids: [COMBO, LEG_CONDITION, LEG_CONDITION] });
    expect(actions[10]).toMatchObject({
      source_position_ids: ['7'],
      destination_position_ids: ['8'],
      payout: 3n * M,
    });
  });

  it('reports transfers between wallets only, and never as transfers of market tokens', () => {
    const single = (from: Hex, to: Hex, operator: Hex = from) =>
      at(addresses.positionManager, 'transferSingle', { operator, from, to, id: BigInt(YES), value: 3n * M });
    expect(
      decodeEvents(
        single(alice, bob),
        single(addresses.zero, alice),
        single(alice, addresses.zero),
        single(alice, addresses.combinatorialModule),
        single(addresses.exchangeV3, bob),
        at(addresses.positionManager, 'transferBatch', {
          operator: alice,
          from: alice,
          to: bob,
          ids: [BigInt(YES), BigInt(NO)],
          values: [M, 2n * M],
        }),
      ).map(({ id, ...fact }) => fact),
    ).toMatchObject([
      { action: 'Transfer', user: alice, recipient: bob, source_position_ids: [YES], amount: 3n * M },
      { kind: 'combo_lifecycle', action: 'Transfer', recipient: bob, source_position_ids: [YES], amount: M },
      { kind: 'combo_lifecycle', action: 'Transfer', recipient: bob, source_position_ids: [NO], amount: 2n * M },
    ]);
  });

  it('decodes approvals for the combo exchange and the AutoRedeemer only', () => {
    const all = (operator: Hex, approved = true) =>
      at(addresses.positionManager, 'approvalForAll', { account: alice, operator, approved });
    const allowance = (spender: Hex, value: bigint) =>
      at(addresses.pusd, 'erc20Approval', { owner: alice, spender, value });
    expect(
      decodeEvents(
        all(addresses.exchangeV3),
        all(addresses.autoRedeemer, false),
        all(bob),
        allowance(addresses.exchangeV3, 2n ** 256n - 1n),
        allowance(addresses.exchangeV3, 0n),
        allowance(bob, M),
      ),
    ).toMatchObject([
      { approval_type: 'position_manager_approval_for_all', owner: alice, approved: true, target_role: 'ExchangeV3' },
      { approval_type: 'position_manager_approval_for_all', approved: false, target_role: 'AutoRedeemer' },
      {
        approval_type: 'collateral_allowance',
        approved: true,
        amount: (2n ** 256n - 1n).toString(),
        target_role: 'ExchangeV3',
      },
      { approval_type: 'collateral_allowance', approved: false, amount: '0' },
    ]);
  });
});

describe('result of a combo condition', () => {
  /** keccak of `ConditionResolved(bytes31,uint256[])`. */
  const RESOLVED: Hex = '0xe560c1a2847d4cf2e66de11fe592605556989449f38cc3ab96e2e287daa68caa';
  const wordOf = (value: number) => value.toString(16).padStart(64, '0');
  const dataOf = (...words: number[]): Hex => `0x${words.map(wordOf).join('')}`;
  const topicOf = (condition: Hex, last = '00'): Hex => `${condition}${last}`;
  /** Offset of the array, its length, its items. */
  const resolved = (address: Hex, condition: Hex, items: number[], index = 0) =>
    rpcLog(address, [RESOLVED, topicOf(condition)], dataOf(32, items.length, ...items), index);

  it('is decoded from the log of its module', () => {
    const { events, problems, contracts } = decodeBlock(
      blockOf([
        resolved(addresses.combinatorialModule, COMBO, [250_000, 750_000], 0),
        resolved(addresses.binaryModule, LEG_CONDITION, [0, 1_000_000], 1),
        resolved(addresses.comboNegRiskModule, `${EVENT}0002`, [1, 0], 2),
      ]),
    );
    expect(problems).toEqual([]);
    expect(events.map(({ kind }) => kind)).toEqual(Array(3).fill('condition_resolved'));
    expect(events.map(({ value }) => value)).toMatchObject([
      {
        log_index: 0,
        condition_id: COMBO,
        oracle: addresses.combinatorialModule,
        question_id: '',
        outcome_slot_count: 2,
        payout_numerators: ['250000', '750000'],
      },
      { condition_id: LEG_CONDITION, oracle: addresses.binaryModule, payout_numerators: ['0', '1000000'] },
      { condition_id: `${EVENT}0002`, oracle: addresses.comboNegRiskModule, payout_numerators: ['1', '0'] },
    ]);
    expect(contracts.map(({ logs, decoded }) => [logs, decoded])).toEqual(Array(3).fill([1, 1]));
  });

  it('is not taken from other contracts, which are reported as unknown', () => {
    const { events } = decodeBlock(
      blockOf([
        resolved(addresses.comboRouter, COMBO, [1, 0], 0),
        resolved(addresses.positionManager, COMBO, [1, 0], 1),
        resolved(addresses.conditionalTokens, COMBO, [1, 0], 2),
        resolved(alice, COMBO, [1, 0], 3),
      ]),
    );
    expect(events.map(({ kind, value }) => [kind, value.log_index])).toEqual([
      ['unknown_log', 0],
      ['unknown_log', 1],
      ['unknown_log', 2],
    ]);
  });

  it('that is malformed is a problem and yields no event', () => {
    const module = addresses.combinatorialModule;
    const raw = (topics: Hex[], data: Hex, index: number) => rpcLog(module, topics, data, index);
    const logs = [
      resolved(module, COMBO, [1_000_000], 0),
      resolved(module, COMBO, [0, 0, 1], 1),
      resolved(module, COMBO, [0, 0], 2),
      // Its second item is missing; its topic has 32 bytes; its condition is not indexed.
      raw([RESOLVED, topicOf(COMBO)], dataOf(32, 2, 1), 3),
      raw([RESOLVED, topicOf(COMBO, '01')], dataOf(32, 2, 1, 0), 4),
      raw([RESOLVED], dataOf(0, 64, 2, 1, 0), 5),
    ];
    const { events, problems } = decodeBlock(blockOf(logs));
    expect(events).toEqual([]);
    expect(problems.map(({ log }) => log)).toEqual(logs);
  });
});

describe('pending combo', () => {
  it('carries the legs when the call prepares them', () => {
    const order = {
      maker: alice,
      signer: alice,
      tokenId: BigInt(YES),
      makerAmount: 10n * M,
      takerAmount: 40n * M,
      side: 0,
      signatureType: 0,
    } as const;
    const maker = { ...order, maker: bob, signer: bob, side: 1, makerAmount: 40n * M, takerAmount: 10n * M } as const;
    const args = [
      orderV2(order),
      [orderV2(maker)],
      [40n * M],
      [0n],
      { takerFillAmount: 10n * M, takerReceiveAmount: 40n * M, takerFeeAmount: 0n },
    ];
    const pendingOf = (input: Hex) => {
      const result = decodePending(transaction(addresses.exchangeV3, input), 1);
      if (result === null || !('settlement' in result)) throw new Error(JSON.stringify(result));
      return result.settlement;
    };
    expect(pendingOf(calldata('matchOrdersV3', args))).toMatchObject({ combo_legs: null, condition_id: COMBO });
    expect(pendingOf(calldata('matchOrdersAndPrepareCombinatorialV3', [...args, legs]))).toMatchObject({
      combo_legs: legs.map(String),
      condition_id: COMBO,
      exchange_version: 3,
      taker_usdc: 10n * M,
      taker_shares: 40n * M,
    });
  });
});
