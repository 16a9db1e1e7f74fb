// How a market is settled: its state, who says so, and the ids to check it with.

import { get } from './api.js';
import { $, el, time } from './dom.js';
import { addressLink, copyButton, sourceLink, tokenLink, transactionLink, venueMarketLink } from './links.js';
import { statusOf } from './search.js';

const ids = (...parts) => el('dd', {}, ...parts);
const row = (name, ...parts) => el('div', {}, el('dt', {}, name), ids(...parts));

/** `Up 100 %, Down 0 %`. */
function payoutText(outcomes, { payout_numerators: payouts, payout_denominator: total }) {
  return payouts
    .map(
      (payout, index) =>
        `${outcomes[index] ?? `outcome ${index + 1}`} ${Math.round((payout / Number(total)) * 1e4) / 100} %`,
    )
    .join(', ');
}

function stateRows(market, condition) {
  if (condition.resolved_at === null)
    return [
      row(
        'State',
        market.closed
          ? 'Closed, as the catalogue says; not settled on the chain yet.'
          : `${statusOf(market) === 'open' ? 'Open' : 'Not active'}, as the catalogue says; the chain has not settled it.`,
      ),
    ];
  const oracle = condition.oracle === null ? [] : [' by the oracle ', addressLink(condition.oracle)];
  const transaction =
    condition.resolution_tx === null ? [] : [', transaction ', transactionLink(condition.resolution_tx)];
  return [
    row('State', 'Settled on the chain ', time(Number(condition.resolved_at) / 1000), ...oracle, ...transaction),
    row('Pays', payoutText(market.outcomes, condition)),
  ];
}

/** Shows the panel of a market of the catalogue. */
export async function showResolution(market) {
  const list = $('resolution-list');
  try {
    const condition = await get(`/v3/conditions/${market.condition_id}`);
    const source = condition.resolution_source;
    const venue = venueMarketLink(market);
    list.replaceChildren(
      ...stateRows(market, condition),
      row('Source of the rules', source === null ? 'none named by the catalogue' : sourceLink(source)),
      row(
        'Condition',
        el('code', {}, market.condition_id),
        copyButton(market.condition_id, 'condition id'),
        ...(venue === null ? [] : [venue]),
      ),
      ...market.token_ids.map((token, index) =>
        row(
          `Token of ${market.token_outcomes[index]}`,
          tokenLink(token),
          copyButton(token, `token id of ${market.token_outcomes[index]}`),
        ),
      ),
    );
  } catch (error) {
    list.replaceChildren(row('State', error.message));
  }
}
