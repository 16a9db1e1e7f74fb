import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { cursorWith, walkPages } from '../support/page-walk.js';
import { address, hex32, walletEventRow } from '../support/rows.js';
import {
  alice,
  bob,
  fillId,
  insertVenue,
  negRiskMarket,
  rain,
  rainNo,
  rainYes,
  snow,
  T,
  tx,
  walletEvents,
} from '../support/venue.js';

let api: ApiHarness;
let key: string;

beforeAll(async () => {
  api = await startApi({ nowMs: (T + 100) * 1000 });
  key = await api.key('starter');
  await insertVenue(api.clickhouse);
  await api.clickhouse.insertRows(
    'collateral_flows',
    [
      { direction: 'deposit', amount: 25_500_000n, block_number: 90, log_index: 1 },
      { direction: 'withdrawal', amount: 5_000_000n, block_number: 91, log_index: 0 },
      { direction: 'deposit', amount: 1n, block_number: 92, log_index: 7 },
    ].map((row) => ({
      ...row,
      wallet: alice,
      timestamp: T + row.block_number,
      tx_hash: tx(row.block_number),
      counterparty: address(0x44),
      asset: '0x2791bca1f2de4661ed88a30c99a7a9449aa84174',
      _offset: row.block_number,
    })),
  );
});
afterAll(() => api.stop());

type Body = Record<string, unknown> & { data: Record<string, unknown>[]; next_cursor: string | null };
const get = (path: string) => api.ok<Body>(`/v3/wallets/${path}`, key);
const at = (block: number) => String(T + (block - 100) * 2);

