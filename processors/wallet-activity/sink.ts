import { topics } from '../../schemas/topics.js';
import type { WalletActivity } from '../../schemas/types.gen.js';
import { redemptionLegs, redemptionRates } from '../positions/redemption.js';
import {
  bool,
  dateTime,
  enum8,
  string,
  uint8,
  uint16,
  uint32,
  uint64,
  uint64Array,
  uint256Array,
} from '../sink/columns.js';
import { defineTable, type SinkDefinition } from '../sink/sink-definition.js';

const walletActivityTable = defineTable('wallet_activity', {
  wallet: string,
  timestamp: dateTime,
  block_number: uint64,
  log_index: uint32,
  id: string,
  action: enum8('BUY', 'SELL', 'SPLIT', 'MERGE', 'REDEEM', 'CONVERT', 'SEND', 'RECEIVE'),
  exchange_version: uint8,
  is_taker: bool,
  subject: string,
  tokens: uint256Array,
  amounts: uint64Array,
  shares: uint64,
  usdc: uint64,
  fee: uint64,
  fee_shares: uint64,
  payout_numerators: uint64Array,
  payout_denominator: uint64,
  paid: uint64Array,
  created: uint256Array,
  is_resolved: bool,
  _partition: uint16,
  _offset: uint64,
});

/** Each of the many partitions inserts separately, and a few large inserts cost a fraction of many small ones. The chunk size bounds memory. */
const LINGER_MS = 2_000;

interface Payouts {
  readonly numerators: readonly bigint[];
  readonly denominator: bigint;
  readonly paid: readonly bigint[];
}
const noPayouts: Payouts = { numerators: [], denominator: 1n, paid: [] };
const MAX_UINT64 = 2n ** 64n - 1n;

const greatestCommonDivisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : greatestCommonDivisor(b, a % b));

/** Payout per token of a redemption as the accounting of positions books it, or undefined if it cannot be determined from the record. */
function payoutsOf(activity: WalletActivity): Payouts | undefined {
  const { amounts, numerators, usdc } = activity;
  // Without a resolution, the number of shares cannot be derived from the payout.
  if (amounts === null && numerators === null && usdc > 0n) return undefined;
  const shares = amounts ?? activity.tokens.map(() => 0n);
  const rates = redemptionRates(activity, shares);
  if (rates === undefined) return undefined;
  // One denominator for all tokens: that of the resolution, or of the inferred ratio.
  const denominator = rates[0]?.denominator ?? 1n;
  const divisor = rates.reduce((common, rate) => greatestCommonDivisor(common, rate.numerator), denominator);
  const reduced = rates.map(({ numerator }) => numerator / divisor);
  if ([denominator / divisor, ...reduced].some((value) => value > MAX_UINT64)) return undefined;
  const paid = amounts === null ? [] : redemptionLegs(usdc, shares, rates).map(({ known }) => known);
  return { numerators: reduced, denominator: denominator / divisor, paid };
}

/** Every record of wallet.activity as one row. */
export const walletActivitySink: SinkDefinition = {
  name: 'wallet_activity',
  topic: topics.walletActivity,
  plans: topics.plansWalletActivity,
  lingerMs: LINGER_MS,
  maxChunkRecords: 10_000,
  tables: [walletActivityTable],
  // Ordered by wallet, so reconciliation by offset would read the whole table.
  retainsAllRows: false,
  kinds: new Set(['wallet_activity']),
  rows(event, logPosition, emit) {
    if (event.kind !== 'wallet_activity') return;
    const activity = event.value;
    const amounts = activity.amounts ?? [];
    const payouts = activity.action === 'REDEEM' ? payoutsOf(activity) : noPayouts;
    emit(walletActivityTable, {
      wallet: activity.wallet,
      timestamp: activity.timestamp_ms,
      block_number: activity.block_number,
      log_index: activity.log_index,
      id: activity.id,
      action: activity.action,
      exchange_version: activity.exchange_version,
      is_taker: activity.is_taker,
      subject: activity.subject,
      tokens: activity.tokens,
      amounts,
      shares: amounts[0] ?? 0n,
      usdc: activity.usdc,
      fee: activity.fee,
      fee_shares: activity.fee_shares,
      payout_numerators: payouts?.numerators ?? [],
      payout_denominator: payouts?.denominator ?? 1n,
      paid: payouts?.paid ?? [],
      created: activity.created,
      is_resolved: payouts !== undefined && !(activity.action === 'CONVERT' && activity.question_count === null),
      _partition: logPosition.partition,
      _offset: logPosition.offset,
    });
  },
};
