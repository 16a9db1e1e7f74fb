import { keccak256, stringToHex } from 'viem';
import { describe, expect, it } from 'vitest';
import { conditionId, negRiskQuestionId } from '../../../schemas/primitives/ids.js';
import { addresses } from '../contracts.js';
import type { Hex, SourceBlock } from '../source.js';
import { decodeBlock } from './block.js';
import { buildBlock, hash, type LogSpec, wallet } from './build.fixture.js';

const ancillaryData = stringToHex('q: title: Will it rain?, initializer:0000000000000000000000000000000000000001');
const questionID = keccak256(ancillaryData);
const plainCondition = conditionId({ oracle: addresses.umaAdapterV4, questionId: questionID });
const ONE = 10n ** 18n;
const MARKET: Hex = `0x${'2c'.repeat(31)}00`;
const QUESTION = negRiskQuestionId(MARKET, 5);
const negCondition = conditionId({ oracle: addresses.negRiskAdapter, questionId: QUESTION });

function rows(block: SourceBlock) {
  const { events, problems } = decodeBlock(block);
  expect(problems).toEqual([]);
  return events.map((event) => event.value);
}
const at = (address: Hex, event: LogSpec['event'], args: Record<string, unknown>): LogSpec => ({
  address,
  event,
  args,
});
const request = {
  identifier: stringToHex('YES_OR_NO_QUERY', { size: 32 }),
  timestamp: 1_790_000_000n,
  ancillaryData,
};

