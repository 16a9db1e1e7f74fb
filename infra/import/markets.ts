import { tokenPair } from '../../schemas/primitives/ids.js';
import { addresses, collateralOfOracle } from '../../schemas/primitives/venue.js';
import type { ImportedMarket } from './format.js';
import type { ConditionRow } from './import.sql.js';

/** The label of the other outcome where only one of the two was traded. */
const OTHER: Readonly<Record<string, string>> = { Yes: 'No', No: 'Yes', Up: 'Down', Down: 'Up' };

/**
 * Market of a condition, with its tokens by the arithmetic of ConditionalTokens. Neg-risk: by the oracle where the files have the resolution,
 * else if a traded token follows from wrapped collateral. null for conditions that are no bytes32 (combos).
 */
export function importedMarket(row: ConditionRow): ImportedMarket | null {
  if (row.condition.length !== 66) return null;
  const wrapped = () => tokenPair(addresses.wrappedCollateral, row.condition);
  const negRisk =
    row.oracle === ''
      ? row.labels.some(([token]) => wrapped().includes(token))
      : collateralOfOracle(row.oracle) === addresses.wrappedCollateral;
  const tokens = negRisk ? wrapped() : tokenPair(addresses.usdcE, row.condition);
  const labels = new Map(row.labels.filter(([, outcome]) => outcome !== ''));
  const [first, second] = tokens.map((token) => labels.get(token));
  const other = (label: string | undefined, fallback: string) => OTHER[label ?? ''] ?? fallback;
  const paid = row.payouts.flatMap((payout, index) => (payout === '0' ? [] : [index]));
  return {
    condition: row.condition,
    slug: row.slug,
    event: row.event,
    neg_risk: negRisk,
    tokens,
    outcomes: [first ?? other(second, 'Outcome 1'), second ?? other(first, 'Outcome 2')],
    question: row.question === '' ? null : row.question,
    resolved: row.resolved === 0 ? null : row.resolved,
    winner: paid.length === 1 ? (paid[0] ?? null) : null,
  };
}
