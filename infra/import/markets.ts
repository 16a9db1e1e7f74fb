import type { Address } from '../../schemas/primitives/address.js';
import { tokenPair } from '../../schemas/primitives/ids.js';
import { addresses, collateralOfOracle, collaterals } from '../../schemas/primitives/venue.js';
import type { ImportedMarket } from './format.js';
import type { ConditionRow } from './import.sql.js';

/** The label of the other outcome where only one of the two was traded. */
const OTHER: Readonly<Record<string, string>> = { Yes: 'No', No: 'Yes', Up: 'Down', Down: 'Up' };

/** A combo's condition has 31 bytes. */
export const isCombo = (condition: string): boolean => condition.length === 64;

function collateralOf({ condition, oracle, labels, neg_risk }: ConditionRow): Address | null {
  if (oracle !== '') return collateralOfOracle(oracle);
  const traded = new Set(labels.map(([token]) => token));
  const known = collaterals.find(
    (one) => traded.size > 0 && tokenPair(one, condition).some((token) => traded.has(token)),
  );
  if (known !== undefined) return known;
  return neg_risk === null ? null : neg_risk ? addresses.wrappedCollateral : addresses.usdcE;
}

/**
 * Market of a condition, with its tokens by the arithmetic of ConditionalTokens. Neg-risk: by the oracle where the files have the resolution, else by a
 * traded token, else by what other rows say. null where nothing tells, and for combos.
 */
export function importedMarket(row: ConditionRow): ImportedMarket | null {
  if (isCombo(row.condition)) return null;
  const collateral = collateralOf(row);
  if (collateral === null) return null;
  const tokens = tokenPair(collateral, row.condition);
  const labels = new Map(row.labels.filter(([, outcome]) => outcome !== ''));
  const [first, second] = tokens.map((token) => labels.get(token));
  const other = (label: string | undefined, fallback: string) => OTHER[label ?? ''] ?? fallback;
  const paid = row.payouts.flatMap((payout, index) => (payout === '0' ? [] : [index]));
  return {
    condition: row.condition,
    slug: row.slug,
    event: row.event,
    neg_risk: collateral === addresses.wrappedCollateral,
    tokens,
    outcomes: [first ?? other(second, 'Outcome 1'), second ?? other(first, 'Outcome 2')],
    question: row.question === '' ? null : row.question,
    resolved: row.resolved === 0 ? null : row.resolved,
    winner: paid.length === 1 ? (paid[0] ?? null) : null,
  };
}
