import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addresses } from '../../ingest/chain/contracts.js';
import { chainSink } from '../../processors/chain/sink.js';
import type { AnyEvent } from '../../schemas/codec.js';
import { conditionId, tokenPair } from '../../schemas/primitives/ids.js';
import { address, hash } from '../processors/events.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { insertAccountsOfBlocks, insertRecords } from '../support/positions.js';
import { fillRow, insertFills } from '../support/rows.js';

const START_S = 1_700_000_000;
const wallet = address(0xa1);
const M = 1_000_000n;

/** Prepared before the history: known by fills of their own tokens, and by a redemption with the other collateral. */
const older = Array.from({ length: 4 }, (_, n) => {
  const condition = hash(2_000 + n);
  const [own, other] =
    n % 2 === 0 ? [addresses.wrappedCollateral, addresses.usdcE] : [addresses.usdcE, addresses.wrappedCollateral];
  return { condition, own, other, negRisk: n % 2 === 0 };
});

/** Enough conditions that for some of them the second pair sorts before the first, and for others behind. */
const conditions = Array.from({ length: 10 }, (_, n) => {
  const oracle = n % 2 === 0 ? addresses.negRiskAdapter : addresses.umaAdapterV2;
  const question = hash(1_000 + n);
  const condition = conditionId({ oracle, questionId: question });
  const [own, other] =
    n % 2 === 0 ? [addresses.wrappedCollateral, addresses.usdcE] : [addresses.usdcE, addresses.wrappedCollateral];
  return { oracle, question, condition, own, other, negRisk: n % 2 === 0 };
});

describe('a second token pair of a condition, by a log with the other collateral', () => {
  let api: ApiHarness;
  let key: string;
  beforeAll(async () => {
    api = await startApi({ nowMs: (START_S + 600) * 1000 });
    key = await api.key('enterprise');
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
    const redeemed = (condition: string, collateral: string): AnyEvent => ({
      kind: 'redemption',
      value: {
        ...located(),
        redeemer: wallet,
        collateral_token: collateral,
        condition_id: condition,
        index_sets: [1, 2],
        amounts: null,
        payout: 0n,
        source: null,
      },
    });
    const events = conditions.flatMap(({ oracle, question, condition, own, other }): AnyEvent[] => {
      const set = { stakeholder: wallet, condition_id: condition };
      return [
        {
          kind: 'condition_prepared',
          value: { ...located(), condition_id: condition, oracle, question_id: question, outcome_slot_count: 2 },
        },
        { kind: 'position_split', value: { ...located(), ...set, collateral_token: own, amount: 5n * M } },
        { kind: 'position_split', value: { ...located(), ...set, collateral_token: other, amount: 1n } },
        redeemed(condition, other),
      ];
    });
    for (const { condition, other } of older) events.push(redeemed(condition, other));
    await insertFills(
      api.clickhouse,
      older.map(({ condition, own }, n) =>
        fillRow({
          side: 'BUY',
          tokenId: tokenPair(own, condition)[1],
          usdc: 40_000_000n,
          shares: 100_000_000n,
          maker: wallet,
          taker: address(0xa2),
          block: 3_000 + n,
          logIndex: 0,
          timestampS: START_S + 400,
          orderHash: hash(3_000 + n),
          txHash: hash(4_000 + n),
        }),
      ),
    );
    await insertAccountsOfBlocks(
      api.clickhouse,
      events.map((event) => [event]),
    );
    await insertRecords(api.clickhouse, chainSink, events);
    await api.clickhouse.insertRows(
      'blocks',
      Array.from({ length: at + 1 }, (_, n) => ({
        block_number: n,
        block_hash: hash(n),
        parent_hash: hash(n - 1),
        timestamp: START_S + n,
        tx_count: 1,
        polymarket_tx_count: 1,
        settlement_count: 0,
        trade_volume: 0,
        _offset: n,
      })),
    );
  });
  afterAll(() => api.stop());

  it('does not change the tokens and neg_risk of the condition', async () => {
    for (const { condition, own, negRisk } of [...conditions, ...older]) {
      const found = await api.ok<{ position_ids: string[]; neg_risk: boolean }>(`/v3/conditions/${condition}`, key);
      expect(found, condition).toMatchObject({ position_ids: [...tokenPair(own, condition)], neg_risk: negRisk });
    }
  });

  it('counts in the open interest of the venue, which stays complete', async () => {
    const total = await api.ok<{ open_interest_usdc: number | null; complete: boolean }>('/v2/onchain/oi', key);
    expect(total).toMatchObject({ complete: true });
    expect(total.open_interest_usdc).toBeCloseTo(conditions.length * 5.000001, 6);
  });
});
