import type { ClickHouse } from '../../infra/clickhouse/client.js';
import {
  address,
  eventRow,
  type FillInput,
  fillRow,
  hex32,
  insertFills,
  type MarketInput,
  marketRow,
  tokenRows,
  type WalletEventInput,
  walletEventRow,
} from './rows.js';

/** A small synthetic venue that the endpoint tests share; every expected value is computed by hand from these rows. */
export const T = 1_790_000_000;
export const alice = address(0xa1);
export const bob = address(0xb2);
export const carol = address(0xc3);
export const exchange = address(0xe);
export const builder = hex32(0xbc);
/** 78 digits. */
export const snowYes = '71000000000000000000000000000000000000000000000000000000000000000000000000001';
export const snowNo = '502';
export const rainYes = '601';
export const rainNo = '602';
export const negRiskMarket = hex32(0xab00);
/** Combinatorial module, base hash, two legs, reserved bits zero, no chain, first condition. */
export const comboCondition = `0x03${'c'.repeat(32)}0002${'0'.repeat(24)}`;
export const comboYes = (BigInt(comboCondition) << 8n).toString();
export const order = (n: number): string => hex32(0xd0 + n);
export const tx = (n: number): string => hex32(0x70 + n);

export const snow: MarketInput = {
  conditionId: hex32(0xc1),
  id: 'm1',
  slug: 'snow-lisbon-may',
  question: 'Will it snow in Lisbon by May?',
  tokenIds: [snowYes, snowNo],
  eventId: '4242',
  eventSlug: 'snow-lisbon',
  eventTitle: 'Snow in Lisbon',
  image: 'https://img.example/snow.png',
  tags: ['weather', 'europe'],
  volume: 5120.25,
  bestBid: 0.4,
  bestAsk: 0.44,
  endMs: Date.UTC(2027, 4, 1),
};
/** Child of the neg-risk event, resolved. */
export const rain: MarketInput = {
  conditionId: hex32(0xc2),
  id: 'm2',
  slug: 'rain',
  question: 'Rain?',
  tokenIds: [rainYes, rainNo],
  eventId: '77',
  eventSlug: 'sky',
  eventTitle: 'What falls from the sky?',
  groupItemTitle: 'Rain',
  negRiskMarketId: negRiskMarket,
  tags: ['weather'],
  volume: 90.5,
  closed: true,
  endMs: Date.UTC(2027, 8, 30),
};
/** Another market of the same event, without trades. */
export const hail: MarketInput = {
  conditionId: hex32(0xc3),
  id: 'm3',
  slug: 'hail',
  question: 'Hail?',
  tokenIds: ['701', '702'],
  eventId: '77',
  eventSlug: 'sky',
  eventTitle: 'What falls from the sky?',
  groupItemTitle: 'Hail',
  negRiskMarketId: negRiskMarket,
  volume: 1000,
  endMs: Date.UTC(2027, 8, 30),
};

const fill = (
  over: Omit<FillInput, 'timestampS' | 'orderHash' | 'txHash'> & { order: number; tx: number },
): FillInput => ({
  ...over,
  orderHash: order(over.order),
  txHash: tx(over.tx),
  timestampS: T + (over.block - 100) * 2,
});

/**
 * tx 1: Bob's order sells 100 Yes to Alice's bid at 0.40. tx 2: Alice's order buys 50 Yes at 0.40, minted with Carol's bid for 50 No at 0.60.
 * tx 3: Carol sells 10 Yes into the rest of Alice's bid. tx 4, first generation: Alice buys 10 Rain of Bob's ask at 0.90. tx 5: a combo.
 */
