import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blockOf, rpcLog } from '../../ingest/chain/decode/build.fixture.js';
import { decodeBlock } from '../../ingest/chain/decode/index.js';
import type { Hex } from '../../ingest/chain/source.js';
import { computeBlockActivity } from '../../processors/activity/block-activity.js';
import { createTokens } from '../../processors/activity/tokens.js';
import { chainSink } from '../../processors/chain/sink.js';
import { addresses } from '../../schemas/primitives/venue.js';
import type { ActivityState } from '../../schemas/types.gen.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { insertAccounts, insertRecords, tradeOf } from '../support/positions.js';
import { address } from '../support/rows.js';
import { comboCondition, comboYes, T } from '../support/venue.js';

const nina = address(0xe1);
const oscar = address(0xe2);
const comboNo = (BigInt(comboYes) + 1n).toString();
/** Of two legs, of which one ended in a tie; and one without a result. */
const tied: Hex = `0x03${'a'.repeat(32)}0002${'0'.repeat(24)}`;
const tiedYes = BigInt(`${tied}00`).toString();
const open: Hex = `0x03${'b'.repeat(32)}0002${'0'.repeat(24)}`;
const openYes = BigInt(`${open}00`).toString();

const word = (value: number | bigint) => value.toString(16).padStart(64, '0');
/** `ConditionResolved(bytes31 indexed conditionId, uint256[] result)`: offset of the array, its length, its items. */
const resolvedLog = (condition: string, result: readonly [number, number], logIndex: number) =>
  rpcLog(
    addresses.combinatorialModule,
    ['0xe560c1a2847d4cf2e66de11fe592605556989449f38cc3ab96e2e287daa68caa', `${condition}00` as Hex],
    `0x${[32, 2, ...result].map(word).join('')}`,
    logIndex,
  );
/** `Redemption(address indexed from, uint256 indexed positionId, uint256 payout)` of the AutoRedeemer. */
const redemptionLog = (from: string, positionId: string, payout: number, logIndex: number) =>
  rpcLog(
    addresses.autoRedeemer,
    [
      '0xeebddeddf4ae1ee54a48517af27958e7666d69c7ba2e3e7c2b0ff87ef5f4491e',
      `0x${from.slice(2).padStart(64, '0')}`,
      `0x${word(BigInt(positionId))}`,
    ],
    `0x${word(payout)}`,
    logIndex,
  );
/** The combo of the shared venue pays YES; the tied one the product of 1 and 0.5. */
const { events, problems } = decodeBlock(
  blockOf([
    resolvedLog(comboCondition, [1_000_000, 0], 0),
    resolvedLog(tied, [500_000, 500_000], 1),
    redemptionLog(oscar, comboYes, 30_000_000, 2),
  ]),
);

let api: ApiHarness;
let key: string;
beforeAll(async () => {
  api = await startApi({ nowMs: (T + 100) * 1000 });
  key = await api.key('starter');
  await insertAccounts(api.clickhouse, [
    { ...tradeOf(nina, 104, 'BUY', comboYes, 80, 10), exchange_version: 3 },
    { ...tradeOf(nina, 105, 'BUY', comboNo, 4, 3), exchange_version: 3 },
    { ...tradeOf(nina, 106, 'BUY', tiedYes, 7, 2), exchange_version: 3 },
    { ...tradeOf(nina, 107, 'BUY', openYes, 5, 1), exchange_version: 3 },
  ]);
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;
const markets = async (query: string) =>
  (await api.ok<{ markets: Row[] }>(`/v3/combos/markets?${query}`, key)).markets.map((row) => row.condition_id);
const positions = async (): Promise<Readonly<Record<string, Row>>> => {
  const { positions: found } = await api.ok<{ positions: Row[] }>(`/v3/wallets/${nina}/combos/positions`, key);
  return Object.fromEntries(found.map((row) => [String(row.position_id), row]));
};

describe('result of a combo', () => {
  it('settles its positions and closes its market', async () => {
    expect(problems).toEqual([]);
    expect(await markets('status=resolved')).toEqual([]);
    expect(Object.values(await positions()).map(({ status }) => status)).toEqual(['open', 'open', 'open', 'open']);

    // As a sink that resumes before its last rows: twice.
    await insertRecords(api.clickhouse, chainSink, events);
    await insertRecords(api.clickhouse, chainSink, events);
    api.clock.nowMs += 120_000;

    await expect.poll(() => markets('status=resolved')).toEqual([tied, comboCondition]);
    expect(await markets('status=open')).toEqual([open]);
    const found = await positions();
    const shown = (token: string) => {
      const { current_price, price_source, status, unrealized_pnl, redeemable_payout } = found[token] ?? {};
      return { current_price, price_source, status, unrealized_pnl, redeemable_payout };
    };
    expect(shown(comboYes)).toEqual({
      current_price: '1',
      price_source: 'settlement',
      status: 'redeemable',
      unrealized_pnl: '70',
      redeemable_payout: '80',
    });
    expect(shown(comboNo)).toMatchObject({ current_price: '0', unrealized_pnl: '-3', redeemable_payout: '0' });
    expect(shown(tiedYes)).toMatchObject({ current_price: '0.5', unrealized_pnl: '1.5', redeemable_payout: '3.5' });
    expect(shown(openYes)).toMatchObject({ status: 'open' });
    const { markets: listed } = await api.ok<{ markets: Row[] }>(
      `/v3/combos/markets?condition_id=${comboCondition}`,
      key,
    );
    expect(listed).toMatchObject([{ outcome_prices: ['1', '0'], price_sources: ['settlement', 'settlement'] }]);
  });

  it('is not listed with the results of markets', async () => {
    expect(await api.ok<Row>('/v3/resolutions', key)).toMatchObject({ rows_returned: 0 });
  });

  it('gives the payout per share of a redemption whose log names no shares', () => {
    const states = new Map<string, ActivityState>();
    const { activity } = computeBlockActivity(events, createTokens(), {
      get: (id) => states.get(id),
      set: (id, state) => void states.set(id, state),
    });
    expect(activity).toMatchObject([
      {
        wallet: oscar,
        action: 'REDEEM',
        tokens: [comboYes],
        usdc: 30_000_000n,
        numerators: ['1000000'],
        denominator: '1000000',
      },
    ]);
  });
});
