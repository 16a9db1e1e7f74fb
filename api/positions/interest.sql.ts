import type { Sql } from '../tables/port.js';

/** Collateral held by full sets, base units as text; and how many tokens of the condition are known. */
export interface InterestRow {
  readonly amount: string;
  readonly tokens: number | string;
}

const tokens = `SELECT token_id FROM tokens WHERE condition_id = {condition:String}
        UNION DISTINCT SELECT token_id FROM condition_tokens WHERE condition_id = {condition:String}`;

/** Open interest of a condition, which is the sum over its tokens. */
export const conditionInterestSql = (conditionId: string): Sql => ({
  text: `SELECT toString((SELECT sum(amount) FROM open_interest WHERE token_id IN (${tokens}))) AS amount, (SELECT count() FROM (${tokens})) AS tokens`,
  params: { condition: conditionId },
});

/** Open interest of everything. */
export const totalInterestSql = (): Sql => ({
  text: 'SELECT toString(sum(amount)) AS amount, 0 AS tokens FROM open_interest SETTINGS max_execution_time = 10',
  params: {},
});
