import type { AccountState, Retract, Trade } from '../../schemas/types.gen.js';

/** The amounts as an Avro reader without this service's logical types reads them: two's complement, big endian, computed by hand. */
const amounts = {
  usdc: [12_500_000n, '00bebc20'],
  shares: [25_000_000n, '017d7840'],
  maker_amount: [12_500_000n, '00bebc20'],
  taker_amount: [25_000_000n, '017d7840'],
  fee: [128n, '0080'],
  fee_shares: [0n, '00'],
} as const satisfies Partial<Record<keyof Trade, readonly [bigint, string]>>;

const common = {
  id: '0xaa-7',
  block_number: 90_000_001,
  block_hash: '0xb1',
  timestamp_ms: 1_790_000_000_000,
  tx_hash: '0xaa',
  log_index: 7,
  exchange: '0xe1',
  exchange_version: 2,
  neg_risk: true,
  order_hash: '0x0d',
  maker: '0x01',
  taker: '0x02',
  is_taker_order: false,
  side: 'SELL',
  token_id: '71321045679252212594626385532706912750332728571942532289631379312455583992563',
  maker_asset_id: '0',
  taker_asset_id: '7',
  builder: null,
} as const;

const pick = <T>(of: (amount: readonly [bigint, string]) => T) => ({
  usdc: of(amounts.usdc),
  shares: of(amounts.shares),
  maker_amount: of(amounts.maker_amount),
  taker_amount: of(amounts.taker_amount),
  fee: of(amounts.fee),
  fee_shares: of(amounts.fee_shares),
});

export const trade: Trade = { ...common, ...pick(([value]) => value) };
export const tradeForOthers = { ...common, ...pick(([, hex]) => Buffer.from(hex, 'hex')) };

export const retract: Retract = {
  id: 'retract-1-2-0xaa',
  from_block: 1,
  to_block: 2,
  block_hashes: ['0xaa', '0xbb'],
  detected_at_ms: 1_790_000_000_123,
};

/** A union of records: readers without this service's settings also name the branch. */
export const accountState: AccountState = {
  entity: 'ip-day:aa:2026-01-01',
  updated_at_ms: 1,
  command_id: 'c',
  state: { 'oddstream.IpDay': { ip_hash: 'aa', utc_day: '2026-01-01', keys_created: 1 } },
};
