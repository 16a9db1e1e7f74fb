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

/** Open interest of everything: what conditions have, without those more was seen to leave than to come. */
export const totalInterestSql = (): Sql => ({
  text: `SELECT toString(sum(greatest(amount, 0))) AS amount, 0 AS tokens
      FROM (
        SELECT if(t.condition_id = '', toString(o.token_id), t.condition_id) AS condition, sum(o.amount) AS amount
        FROM open_interest AS o
        LEFT JOIN (
          SELECT token_id, any(condition_id) AS condition_id
          FROM (SELECT token_id, condition_id FROM tokens UNION ALL SELECT token_id, condition_id FROM condition_tokens)
          GROUP BY token_id
        ) AS t ON t.token_id = o.token_id
        GROUP BY condition
      )
      SETTINGS max_execution_time = 10`,
  params: {},
});