export const fills: readonly FillInput[] = [
  {
    block: 100,
    logIndex: 5,
    order: 1,
    tx: 1,
    side: 'BUY',
    tokenId: snowYes,
    usdc: 40_000_000n,
    shares: 100_000_000n,
    maker: alice,
    taker: bob,
  },
  {
    block: 100,
    logIndex: 6,
    order: 2,
    tx: 1,
    side: 'SELL',
    tokenId: snowYes,
    usdc: 40_000_000n,
    shares: 100_000_000n,
    fee: 500_000n,
    maker: bob,
    taker: exchange,
    takerOrder: true,
  },
  {
    block: 101,
    logIndex: 1,
    order: 3,
    tx: 2,
    side: 'BUY',
    tokenId: snowNo,
    usdc: 30_000_000n,
    shares: 50_000_000n,
    maker: carol,
    taker: alice,
  },
  {
    block: 101,
    logIndex: 2,
    order: 4,
    tx: 2,
    side: 'BUY',
    tokenId: snowYes,
    usdc: 20_000_000n,
    shares: 50_000_000n,
    fee: 250_000n,
    maker: alice,
    taker: exchange,
    takerOrder: true,
    builder,
  },
  {
    block: 102,
    logIndex: 0,
    order: 1,
    tx: 3,
    side: 'BUY',
    tokenId: snowYes,
    usdc: 4_000_000n,
    shares: 10_000_000n,
    maker: alice,
    taker: carol,
  },
  {
    block: 102,
    logIndex: 1,
    order: 5,
    tx: 3,
    side: 'SELL',
    tokenId: snowYes,
    usdc: 4_000_000n,
    shares: 10_000_000n,
    maker: carol,
    taker: exchange,
    takerOrder: true,
  },
  {
    block: 103,
    logIndex: 0,
    order: 6,
    tx: 4,
    side: 'SELL',
    tokenId: rainYes,
    usdc: 9_000_000n,
    shares: 10_000_000n,
    maker: bob,
    taker: alice,
    version: 1,
  },
  {
    block: 103,
    logIndex: 1,
    order: 7,
    tx: 4,
    side: 'BUY',
    tokenId: rainYes,
    usdc: 9_000_000n,
    shares: 10_000_000n,
    fee: 90_000n,
    maker: alice,
    taker: exchange,
    takerOrder: true,
    version: 1,
  },
  {
    block: 104,
    logIndex: 41,
    order: 8,
    tx: 5,
    side: 'BUY',
    tokenId: comboYes,
    usdc: 10_000_000n,
    shares: 80_000_000n,
    fee: 50_000n,
    maker: alice,
    taker: carol,
    version: 3,
  },
].map((row) => fill(row as Parameters<typeof fill>[0]));

/** `<tx>_<order>_<log index>` of fill n. */
export const fillId = (n: number): string => {
  const { txHash, orderHash, logIndex } = fills[n] as FillInput;
  return `${txHash}_${orderHash}_${logIndex}`;
};

/** Of Alice, in chain order: split 50, convert 15 (questions 1 and 2), merge 5, redeem 80, redeem nothing. */
export const walletEvents: readonly WalletEventInput[] = [
  { kind: 'split', block: 110, logIndex: 0x11, subjectId: snow.conditionId, amount: 50_000_000n },
  { kind: 'conversion', block: 111, logIndex: 0x20, subjectId: negRiskMarket, amount: 15_000_000n, indexSets: ['6'] },
  { kind: 'merge', block: 112, logIndex: 3, subjectId: snow.conditionId, amount: 5_000_000n },
  {
    kind: 'redemption',
    block: 113,
    logIndex: 0x1f4,
    subjectId: rain.conditionId,
    amount: 80_000_000n,
    indexSets: ['1', '2'],
  },
  {
    kind: 'redemption',
    block: 114,
    logIndex: 0,
    subjectId: hex32(0xdead),
    amount: 0n,
    indexSets: ['2'],
    source: 'AutoRedeemer.BinaryRedemption',
  },
].map((event) => ({
  ...(event as Omit<WalletEventInput, 'wallet' | 'timestampS' | 'txHash'>),
  wallet: alice,
  timestampS: T + (event.block - 100) * 2,
  txHash: tx(event.block),
}));

export async function insertVenue(clickhouse: ClickHouse): Promise<void> {
  const markets = [snow, rain, hail];
  await insertFills(clickhouse, fills.map(fillRow));
  await clickhouse.insertRows('wallet_events', walletEvents.map(walletEventRow));
  await clickhouse.insertRows('markets', markets.map(marketRow));
  await clickhouse.insertRows('tokens', markets.flatMap(tokenRows));
  await clickhouse.insertRows(
    'events',
    [
      { id: '4242', slug: 'snow-lisbon', title: 'Snow in Lisbon', conditionIds: [snow.conditionId] },
      {
        id: '77',
        slug: 'sky',
        title: 'What falls from the sky?',
        conditionIds: [rain.conditionId, hail.conditionId],
        negRiskMarketId: negRiskMarket,
        endMs: Date.UTC(2027, 8, 30),
      },
    ].map(eventRow),
  );
  await clickhouse.insertRows('tags', [
    { id: '1', slug: 'weather', label: 'Weather', _offset: 1 },
    { id: '2', slug: 'europe', label: 'Europe', _offset: 2 },
  ]);
  await clickhouse.insertRows('conditions', [
    {
      condition_id: rain.conditionId,
      oracle: address(1),
      question_id: hex32(1),
      outcome_slot_count: 2,
      block_number: 50,
      log_index: 0,
      timestamp: T - 1000,
      tx_hash: tx(50),
      _offset: 1,
    },
  ]);
  await clickhouse.insertRows('resolutions', [
    {
      condition_id: rain.conditionId,
      oracle: address(1),
      question_id: hex32(1),
      outcome_slot_count: 2,
      payout_numerators: ['1', '0'],
      block_number: 109,
      log_index: 0,
      timestamp: T + 18,
      tx_hash: tx(109),
      _offset: 2,
    },
  ]);
}
