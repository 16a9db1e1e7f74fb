// Links of ids to the chain explorer and to the venue. Recorded days that are played again have ids of their own, which neither knows.

import { copyText, el } from './dom.js';
import { short } from './format.js';

const EXPLORER = 'https://polygonscan.com';
const VENUE = 'https://polymarket.com';
const CONDITIONAL_TOKENS = '0x4d97dcd97ec945f40cf65f87097ace5ea0476045';

const outside = (href, attributes, text) =>
  el('a', { href, target: '_blank', rel: 'noopener noreferrer', ...attributes }, text);
const onExplorer = (path, id) =>
  outside(`${EXPLORER}/${path}`, { class: 'mono', title: `${id} at the chain explorer` }, short(id));

export const transactionLink = (hash) => onExplorer(`tx/${hash}`, hash);
export const addressLink = (address) => onExplorer(`address/${address}`, address);
export const tokenLink = (token) => onExplorer(`token/${CONDITIONAL_TOKENS}?a=${token}`, token);

/** The market at the venue; null without the slug of its event, which the address needs. */
export const venueMarketLink = ({ event_slug: event, slug }) =>
  event ? outside(`${VENUE}/event/${encodeURIComponent(event)}/${encodeURIComponent(slug)}`, {}, 'at the venue') : null;
export const venueWalletLink = (address) => outside(`${VENUE}/profile/${address}`, {}, 'at the venue');
/** A published address of a source; its text alone if it is no link. */
export const sourceLink = (text) => (/^https?:\/\/\S+$/.test(text) ? outside(text, {}, text) : text);

/** Button that copies an id. */
export function copyButton(id, name) {
  const button = el('button', { type: 'button', class: 'copy', 'aria-label': `Copy ${name}` }, 'Copy');
  button.addEventListener('click', () => void copyText(button, id));
  return button;
}
