import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { computeBlockActivity } from '../../processors/activity/block-activity.js';
import { createTokens } from '../../processors/activity/tokens.js';
import { applyActivity } from '../../processors/positions/apply-activity.js';
import { pnlSink, positionsSink } from '../../processors/positions/sink.js';
import { RowBuffer } from '../../processors/sink/row-buffer.js';
import type { SinkDefinition } from '../../processors/sink/sink-definition.js';
import { SINK_FORMAT } from '../../processors/sink/table-store.js';
import { createHolding, type Holding } from '../../schemas/accounting/holding.js';
import type { AnyEvent } from '../../schemas/codec.js';
import type { ActivityState, PnlEvent, WalletActivity } from '../../schemas/types.gen.js';
import { address } from './rows.js';
import { alice, bob, carol, comboYes, rain, rainNo, rainYes, snow, snowNo, snowYes, T, tx } from './venue.js';

/** Rows sent at once: an insert into a table with views takes a multiple of its bytes. */
const ROWS_PER_INSERT = 5_000;

/** Rows of records in the tables of a sink, as it writes them; the position of a record in the list is its offset. */
export async function insertRecords(
  clickhouse: ClickHouse,
  definition: SinkDefinition,
  records: readonly AnyEvent[],
): Promise<void> {
  for (let start = 0; start < records.length; start += ROWS_PER_INSERT) {
    const inserts = new Map<string, { readonly columns: readonly string[]; readonly rows: RowBuffer }>();
    records.slice(start, start + ROWS_PER_INSERT).forEach((record, n) => {
      definition.rows(record, { partition: 0, offset: start + n, timestampMs: 0 }, (table, row) => {
        const found = inserts.get(table.name) ?? { columns: table.columns, rows: new RowBuffer(table.header) };
        table.write(found.rows, row);
        inserts.set(table.name, found);
      });
    });
    for (const [name, { columns, rows }] of inserts) {
      rows.commit();
      await clickhouse.insertBytes(name, SINK_FORMAT, rows.content(), { columns });
    }
  }
}

/** Applies the real accounting to records of activity. */
export function accountFor(activity: readonly WalletActivity[]): {
  readonly positions: readonly Holding[];
  readonly events: readonly PnlEvent[];
} {
  const holdings = new Map<string, Holding>();
  const events = activity.flatMap((one) => {
    const keyOf = (token: string) => `${one.wallet} ${token}`;
    return applyActivity(one, {
      get: (token) => holdings.get(keyOf(token)),
      getOrCreate(token) {
        const found = holdings.get(keyOf(token)) ?? createHolding(one.wallet, token, one.timestamp_ms);
        holdings.set(keyOf(token), found);
        return found;
      },
    });
  });
  return { positions: [...holdings.values()], events };
}

/** Inserts the positions and PnL events of records of activity. */
export async function insertAccounts(clickhouse: ClickHouse, activity: readonly WalletActivity[]): Promise<void> {
  const { positions, events } = accountFor(activity);
  await insertRecords(
    clickhouse,
    positionsSink,
    positions.map((value): AnyEvent => ({ kind: 'position', value })),
  );
  await insertRecords(
    clickhouse,
    pnlSink,
    events.map((value): AnyEvent => ({ kind: 'pnl_event', value })),
  );
}

/** What the activity processor makes of these blocks, and the accounting of it, in the tables. */
export async function insertAccountsOfBlocks(
  clickhouse: ClickHouse,
  blocks: readonly (readonly AnyEvent[])[],
): Promise<void> {
  const memory = new Map<string, ActivityState>();
  const state = {
    get: (id: string) => memory.get(id),
    set: (id: string, value: ActivityState) => void memory.set(id, value),
  };
  const tokens = createTokens();
  await insertAccounts(
    clickhouse,
    blocks.flatMap((facts) => computeBlockActivity(facts, tokens, state).activity),
  );
}

type ActivityInput = Pick<WalletActivity, 'wallet' | 'block_number' | 'action' | 'tokens'> & Partial<WalletActivity>;

/** A record of activity, two seconds per block from T at block 100. */
export function activityOf(input: ActivityInput): WalletActivity {
  const log_index = input.log_index ?? 0;
  return {
    id: `${tx(input.block_number)}-${log_index}`,
    log_index,
    timestamp_ms: (T + (input.block_number - 100) * 2) * 1000,
    exchange_version: input.action === 'BUY' || input.action === 'SELL' ? 2 : 0,
    is_taker: false,
    subject: '',
    amounts: null,
    usdc: 0n,
    fee: 0n,
    fee_shares: 0n,
    minted: 0n,
    numerators: null,
    denominator: '1',
    created: [],
    question_count: null,
    fee_unknown: false,
    ...input,
  };
}

const units = (usd: number) => BigInt(Math.round(usd * 1e6));

/** A trade: shares, and USD for all of them. */
export const tradeOf = (
  wallet: string,
  block: number,
  action: 'BUY' | 'SELL',
  token: string,
  shares: number,
  usd: number,
): WalletActivity =>
  activityOf({
    wallet,
    block_number: block,
    action,
    tokens: [token],
    amounts: [units(shares)],
    usdc: units(usd),
    exchange_version: token === comboYes ? 3 : 2,
  });

