import { expect, it } from 'vitest';
import { addresses } from '../../schemas/primitives/venue.js';
import type { PositionSplit, Redemption } from '../../schemas/types.gen.js';
import { walletEventsSink } from './sink.js';

const WALLET = `0x${'a1'.repeat(20)}`;
const header = {
  block_number: 1,
  log_index: 2,
  timestamp_ms: 3_000,
  tx_hash: `0x${'b2'.repeat(32)}`,
  block_hash: `0x${'b3'.repeat(32)}`,
};
const CONDITION = `0x${'c3'.repeat(32)}`;
const split = (collateral_token: string): PositionSplit => ({
  ...header,
  id: 'split',
  stakeholder: WALLET,
  collateral_token,
  condition_id: CONDITION,
  amount: 1_000_000n,
});
const redemption = (collateral_token: string, condition_id = CONDITION): Redemption => ({
  ...header,
  id: 'redemption',
  redeemer: WALLET,
  collateral_token,
  condition_id,
  index_sets: [1],
  amounts: [1_000_000n],
  payout: 1_000_000n,
  source: null,
});

it('writes splits, merges and redemptions of the collateral of the venue and of combos only, since their amounts are USDC', () => {
  const emitted: unknown[] = [];
  const apply = (event: Parameters<typeof walletEventsSink.rows>[0]) =>
    walletEventsSink.rows(event, { offset: 7 } as never, (_table, row) => emitted.push(row));
  for (const collateral of [`0x${'fa'.repeat(20)}`, addresses.usdcE, addresses.wrappedCollateral]) {
    apply({ kind: 'position_split', value: split(collateral) });
    apply({ kind: 'position_merge', value: split(collateral) });
    apply({ kind: 'redemption', value: redemption(collateral) });
  }
  apply({ kind: 'redemption', value: redemption(addresses.pusd, `0x${'d4'.repeat(31)}`) });
  expect(emitted.map((row) => (row as { kind: string }).kind)).toEqual([
    ...['split', 'merge', 'redemption'],
    ...['split', 'merge', 'redemption'],
    'redemption',
  ]);
});
