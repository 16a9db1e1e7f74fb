import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiHarness } from '../support/api.js';
import { activityOf, dave, insertAccounts } from '../support/positions.js';
import { startPositionsApi } from '../support/positions-api.js';
import { hex32 } from '../support/rows.js';
import {
  alice,
  bob,
  carol,
  comboCondition,
  comboYes,
  hail,
  rain,
  rainNo,
  rainYes,
  snow,
  snowNo,
  snowYes,
  T,
} from '../support/venue.js';

let api: ApiHarness;
let key: string;
let paid: string;

beforeAll(async () => {
  ({ api, key, paid } = await startPositionsApi());
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;

describe('/v2/onchain', () => {
  type Page = Row & { pagination: { has_more: boolean; pagination_key?: string }; positions: Row[] };
  const get = (path: string) => api.ok<Page>(`/v2/onchain/${path}`, paid);
  const idsOf = ({ positions }: Page) => positions.map((row) => `${row.wallet}-${row.token_id}`);

  it('open interest sums the collateral of complete sets', async () => {
    const event = (conditionId: string, token_id: string, kind: string, collateral: bigint) => ({
      condition_id: conditionId,
      block_number: 90,
      log_index: Number(token_id.slice(-1)) + (kind === 'split' ? 0 : 50),
      timestamp: T,
      kind,
      wallet: bob,
      token_id,
      amount: collateral < 0n ? -collateral : collateral,
      collateral,
    });
    await api.clickhouse.insertRows('condition_events', [
      event(snow.conditionId, snowYes, 'split', 200_000_000n),
      event(rain.conditionId, rainYes, 'split', 10_000_000n),
      event(rain.conditionId, rainYes, 'redemption', -9_900_000n),
      event(hail.conditionId, hail.tokenIds[0], 'merge', -7_000_000n),
      // Its split by a module of combos is in no table of money.
      event(comboCondition, comboYes, 'redemption', -1_000_000_000n),
    ]);
    // Split 200, and 50 minted by a match. Only the last events of Hail are recorded.
    expect(await get(`markets/${snow.conditionId}/oi`)).toEqual({
      condition_id: snow.conditionId,
      source: 'onchain',
      found: true,
      market: snow.question,
      slug: snow.slug,
      image: snow.image,
      // Its preparation is not recorded, so earlier splits may be missing.
      open_interest_usdc: null,
      net_minted_usdc: 250,
      complete: false,
    });
    expect(await get('oi')).toEqual({
      source: 'onchain',
      open_interest_usdc: null,
      net_minted_usdc: 243.1,
      complete: false,
    });
    expect(await get(`markets/${hex32(0xdead)}/oi`)).toMatchObject({
      found: false,
      market: null,
      open_interest_usdc: null,
    });
    expect(await get(`markets/${hail.conditionId}/oi`)).toMatchObject({
      found: true,
      open_interest_usdc: null,
      net_minted_usdc: -7,
      complete: false,
    });
    // The history covers it from its preparation on: complete.
    const prepared = (condition_id: string, token_id: string, outcome_index: number) => ({
      token_id,
      condition_id,
      outcome_index,
      question_id: hex32(0),
      neg_risk: false,
      timestamp: T,
      _offset: 1,
    });
    await api.clickhouse.insertRows('condition_tokens', [
      prepared(snow.conditionId, snowYes, 0),
      prepared(snow.conditionId, snowNo, 1),
      prepared(hail.conditionId, hail.tokenIds[0], 0),
    ]);
    api.clock.nowMs += 61_000;
    expect(await get(`markets/${snow.conditionId}/oi`)).toMatchObject({ open_interest_usdc: 250, complete: true });
    // A negative sum cannot be complete.
    expect(await get(`markets/${hail.conditionId}/oi`)).toMatchObject({ open_interest_usdc: null, complete: false });
    expect((await api.get('/v2/onchain/oi', key)).status).toBe(403);
  });

  it('positions of a wallet are listed by latest activity', async () => {
    const page = await get(`positions?wallet=${alice}&limit=2000`);
    expect(page).toMatchObject({ count: 2, pagination: { limit: 500, has_more: false } });
    expect(page.positions.map((row) => row.token_id)).toEqual([rainYes, snowYes]);
    expect(page.positions[0]).toEqual({
      wallet: alice,
      token_id: rainYes,
      size: 0,
      avg_price: 0.9,
      realized_pnl: 0.99,
      unrealized_pnl: 0,
      current_price: null,
      price_source: null,
      price_updated_at: null,
      market_status: 'resolved-win',
      total_bought: 10,
      complete: true,
      market: 'Rain?',
      market_slug: 'rain',
      event_slug: 'sky',
      outcome: 'Yes',
      image: null,
      condition_id: rain.conditionId,
      last_trade_at: T + 6,
      closed_at: T + 26,
      resolved_at: T + 18,
      won: true,
      winning_outcome_index: 0,
      outcome_index: 0,
      initial_value: 0,
      redeemable: false,
      opposite_asset: rainNo,
      last_activity: T + 26,
    });
    expect(idsOf(await get(`positions?wallet=${bob}&status=open&tag_slug=europe&min_size=150`))).toEqual([
      `${bob}-${snowNo}`,
    ]);
    const { positions } = await get(`positions?wallet=${bob}&market_slug=rain&status=open`);
    expect(positions).toMatchObject([{ won: false, redeemable: true, unrealized_pnl: -5 }]);
    expect((await get(`positions?wallet=${dave}`)).positions[0]).not.toHaveProperty('last_activity');
  });

  it('positions by id neither repeat nor skip while positions arrive', async () => {
    const all = [
      `${alice}-${snowYes}`,
      `${bob}-${snowNo}`,
      `${bob}-${snowYes}`,
      `${carol}-${snowNo}`,
      `${carol}-${snowYes}`,
      `${dave}-${snowYes}`,
    ];
    const list = `positions?condition_id=${snow.conditionId}`;
    expect(idsOf(await get(`${list}&order=asc`))).toEqual(all);
    expect(idsOf(await get('positions?token_id=0'))).toEqual([]);
    expect(idsOf(await get(`${list}&token_id=${snowNo}`))).toEqual([`${carol}-${snowNo}`, `${bob}-${snowNo}`]);
    const first = await get(`${list}&order=asc&limit=2`);
    expect(first.pagination).toEqual({ limit: 2, has_more: true, pagination_key: all[1] });
    const early = `0x${'01'.repeat(20)}`;
    const bought = (wallet: string) =>
      activityOf({
        wallet,
        block_number: 120,
        action: 'BUY',
        tokens: [snowYes],
        amounts: [1_000_000n],
        usdc: 400_000n,
      });
    await insertAccounts(api.clickhouse, [bought(early), bought(`0x${'fe'.repeat(20)}`)]);
    const paged = idsOf(first);
    let at = first.pagination.pagination_key;
    while (at !== undefined) {
      const page = await get(`${list}&order=asc&limit=2&pagination_key=${at}`);
      paged.push(...idsOf(page));
      at = page.pagination.pagination_key;
    }
    expect(paged).toEqual([...all, `${early}-${snowYes}`, `0x${'fe'.repeat(20)}-${snowYes}`]);
    expect(idsOf(await get(`${list}&limit=3`))).toEqual([...paged].reverse().slice(0, 3));
    const errorOf = async (rest: string) => {
      const { status, body } = await api.get(`/v2/onchain/positions?${rest}`, paid);
      return [status, (body as { error: string }).error];
    };
    expect(await errorOf('market_slug=nowhere')).toEqual([400, 'market_slug not found']);
    expect(await errorOf(`condition_id=${hex32(0xdead)}`)).toEqual([400, 'condition_id not found']);
    expect(await errorOf('pagination_key=5')).toEqual([400, 'Invalid pagination_key']);
    expect((await get('positions?limit=1&order=asc&min_size=199')).positions).toMatchObject([
      { wallet: bob, token_id: snowNo },
    ]);
  });
});
