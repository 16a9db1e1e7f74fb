import { gaplessStartSql } from '../../../schemas/coverage/coverage.sql.js';
import { isComboSql } from '../../../schemas/primitives/positions.sql.js';
import type { Sql } from '../../tables/port.js';
import type { Millis } from '../../tables/values.js';

/** Maximum number of alarms in a response. */
export const MAX_ALARMS = 50;

export interface CountsRow {
  readonly markets: string;
  readonly wallets: string;
  readonly tokens: string;
  readonly latest_block: string;
  readonly traded: string;
  readonly described: string;
  /** First block after the newest gap; null: no block yet. */
  readonly first_block: string | null;
  readonly first_ms: Millis;
}

/** Table sizes. Wallets are counted approximately (uniq, error about 1 %). */
export const countsSql: Sql = {
  text: `SELECT
      (SELECT uniqExact(condition_id) FROM markets) AS markets,
      (SELECT uniq(wallet) FROM fills_by_wallet) AS wallets,
      (SELECT uniqExact(token_id) FROM tokens) AS tokens,
      (SELECT max(block_number) FROM blocks) AS latest_block,
      (SELECT uniqExact(token_id) FROM token_volumes WHERE NOT ${isComboSql('token_id')}) AS traded,
      (SELECT uniqExact(token_id) FROM token_volumes
        WHERE NOT ${isComboSql('token_id')} AND token_id IN (SELECT token_id FROM tokens)) AS described,
      tupleElement(gapless, 1) AS first_block, tupleElement(gapless, 2) AS first_ms,
      (${gaplessStartSql}) AS gapless`,
  params: {},
};

/** Number of logs of one unknown event of one contract. */
export interface UnknownEventRow {
  readonly address: string;
  /** '' for an anonymous event. */
  readonly topic0: string;
  readonly logs: string;
  readonly first_block: string;
  readonly last_block: string;
  readonly last_ms: Millis;
  /** Transaction of the newest log. */
  readonly tx_hash: string;
}

/** Events of watched contracts that the decoder does not know, newest first. */
export const unknownEventsSql: Sql = {
  text: `SELECT address, if(empty(topics), '', topics[1]) AS topic0, toString(count()) AS logs, toString(min(block_number)) AS first_block,
      toString(max(block_number)) AS last_block, toInt64(toUnixTimestamp(max(timestamp))) * 1000 AS last_ms, argMax(tx_hash, (block_number, log_index)) AS tx_hash
    FROM unknown_logs FINAL GROUP BY address, topic0 ORDER BY max(block_number) DESC, address, topic0 LIMIT {limit:UInt32}`,
  params: { limit: MAX_ALARMS },
};
