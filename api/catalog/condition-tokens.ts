import { addresses, collaterals } from '../../schemas/primitives/venue.js';
import { venueTokenPairs } from '../../schemas/primitives/venue-tokens.js';
import type { Sql, Tables } from '../tables/port.js';
import { boolFrom, type SqlBool } from '../tables/values.js';
import { tradedTokensAmong } from './traded-tokens.js';

/** Tokens of a condition according to the chain. */
export interface ConditionTokens {
  /** In outcome order. */
  readonly tokenIds: readonly string[];
  readonly negRisk: boolean;
}

interface NamedPairRow {
  readonly condition_id: string;
  readonly tokens: readonly string[];
  readonly neg_risk: SqlBool;
}

/** Pairs of conditions that a log names. Anyone can split or redeem with the other collateral of the venue, which names a second pair. */
const namedPairsSql = (conditionIds: readonly string[]): Sql => ({
  text: `SELECT condition_id, [toString(token_id), toString(other_token_id)] AS tokens, neg_risk
      FROM chain_tokens FINAL
      WHERE condition_id IN {conditions:Array(String)} AND outcome_index = 0
      ORDER BY token_id`,
  params: { conditions: conditionIds },
  singleChunk: true,
});

/** Those of the tokens whose condition was prepared within the history: their collateral is that of its oracle. */
const preparedTokensSql = (tokenIds: readonly string[]): Sql => ({
  text: 'SELECT toString(token_id) AS token FROM condition_tokens WHERE token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))',
  params: { tokens: tokenIds },
  singleChunk: true,
});

/** The pairs that derive from a condition's id, with either collateral. */
const derivedPairs = (conditionId: string): readonly ConditionTokens[] =>
  venueTokenPairs(conditionId).map((tokenIds, n) => ({
    tokenIds,
    negRisk: collaterals[n] === addresses.wrappedCollateral,
  }));

/** Replaces pairs without a fill by the derived pair of the condition that has fills, if there is one. */
async function takeTraded(tables: Tables, conditionIds: readonly string[], found: Map<string, ConditionTokens>) {
  const tokensOf = (id: string) => found.get(id)?.tokenIds ?? [];
  const traded = await tradedTokensAmong(tables, conditionIds.flatMap(tokensOf));
  const others = conditionIds
    .filter((id) => !tokensOf(id).some((token) => traded.has(token)))
    .flatMap((id) => derivedPairs(id).map((pair) => [id, pair] as const))
    .filter(([id, { tokenIds }]) => tokenIds[0] !== tokensOf(id)[0]);
  const otherTraded = await tradedTokensAmong(
    tables,
    others.flatMap(([, { tokenIds }]) => tokenIds),
  );
  for (const [id, pair] of others) if (pair.tokenIds.some((token) => otherTraded.has(token))) found.set(id, pair);
}

/** Tokens of conditions that a log names: the pair of the condition's oracle, where the history does not tell it the one that was traded, else any. */
export const readConditionTokens =
  (tables: Tables) =>
  async (conditionIds: readonly string[]): Promise<Map<string, ConditionTokens>> => {
    const rows = await tables.rows<NamedPairRow>(namedPairsSql(conditionIds));
    if (rows.length === 0) return new Map();
    // Both tokens of a pair have a row, so one of them tells.
    const firstOf = ({ tokens }: NamedPairRow) => tokens[0] ?? '';
    const prepared = await tables.rows<{ readonly token: string }>(preparedTokensSql(rows.map(firstOf)));
    const isPrepared = new Set(prepared.map(({ token }) => token));
    const found = new Map<string, ConditionTokens>();
    for (const row of rows)
      if (isPrepared.has(firstOf(row)))
        found.set(row.condition_id, { tokenIds: row.tokens, negRisk: boolFrom(row.neg_risk) });
    const unclear = rows.filter(({ condition_id }) => !found.has(condition_id));
    for (const row of unclear) found.set(row.condition_id, { tokenIds: row.tokens, negRisk: boolFrom(row.neg_risk) });
    await takeTraded(
      tables,
      unclear.map(({ condition_id }) => condition_id),
      found,
    );
    return found;
  };
