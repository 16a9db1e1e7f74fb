import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chainSink } from '../../processors/chain/sink.js';
import type { AnyEvent } from '../../schemas/codec.js';
import { conditionId, negRiskQuestionId } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import { address, hash } from '../processors/events.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { insertRecords } from '../support/positions.js';

const START_S = 1_700_000_000;
const M = 1_000_000n;
const wallet = address(0xa1);
const market = `0x${'ab'.repeat(31)}00`;
const questions = [0, 1, 2].map((index) => {
  const question = negRiskQuestionId(market, index);
  return { question, condition: conditionId({ oracle: addresses.negRiskAdapter, questionId: question }) };
});
const condition = (index: number): string => questions[index]?.condition ?? '';

let api: ApiHarness;
let key: string;
let at = 0;
const located = () => {
  at += 1;
  return {
    id: `e${at}`,
    block_number: at,
    block_hash: hash(at),
    timestamp_ms: (START_S + at) * 1000,
    tx_hash: hash(10_000 + at),
    log_index: 0,
  };
};
const split = (index: number, amount: bigint): AnyEvent => ({
  kind: 'position_split',
  value: {
    ...located(),
    stakeholder: wallet,
    collateral_token: addresses.wrappedCollateral,
    condition_id: condition(index),
    amount,
  },
});

/** Open interest of each question, and of all. */
async function openInterest() {
  const of = async (path: string) =>
    (await api.ok<{ open_interest_usdc: number | null }>(`/v2/onchain/${path}`, key)).open_interest_usdc;
  const each = await Promise.all(questions.map((one) => of(`markets/${one.condition}/oi`)));
  return { each, all: await of('oi') };
}

beforeAll(async () => {
  api = await startApi({ nowMs: (START_S + 600) * 1000 });
  key = await api.key('enterprise');
});
afterAll(() => api.stop());

/**
 * 30 sets of the first question and 12 of the second are created; 10 NO of both become 10 YES of the third and 10 of collateral. Then there are
 * 30 YES and 20 NO of the first, 12 YES and 2 NO of the second, 10 YES of the third, which pay: if the first wins 30 + 2, if the second wins
 * 20 + 12, if the third wins 20 + 2 + 10.
 */
describe('open interest of a neg-risk market', () => {
  it('is what its shares are paid whichever question wins, after a conversion', async () => {
    const converted: AnyEvent = {
      kind: 'positions_converted',
      value: {
        ...located(),
        stakeholder: wallet,
        market_id: market,
        index_set: '0x3',
        amount: 10n * M,
        question_count: 3,
        fee: 0n,
      },
    };
    const prepared = questions.map(
      (one): AnyEvent => ({
        kind: 'condition_prepared',
        value: {
          ...located(),
          condition_id: one.condition,
          oracle: addresses.negRiskAdapter,
          question_id: one.question,
          outcome_slot_count: 2,
        },
      }),
    );
    await insertRecords(api.clickhouse, chainSink, [...prepared, split(0, 30n * M), split(1, 12n * M), converted]);
    const { each, all } = await openInterest();
    expect(all).toBe(32);
    // The released collateral in equal parts, as the venue counts it.
    expect(each).toEqual([25, 7, 0]);
  });

  it('is 0 after the shares of the winner and the other NO shares were redeemed; a question with a negative sum has none', async () => {
    const redeemed = (index: number, amounts: readonly [bigint, bigint], payout: bigint): AnyEvent => ({
      kind: 'redemption',
      value: {
        ...located(),
        redeemer: wallet,
        collateral_token: addresses.wrappedCollateral,
        condition_id: condition(index),
        index_sets: [1, 2],
        amounts: [...amounts],
        payout,
        source: null,
      },
    });
    await insertRecords(api.clickhouse, chainSink, [
      redeemed(0, [0n, 20n * M], 20n * M),
      redeemed(1, [0n, 2n * M], 2n * M),
      redeemed(2, [10n * M, 0n], 10n * M),
    ]);
    api.clock.nowMs += 600_000;
    const { each, all } = await openInterest();
    expect(all).toBe(0);
    expect(each).toEqual([5, 5, null]);
  });
});
