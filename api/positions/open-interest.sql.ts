import { gaplessStartSql } from '../../schemas/coverage/coverage.sql.js';
import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import type { Sql } from '../tables/port.js';
import type { SqlBool } from '../tables/values.js';

/** Collateral of full sets: minted less merged and redeemed within the recorded history, base units as text. */
export interface OpenInterestRow {
  readonly net: string;
  /** True if the history is without a gap from the preparation of the condition on. */
  readonly complete: SqlBool;
  /** Number of known tokens of the condition. */
  readonly tokens: number | string;
}

const tokens = `SELECT token_id FROM tokens WHERE condition_id = {condition:String}
        UNION DISTINCT SELECT token_id FROM chain_tokens WHERE condition_id = {condition:String}`;

/** Tokens prepared in the newest stretch of the history without a gap. Without any block: all that were prepared. */
const fullyKnown = `SELECT token_id FROM condition_tokens WHERE timestamp >= toDateTime({gapless_from:UInt32}, 'UTC')`;

/** Tokens of conditions prepared in it, with either collateral of the venue and any number of outcomes: all logs that move their collateral are recorded. */
const ofPreparedConditions = `SELECT token_id FROM chain_tokens WHERE condition_id IN (
        SELECT condition_id FROM conditions WHERE timestamp >= toDateTime({gapless_from:UInt32}, 'UTC'))`;

/** Start of that stretch, Unix seconds; null while there is no block. */
export const gaplessFromSql = (): Sql => ({
  text: `SELECT intDiv(tupleElement((${gaplessStartSql}), 2), 1000) AS at`,
  params: {},
});

/** Open interest of a condition: the sum over its tokens. `gaplessFromS`: of gaplessFromSql, 0 for null. */
export const conditionOpenInterestSql = (conditionId: string, gaplessFromS: number): Sql => ({
  text: `SELECT toString((SELECT sum(amount) FROM open_interest WHERE token_id IN (${tokens}))) AS net,
        (SELECT count() FROM (${fullyKnown}) WHERE token_id IN (${tokens})) > 0 AS complete, (SELECT count() FROM (${tokens})) AS tokens`,
  params: { condition: conditionId, gapless_from: gaplessFromS },
});

/**
 * Open interest of all conditions; complete only if that of each condition is. Without combos: splits, merges and redemptions by their own modules are not
 * in the table. Without tokens whose sum is 0: merges of parts delete their rows, so they would count until then only.
 */
export const totalOpenInterestSql = (gaplessFromS: number): Sql => ({
  text: `SELECT toString(sum(o.amount)) AS net, countIf(o.token_id NOT IN (${ofPreparedConditions})) = 0 AS complete, 0 AS tokens
      FROM open_interest AS o WHERE o.amount != 0 AND NOT ${isComboSql('o.token_id')}`,
  params: { gapless_from: gaplessFromS },
});
