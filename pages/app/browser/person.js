// The person behind an address: owner key, wallets and name, as far as the API can resolve them.

import { get } from './api.js';
import { el, title } from './dom.js';
import { short, walletPath } from './format.js';

const KINDS = { deposit_wallet: 'deposit wallet', safe: 'safe', proxy: 'proxy wallet' };

const resolve = (query, signal) => get(`/v1/resolve/${encodeURIComponent(query)}`, {}, signal);
const belongsTo = ({ safe, wallet_details: wallets }, address) =>
  safe === address || wallets.some((one) => one.address === address);

async function hasTraded(address, signal) {
  const { count } = await get(`/v1/wallets/${address}/trades`, { limit: 1 }, signal);
  return count > 0;
}

/** Whether the address, or the trading wallet of the person who owns it, has traded. */
export async function isTrader(address, signal) {
  if (await hasTraded(address, signal)) return true;
  const { safe } = await resolve(address, signal);
  return safe !== address && hasTraded(safe, signal);
}

/**
 * Finds the person of an address. `{ person, wallet }`: `wallet` is the address whose data to show: the trading wallet if the address is an owner key that
 * has not traded itself. `from`: owner key with which the page was opened. Throws ApiError for an unknown address.
 */
export async function findPerson(address, from) {
  if (from !== null) {
    const person = await resolve(from);
    if (belongsTo(person, address)) return { person: { ...person, eoa: person.eoa ?? from }, wallet: address };
  }
  const person = await resolve(address);
  const isKey = person.eoa === address && !belongsTo(person, address);
  return { person, wallet: isKey && !(await hasTraded(address)) ? person.safe : address };
}

/** What is known of the person, for the line under the title. */
export function personFacts(address, person) {
  if (person.username !== null) title(person.username);
  const own = person.wallet_details.find((one) => one.address === address);
  const kind = person.eoa === address ? 'owner key' : KINDS[own?.wallet_type ?? null];
  const link = (name, other) =>
    el('span', {}, `${name} `, el('a', { href: walletPath(other), class: 'mono', title: other }, short(other)));
  return [
    ...(kind === undefined ? [] : [el('span', {}, kind)]),
    ...(person.eoa === null || person.eoa === address
      ? []
      : [el('span', {}, 'owner key ', el('span', { class: 'mono', title: person.eoa }, short(person.eoa)))]),
    ...person.wallet_details
      .filter((one) => one.address !== address)
      .map((one) => link(KINDS[one.wallet_type] ?? 'wallet', one.address)),
  ];
}
