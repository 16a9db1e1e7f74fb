import { catalogViews } from './catalog.js';
import { coverageViews } from './coverage.js';
import { priceViews } from './prices.js';
import { socialViews } from './social.js';
import type { PublicView } from './spec.js';
import { tradeViews } from './trades.js';
import { walletViews } from './wallets.js';

/** All views of the public database, in the order of its documentation. */
export const publicViews: readonly PublicView[] = [
  ...tradeViews,
  ...walletViews,
  ...priceViews,
  ...catalogViews,
  ...socialViews,
  ...coverageViews,
];

/** The complete comment of a view. */
export function commentOf(view: PublicView): string {
  const fast = view.fastBy.length === 0 ? '' : ` Fast by: ${view.fastBy.join(', ')}.`;
  const caveat = view.caveat === undefined ? '' : ` ${view.caveat}`;
  return `${view.summary} Key: ${view.key.join(', ')}.${fast} Freshness: ${view.freshness}${caveat}`;
}