describe('oracle records', () => {
  it('follow a plain question from initialization to resolution, joined by the hash of its ancillary data', () => {
    const uma = addresses.umaAdapterV4;
    const oracle = addresses.managedOptimisticOracleV2;
    const found = rows(
      buildBlock(
        at(uma, 'questionInitialized', {
          questionID,
          requestTimestamp: 1n,
          creator: wallet('aa'),
          ancillaryData,
          rewardToken: addresses.usdcE,
          reward: 0n,
          proposalBond: 0n,
        }),
        at(oracle, 'proposePrice', {
          ...request,
          requester: uma,
          proposer: wallet('bb'),
          proposedPrice: ONE,
          expirationTimestamp: 1_790_007_200n,
          currency: addresses.usdcE,
        }),
        at(oracle, 'disputePrice', {
          ...request,
          requester: uma,
          proposer: wallet('bb'),
          disputer: wallet('cc'),
          proposedPrice: ONE / 2n,
        }),
        at(uma, 'questionReset', { questionID }),
        at(oracle, 'settle', {
          ...request,
          requester: uma,
          proposer: wallet('bb'),
          disputer: addresses.zero,
          price: 0n,
          payout: 5n,
        }),
        at(uma, 'questionResolved', { questionID, settledPrice: ONE / 2n, payouts: [1n, 1n] }),
      ),
    );
    const common = { question_id: questionID, adapter_address: uma, condition_id: plainCondition };
    expect(found).toMatchObject([
      { ...common, oracle_type: 'initialization', creator: wallet('aa') },
      {
        ...common,
        oracle_type: 'proposal',
        proposer: wallet('bb'),
        proposed_price: '1',
        expiration_timestamp_ms: 1_790_007_200_000,
      },
      { ...common, oracle_type: 'dispute', proposer: wallet('bb'), disputer: wallet('cc'), proposed_price: '0.5' },
      { ...common, oracle_type: 'reset' },
      { ...common, oracle_type: 'settled', proposer: wallet('bb'), disputer: null, resolved_price: '0', payouts: null },
      { ...common, oracle_type: 'resolution', resolved_price: '0.5', payouts: ['1', '1'] },
    ]);
  });

  it('flags, pauses and manual resolutions', () => {
    const uma = addresses.umaAdapterV3;
    const found = rows(
      buildBlock(
        at(uma, 'questionFlagged', { questionID }),
        at(uma, 'questionUnflagged', { questionID }),
        at(uma, 'questionPaused', { questionID }),
        at(uma, 'questionUnpaused', { questionID }),
        at(uma, 'questionManuallyResolved', { questionID, payouts: [0n, 1n] }),
        at(addresses.umaAdapterV2, 'questionEmergencyResolved', { questionID, payouts: [1n, 0n] }),
      ),
    );
    expect(found).toMatchObject([
      { oracle_type: 'flag' },
      { oracle_type: 'unflag' },
      { oracle_type: 'pause' },
      { oracle_type: 'unpause' },
      { oracle_type: 'manual_resolution', resolved_price: '0', payouts: ['0', '1'] },
      { oracle_type: 'manual_resolution', resolved_price: '1', adapter_address: addresses.umaAdapterV2 },
    ]);
  });

  it('of requests of other adapters are skipped', () => {
    const settled = { ...request, proposer: wallet('bb'), disputer: addresses.zero, price: 0n, payout: 5n };
    expect(
      rows(
        buildBlock(
          at(addresses.optimisticOracleV2, 'settle', { ...settled, requester: wallet('77') }),
          at(addresses.optimisticOracleV2, 'settle', { ...settled, requester: addresses.exchangeV2 }),
        ),
      ),
    ).toEqual([]);
  });

  it('of a neg-risk request have the condition only when the transaction contains the question', () => {
    const uma = addresses.umaAdapterV4NegRisk;
    const resolved = at(uma, 'questionResolved', { questionID, settledPrice: ONE, payouts: [1n, 0n] });
    const reported = at(addresses.negRiskOperator, 'operatorQuestionReported', {
      questionId: QUESTION,
      requestId: questionID,
      result: true,
    });
    const prepared = at(addresses.negRiskOperator, 'operatorQuestionPrepared', {
      marketId: MARKET,
      questionId: QUESTION,
      requestId: questionID,
      index: 5n,
      data: '0x1234',
    });
    expect(rows(buildBlock(resolved))).toMatchObject([{ question_id: questionID, condition_id: null }]);
    expect(rows(buildBlock(resolved, reported))).toMatchObject([
      { question_id: questionID, condition_id: negCondition },
    ]);
    expect(rows(buildBlock(prepared, resolved))).toMatchObject([{ condition_id: negCondition }]);
    expect(rows(buildBlock(resolved, { ...reported, tx: hash('99') }))).toMatchObject([{ condition_id: null }]);
  });

  it('of the NegRiskOperator have the neg-risk question', () => {
    const operator = addresses.negRiskOperator;
    const found = rows(
      buildBlock(
        at(operator, 'questionFlagged', { questionID: QUESTION }),
        at(operator, 'operatorQuestionEmergencyResolved', { questionId: QUESTION, result: false }),
      ),
    );
    const common = { question_id: QUESTION, condition_id: negCondition, adapter_address: operator };
    expect(found).toMatchObject([
      { ...common, oracle_type: 'flag' },
      { ...common, oracle_type: 'manual_resolution', resolved_price: '0', payouts: ['0', '1'] },
    ]);
  });

  it('a condition resolution yields a resolution and an oracle step, with an id each', () => {
    const found = rows(
      buildBlock(
        at(addresses.conditionalTokens, 'conditionPreparation', {
          conditionId: plainCondition,
          oracle: addresses.umaAdapterV4,
          questionId: questionID,
          outcomeSlotCount: 2n,
        }),
        at(addresses.conditionalTokens, 'conditionResolution', {
          conditionId: plainCondition,
          oracle: addresses.umaAdapterV4,
          questionId: questionID,
          outcomeSlotCount: 2n,
          payoutNumerators: [1n, 0n],
        }),
      ),
    );
    const tx = `0x${'7a'.repeat(32)}`;
    expect(found).toMatchObject([
      { id: `${tx}-0`, condition_id: plainCondition, outcome_slot_count: 2 },
      { id: `${tx}-1`, condition_id: plainCondition, payout_numerators: ['1', '0'] },
      {
        id: `${tx}-1-oracle`,
        oracle_type: 'condition_resolution',
        adapter_address: addresses.umaAdapterV4,
        condition_id: plainCondition,
        resolved_price: '1',
        payouts: ['1', '0'],
      },
    ]);
  });
});