export const dave = address(0xd4);
const usd = (dollars: number) => BigInt(Math.round(dollars * 1e6));

/**
 * The fills of the shared venue as wallet activity, with the activity that they require: Bob splits before he sells; Carol sells 10 Yes without a
 * recorded inflow; Alice sends Dave 20 Yes, sells 40 more at 0.45 and redeems her Rain shares, of which a tenth of a share had been the fee.
 */
const venueActivity: readonly WalletActivity[] = [
  {
    wallet: bob,
    block_number: 98,
    action: 'SPLIT',
    tokens: [rainYes, rainNo],
    amounts: [usd(10), usd(10)],
    usdc: usd(10),
  },
  {
    wallet: bob,
    block_number: 99,
    action: 'SPLIT',
    tokens: [snowYes, snowNo],
    amounts: [usd(200), usd(200)],
    usdc: usd(200),
  },
  {
    wallet: alice,
    block_number: 100,
    log_index: 5,
    action: 'BUY',
    tokens: [snowYes],
    amounts: [usd(100)],
    usdc: usd(40),
  },
  {
    wallet: bob,
    block_number: 100,
    log_index: 6,
    action: 'SELL',
    tokens: [snowYes],
    amounts: [usd(100)],
    usdc: usd(40),
    fee: usd(0.5),
    is_taker: true,
  },
  {
    wallet: carol,
    block_number: 101,
    log_index: 1,
    action: 'BUY',
    tokens: [snowNo],
    amounts: [usd(50)],
    usdc: usd(30),
    minted: usd(50),
  },
  {
    wallet: alice,
    block_number: 101,
    log_index: 2,
    action: 'BUY',
    tokens: [snowYes],
    amounts: [usd(50)],
    usdc: usd(20),
    fee: usd(0.25),
    is_taker: true,
  },
  {
    wallet: alice,
    block_number: 102,
    log_index: 0,
    action: 'BUY',
    tokens: [snowYes],
    amounts: [usd(10)],
    usdc: usd(4),
  },
  {
    wallet: carol,
    block_number: 102,
    log_index: 1,
    action: 'SELL',
    tokens: [snowYes],
    amounts: [usd(10)],
    usdc: usd(4),
    is_taker: true,
  },
  { wallet: bob, block_number: 103, log_index: 0, action: 'SELL', tokens: [rainYes], amounts: [usd(10)], usdc: usd(9) },
  {
    wallet: alice,
    block_number: 103,
    log_index: 1,
    action: 'BUY',
    tokens: [rainYes],
    amounts: [usd(10)],
    usdc: usd(9),
    fee_shares: usd(0.1),
    is_taker: true,
  },
  { wallet: alice, block_number: 105, action: 'SEND', tokens: [snowYes], amounts: [usd(20)], subject: dave },
  { wallet: dave, block_number: 105, action: 'RECEIVE', tokens: [snowYes], amounts: [usd(20)], subject: alice },
  { wallet: alice, block_number: 106, action: 'SELL', tokens: [snowYes], amounts: [usd(40)], usdc: usd(18) },
  {
    wallet: alice,
    block_number: 113,
    action: 'REDEEM',
    tokens: [rainYes, rainNo],
    amounts: [usd(9.9), 0n],
    usdc: usd(9.9),
    numerators: ['1', '0'],
  },
].map((input) => activityOf(input as ActivityInput));

/** Unix seconds (year 2100) of quotes that are fresh at any test time. */
export const ALWAYS_FRESH_S = 4_102_444_800;

/** Inserts the accounts of the shared venue, with quotes of Snow (Yes 0.42, No 0.58) and the settlement of Rain. */
export async function insertVenueAccounts(clickhouse: ClickHouse): Promise<void> {
  await insertAccounts(clickhouse, venueActivity);
  await clickhouse.insertRows('token_quotes', [
    {
      token_id: snowYes,
      condition_id: snow.conditionId,
      outcome_index: 0,
      price: 0.41,
      bid: 0.4,
      ask: 0.44,
      updated_at: ALWAYS_FRESH_S * 1000,
      _offset: 1,
    },
    {
      token_id: snowNo,
      condition_id: snow.conditionId,
      outcome_index: 1,
      price: 0.59,
      bid: 0.56,
      ask: 0.6,
      updated_at: ALWAYS_FRESH_S * 1000,
      _offset: 1,
    },
  ]);
  await clickhouse.insertRows('token_settlements', [
    {
      token_id: rainYes,
      condition_id: rain.conditionId,
      outcome_index: 0,
      numerator: '1',
      denominator: '1',
      timestamp: T + 18,
      _offset: 1,
    },
    {
      token_id: rainNo,
      condition_id: rain.conditionId,
      outcome_index: 1,
      numerator: '0',
      denominator: '1',
      timestamp: T + 18,
      _offset: 1,
    },
  ]);
}
