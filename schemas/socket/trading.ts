import { z } from 'zod';
import {
  enrichment,
  eventFrame,
  hex,
  logLocation,
  millis,
  price,
  seconds,
  seq,
  shares,
  side,
  text,
  tokenId,
  unsigned,
  usdc,
  wallet,
} from './fields.js';

const exchangeVersion = z
  .enum(['v2', 'v3'])
  .meta({ description: 'Generation of the exchange; absent for the first.' })
  .optional();
const makerAmount = unsigned("Amount that the row's maker gives, base units: USDC for BUY, shares for SELL.");
const takerAmount = unsigned("Amount that the row's maker receives, base units.");

export const settlement = eventFrame(
  'settlement',
  'A match seen in the mempool, before its block. About 0.2 % of them revert; no further message follows then.',
  {
    tx_hash: hex('Transaction; joins the status_update.'),
    status: z.literal('pending'),
    detected_at: millis('When it was first seen.'),
    block_number: z.null(),
    taker_wallet: wallet('Taker.'),
    taker_token: tokenId,
    taker_side: side,
    taker_price: price('Executed price, not the limit.'),
    taker_size: shares('Executed size.'),
    ...enrichment,
    event_slug: text('Slug of the parent event.').optional(),
    trades: z
      .array(
        z.strictObject({
          maker: wallet('Owner of this order.'),
          signer: wallet('Key that signed it.'),
          taker: wallet("The settlement's taker."),
          token_id: tokenId,
          side,
          price: price('Of this row.'),
          size: shares('Of this row.'),
          maker_amount: makerAmount,
          taker_amount: takerAmount,
          outcome: text('Label of the token.').optional(),
          order_hash: hex('EIP-712 hash of the order.'),
          exchange_version: exchangeVersion,
        }),
      )
      .meta({ description: "Maker orders in calldata order, the taker's order last, each from its maker's side." }),
  },
);

export const statusUpdate = eventFrame('status_update', 'The block of a settlement arrived.', {
  tx_hash: hex('Transaction of the settlement.'),
  token_id: tokenId,
  block_number: z.number().int(),
  confirmed_at: millis('When this service received the block.'),
  pending_detected_at: millis('When the settlement was first seen.'),
  latency_ms: z.number().int().meta({ description: 'confirmed_at - pending_detected_at.' }),
  taker_wallet: wallet('Taker.'),
  maker_wallets: z.array(wallet('Maker.')),
  order_hashes: z.array(hex('Order.')),
  confirmed_fills: z.array(
    z.strictObject({
      order_hash: hex('Order.'),
      maker: wallet('Owner of the order.'),
      taker: wallet("The taker; on the taker's row the exchange."),
      token_id: tokenId,
      side,
      price: price('Of this fill.'),
      size: shares('Gross.'),
      maker_amount: makerAmount,
      taker_amount: takerAmount,
      fee: usdc('Fee.'),
    }),
  ),
  ...enrichment,
});

export const trade = eventFrame('trade', 'One OrderFilled log of a block.', {
  ...logLocation,
  exchange: z.enum(['ctf_exchange', 'neg_risk_ctf_exchange']),
  maker: wallet('Owner of the order.'),
  taker: wallet("The taker; on the taker's row the exchange."),
  token_id: tokenId,
  side,
  price: price('Of this fill.'),
  size: shares('Gross.'),
  maker_amount: makerAmount,
  taker_amount: takerAmount,
  fee: usdc('Fee.'),
  order_hash: hex('Order.'),
  exchange_version: exchangeVersion,
  builder: hex('Builder code of the order.').optional(),
  ...enrichment,
  event_slug: text('Slug of the parent event.').optional(),
});

export const fill = z
  .strictObject({
    type: z.literal('event'),
    seq,
    timestamp: millis('When the settlement was first seen.'),
    data: z.strictObject({
      order_hash: hex('Order.'),
      user: wallet('Owner of the order.'),
      taker: wallet("The taker; on the taker's row the exchange."),
      tx_hash: hex('Transaction.'),
      side,
      price: price('Of this row.'),
      shares: z.number().int().meta({ description: 'Base units, 6 decimals.' }),
      shares_normalized: shares('Size.'),
      token_id: tokenId,
      token_label: z.string().nullable(),
      condition_id: z.string().nullable(),
      market_slug: z.string().nullable(),
      title: z.string().nullable(),
      timestamp: seconds('When the settlement was first seen.'),
      block_number: z.null(),
      log_index: z.null(),
    }),
  })
  .meta({
    title: 'event',
    description:
      'One row of a pending settlement, flat: always these sixteen fields, null if the catalogue has no value.',
  });
