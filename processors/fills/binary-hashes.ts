import type { MaterializedViewSpec, Migration } from '../../infra/clickhouse/ddl.js';
import { matchesByDayView } from './matches-by-day.js';
import { orderHashes } from './order-index.js';
import { byBuilder, byToken, byWallet, fills } from './tables.js';

const copied = `block_number, log_index, timestamp, tx_hash, exchange_version, neg_risk, order_hash, maker, taker,
      is_taker_order, side, token_id, usdc, shares, fee, fee_shares, builder, _offset`;

const copies: readonly MaterializedViewSpec[] = [
  {
    ...byWallet,
    select: (from) => `SELECT party.1 AS wallet, party.2 AS role, ${copied}
    FROM ${from}
    ARRAY JOIN if(is_taker_order, [(maker, 'maker')], [(maker, 'maker'), (taker, 'taker')]) AS party`,
  },
  { ...byToken, select: (from) => `SELECT ${copied} FROM ${from}` },
  { ...byBuilder, select: (from) => `SELECT ${copied} FROM ${from} WHERE builder != ''` },
];

/**
 * Hashes in `fills` and its copies as FixedString(32) instead of text: half the bytes to sort, write and merge. `id` is gone, since it was the transaction and
 * the log index; the copies do without `exchange` too. Wallets stay text: a filter by wallet must use the sorting key through every view.
 */
export const binaryHashes: Migration = {
  id: '0069_binary_hashes',
  statements: (ddl) => {
    const hashes = ['tx_hash', 'order_hash'];
    const views = [...copies, matchesByDayView];
    return [
      ...views.flatMap((view) => ddl.dropView(view.name)),
      ...ddl.dropIndex(orderHashes),
      ...[fills, ...views.map(({ to }) => to)].flatMap((table) => ddl.hashesToBytes(table, hashes)),
      ...ddl.dropColumns(fills, ['id']),
      ...copies.flatMap(({ to }) => ddl.dropColumns(to, ['id', 'exchange'])),
      ...ddl.index(orderHashes),
      ...views.flatMap((view) => ddl.materializedView(view)),
    ];
  },
};
