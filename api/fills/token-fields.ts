import { z } from 'zod';
import { boolFrom } from '../tables/values.js';
import type { FillRow } from './fills.sql.js';
import type { TokenTitle } from './titles.js';

/** From here on exchanges trade combos, which belong to no market. */
const FIRST_COMBO_VERSION = 3;

const oppositeAsset = z
  .string()
  .nullable()
  .meta({ description: 'Token of the other outcome; null if neither chain nor catalogue names the condition.' });
const negRisk = z.boolean().nullable().meta({
  description:
    'Whether the market belongs to a neg-risk group; derived from the exchange of the fill if the catalogue lacks the market. null for combos.',
});

/** Whether the token of a fill belongs to a neg-risk market. Each exchange trades either neg-risk tokens or other tokens, so the fill is sufficient. */
function negRiskOf(row: FillRow | undefined, title: TokenTitle): boolean | null {
  if (title.negRisk !== null || row === undefined) return title.negRisk;
  return row.exchange_version < FIRST_COMBO_VERSION ? boolFrom(row.neg_risk) : null;
}

/** Fields of a token that do not need the catalogue. */
export const tokenFields = { opposite_asset: oppositeAsset, neg_risk: negRisk };
/** `row`: a fill of the token; undefined: none is known. */
export const tokenFieldsFrom = (row: FillRow | undefined, title: TokenTitle) => ({
  opposite_asset: title.oppositeAsset,
  neg_risk: negRiskOf(row, title),
});

/** The same in camel case. */
export const camelTokenFields = { oppositeAsset, negativeRisk: negRisk };
export const camelTokenFieldsFrom = (row: FillRow, title: TokenTitle) => ({
  oppositeAsset: title.oppositeAsset,
  negativeRisk: negRiskOf(row, title),
});
