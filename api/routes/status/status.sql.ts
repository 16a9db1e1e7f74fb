import { isComboSql } from '../../../schemas/primitives/positions.sql.js';
import type { Sql } from '../../tables/port.js';
import type { Millis } from '../../tables/values.js';

export interface CountsRow {
  readonly markets: string;
  readonly wallets: string;
  readonly tokens: string;
  readonly latest_block: string;
  readonly traded: string;
  readonly described: string;
  /** null: no block yet. */
  readonly first_block: string | null;
  readonly first_ms: Millis;
}

/** Sizes of what we hold. Wallets are counted approximately (HyperLogLog-like, within about 1 %). */
export const countsSql: Sql = {
  text: `SELECT
      (SELECT uniqExact(condition_id) FROM markets) AS markets,
      (SELECT uniq(wallet) FROM fills_by_wallet) AS wallets,
      (SELECT uniqExact(token_id) FROM tokens) AS tokens,
      (SELECT max(block_number) FROM blocks) AS latest_block,
      (SELECT uniqExact(token_id) FROM token_volumes WHERE NOT ${isComboSql('token_id')}) AS traded,
      (SELECT uniqExact(token_id) FROM token_volumes
        WHERE NOT ${isComboSql('token_id')} AND token_id IN (SELECT token_id FROM tokens)) AS described,
      (SELECT minOrNull(block_number) FROM blocks) AS first_block,
      (SELECT toInt64(toUnixTimestamp(minOrNull(timestamp))) * 1000 FROM blocks) AS first_ms`,
  params: {},
};