describe('/v3 wallet events', () => {
  it('each kind has its list', async () => {
    expect((await get(`${alice}/splits`)).data).toEqual([
      { id: `${tx(110)}_0x11`, timestamp: at(110), condition: snow.conditionId, amount: '50000000' },
    ]);
    expect((await get(`${alice.toUpperCase().replace('0X', '0x')}/merges`)).data).toEqual([
      { id: `${tx(112)}_0x3`, timestamp: at(112), condition: snow.conditionId, amount: '5000000' },
    ]);
    // The event of that neg-risk market lists two questions.
    expect((await get(`${alice}/nrc`)).data).toEqual([
      {
        id: `${tx(111)}_0x20`,
        timestamp: at(111),
        neg_risk_market_id: negRiskMarket,
        amount: '15000000',
        index_set: '6',
        question_count: 2,
      },
    ]);
    expect(await get(`${bob}/splits`)).toMatchObject({
      data: [],
      rows_returned: 0,
      has_more: false,
      next_cursor: null,
    });
  });

  it('a conversion has the questions that its market had then, not those of the catalogue today', async () => {
    const carol = address(0xca);
    const first = { ...walletEvents.find((event) => event.kind === 'conversion')!, wallet: carol };
    const events = [
      // Three of five questions were converted.
      { ...first, block: 120, timestampS: Number(at(120)), logIndex: 1, txHash: tx(120), indexSets: ['7'] },
      // The chain did not tell; the catalogue has two.
      { ...first, block: 121, timestampS: Number(at(121)), logIndex: 2, txHash: tx(121) },
      // Nor does the catalogue: six bits.
      {
        ...first,
        block: 122,
        timestampS: Number(at(122)),
        logIndex: 3,
        txHash: tx(122),
        subjectId: hex32(0xfeed),
        indexSets: ['33'],
      },
    ];
    await api.clickhouse.insertRows('wallet_events', events.map(walletEventRow));
    const activity = (block: number, logIndex: number, resolved: boolean) =>
      `('${carol}', ${at(block)}, ${block}, ${logIndex}, '${tx(block)}-${logIndex}', 'CONVERT', [1, 2, 3], ${resolved ? '[4, 5]' : '[]'}, ${resolved}, ${block})`;
    await api.clickhouse.command(
      `INSERT INTO wallet_activity (wallet, timestamp, block_number, log_index, id, action, tokens, created, is_resolved, _offset) VALUES ${[activity(120, 1, true), activity(121, 2, false)].join(', ')}`,
    );
    const counts = (await get(`${carol}/nrc`)).data.map((row) => row.question_count);
    expect(counts).toEqual([6, 2, 5]);
  });

  it('the feed contains all kinds', async () => {
    const page = await get(`${alice}/activity`);
    expect(page.data.map(({ event_type, ref_id, amount, extra }) => [event_type, ref_id, amount, extra])).toEqual([
      ['redemption', hex32(0xdead), '0', '{2}'],
      ['redemption', rain.conditionId, '80000000', '{1,2}'],
      ['merge', snow.conditionId, '5000000', '{1,2}'],
      ['nrc', negRiskMarket, '15000000', '{6}'],
      ['split', snow.conditionId, '50000000', '{1,2}'],
    ]);
    const types = async (query: string) => (await get(`${alice}/activity?${query}`)).data.map((row) => row.event_type);
    expect(await types('limit=2&offset=1')).toEqual(['redemption', 'merge']);
    expect(await types(`after=${at(111)}&before=${at(112)}`)).toEqual(['merge', 'nrc']);
    expect(await types(`cursor=${cursorWith('/v3/wallets/{address}/activity', 'desc', 112, 3)}`)).toEqual([
      'nrc',
      'split',
    ]);
  });

  it('redemptions have the known market fields', async () => {
    const page = await get(`${alice}/redemptions?order=asc`);
    expect(page).toMatchObject({ order: 'asc', source: 'v3.wallet_redemptions_unified', next_offset: null });
    expect(page.data).toEqual([
      {
        id: `${tx(113)}_0x1f4`,
        timestamp: at(113),
        condition: rain.conditionId,
        condition_id: rain.conditionId,
        payout: '80000000',
        payout_e6: '80000000',
        payout_usdc: 80,
        index_sets: ['1', '2'],
        market_title: 'Rain?',
        market_slug: 'rain',
        market_image: null,
        event_title: 'What falls from the sky?',
        event_slug: 'sky',
        neg_risk: true,
        token_ids: [rainYes, rainNo],
        outcomes: ['Yes', 'No'],
        payouts: ['1', '0'],
        outcome_prices: [1, 0],
        winning_outcome_index: 0,
        winning_outcome: 'Yes',
        winning_token_id: rainYes,
        resolved_at: '2026-09-21T14:13:38Z',
        transaction_hash: tx(113),
        redemption_source: 'direct_neg_risk',
        source_event: 'PayoutRedemption',
        block_number: 113,
        log_index: 500,
      },
      expect.objectContaining({
        condition: hex32(0xdead),
        payout_usdc: 0,
        market_title: null,
        neg_risk: null,
        token_ids: null,
        outcome_prices: null,
        winning_token_id: null,
        resolved_at: null,
        redemption_source: 'auto_binary',
        source_event: 'BinaryRedemption',
      }),
    ]);
    expect(await get(`${alice}/redemptions?limit=1`)).toMatchObject({
      has_more: true,
      next_offset: 1,
      next_cursor: cursorWith('/v3/wallets/{address}/redemptions', 'desc', 114, 0),
    });
  });

  it('fees of own orders only, and collateral with totals over all rows', async () => {
    const fees = (await get(`${alice}/fees-paid`)) as unknown as Record<string, unknown> & {
      fees: Record<string, unknown>[];
    };
    // Fills 8 (a combo), 7 and 3 are Alice's orders with a fee; fill 1's fee is Bob's.
    expect(fees.fees.map((row) => [row.id, row.fee_paid, row.fee_paid_raw])).toEqual([
      [fillId(8), 0.05, '50000'],
      [fillId(7), 0.09, '90000'],
      [fillId(3), 0.25, '250000'],
    ]);
    expect(fees).toMatchObject({
      address: alice,
      page_total_fees_paid: 0.39,
      page_total_fees_paid_raw: '390000',
      after: '0',
      before: '9999999999',
    });
    const flows = await get(`${alice}/polyusd-flows?limit=1`);
    expect(flows).toMatchObject({
      total_matching_rows: 3,
      total_deposited: 25.500001,
      total_withdrawn: 5,
      net_deposited: 20.500001,
      has_more: true,
    });
    const of = async (query: string) =>
      ((await get(`${alice}/polyusd-flows?${query}`)).flows as Record<string, unknown>[]).map((row) => row.amount_raw);
    expect(await of('')).toEqual(['1', '5000000', '25500000']);
    expect(await of('kind=deposit&order=asc')).toEqual(['25500000', '1']);
    expect(await of('kind=withdrawal')).toEqual(['5000000']);
    expect(await of(`after=${T + 91}&before=${T + 91}`)).toEqual(['5000000']);
  });

  it('clamp limits, reject invalid parameters and the free plan', async () => {
    expect(await get(`${alice}/splits?limit=9999`)).toMatchObject({ limit: 300 });
    expect(await get(`${alice}/splits?limit=0`)).toMatchObject({ limit: 1 });
    for (const [path, error] of [
      ['0x1/splits', 'invalid address: use 0x and 40 hex digits'],
      [`${alice}/merges?limit=x`, 'invalid limit: use a whole number, 1 or more'],
      [`${alice}/nrc?offset=100001`, 'invalid offset: at most 100000'],
      [`${alice}/activity?cursor=x`, 'invalid cursor: use next_cursor of an earlier page'],
      [`${alice}/redemptions?order=up`, 'invalid order: use asc or desc'],
      [`${alice}/polyusd-flows?kind=gift`, 'invalid kind: use all, deposit or withdrawal'],
    ])
      expect(await api.get(`/v3/wallets/${path}`, key)).toMatchObject({ status: 400, body: { error } });
    const free = await api.key('free');
    for (const name of ['splits', 'merges', 'nrc', 'activity', 'redemptions', 'fees-paid', 'polyusd-flows'])
      expect((await api.get(`/v3/wallets/${alice}/${name}`, free)).status).toBe(402);
  });
});

it('/v3 wallet event pages neither overlap nor skip while events arrive', async () => {
  const ids = walletEvents.map((event) => `${event.txHash}_0x${event.logIndex.toString(16)}`).reverse();
  let block = 1000;
  const arrive = async () => {
    block += 1;
    const [first] = walletEvents;
    await api.clickhouse.insertRows('wallet_events', [
      walletEventRow({
        ...first!,
        kind: block % 2 === 0 ? 'merge' : 'redemption',
        block,
        logIndex: 0,
        txHash: tx(block),
      }),
    ]);
  };
  const pages = await walkPages<Body>(get, `${alice}/activity?limit=2`, arrive);
  expect(pages.flatMap((page) => page.data.map((row) => row.id))).toEqual(ids);
});
