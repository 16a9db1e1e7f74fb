import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import type { Sql } from '../tables/port.js';
import type { SqlBool } from '../tables/values.js';

/** Collateral of full sets: minted less merged and redeemed within the recorded history, base units as text. */
export interface OpenInterestRow {
  readonly net: string;
  /** True if the recorded history includes the preparation of the condition. */
  readonly complete: SqlBool;
  /** Number of known tokens of the condition. */
  readonly tokens: number | string;
}

const tokens = `SELECT token_id FROM tokens WHERE condition_id = {condition:String}
        UNION DISTINCT SELECT token_id FROM chain_tokens WHERE condition_id = {condition:String}`;

/** Open interest of a condition: the sum over its tokens. */
export const conditionOpenInterestSql = (conditionId: string): Sql => ({
  text: `SELECT toString((SELECT sum(amount) FROM open_interest WHERE token_id IN (${tokens}))) AS net,
        (SELECT count() FROM condition_tokens WHERE token_id IN (${tokens})) > 0 AS complete, (SELECT count() FROM (${tokens})) AS tokens`,
  params: { condition: conditionId },
});

/** Open interest of all conditions; complete only if that of each condition is. */
export const totalOpenInterestSql = (): Sql => ({
  text: `SELECT toString(sum(o.amount)) AS net, countIf(NOT ${isComboSql('o.token_id')} AND o.token_id NOT IN (SELECT token_id FROM condition_tokens)) = 0 AS complete, 0 AS tokens
      FROM open_interest AS o
      SETTINGS max_execution_time = 10`,
  params: {},
});
