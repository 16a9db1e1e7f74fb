// What the account has used of each meter in the service month.

import { $, el } from '/app/assets/dom.js';
import { count, utc } from '/app/assets/format.js';
import { request } from './requests.js';

const NAMES = {
  api_requests: 'API requests',
  orderbook_chainlink_bytes: 'Order books and oracle',
  onchain_event_bytes: 'On-chain events',
};
const PERIOD_MS = 30_000;
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

export const meterName = (meter) => NAMES[meter] ?? meter;

/** `12,400` requests, or bytes as `1.2 GB` (1 GB = 10^9 bytes). */
export function quantity(meter, value) {
  if (meter === 'api_requests') return count(Math.round(value));
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  const digits = power === 0 ? 0 : 1;
  return `${(value / 1000 ** power).toLocaleString('en-US', { maximumFractionDigits: digits })} ${UNITS[power]}`;
}

function show(row) {
  const { meter, used, included, unlimited } = row;
  const extra = row.packages_remaining + row.courtesy_remaining;
  const text = (value) => quantity(meter, value);
  const name = meterName(meter);
  // `extra` is what is left after the usage beyond the allowance.
  const isOver = !unlimited && used >= included && extra === 0;
  const facts = [
    ['Per day so far', text(row.avg_per_day)],
    ['Projection for the month', text(row.projected)],
    ...(unlimited ? [] : [['Left of packages', text(row.packages_remaining)]]),
    ...(row.courtesy_remaining > 0 ? [['Left of courtesy capacity', text(row.courtesy_remaining)]] : []),
    ...(row.packages_needed > 0 ? [['Packages needed', count(row.packages_needed)]] : []),
  ];
  return el(
    'div',
    { class: isOver ? 'meter over' : 'meter' },
    el('h3', {}, name),
    el('p', {}, unlimited ? `${text(used)}, unlimited` : `${text(used)} of ${text(included)}`),
    unlimited
      ? null
      : el('progress', {
          max: included,
          value: Math.min(used, included),
          'aria-label': `${name}: part of the allowance`,
        }),
    el('dl', {}, ...facts.flatMap(([term, value]) => [el('dt', {}, term), el('dd', {}, value)])),
  );
}

export function createMeters() {
  async function load() {
    const { period, meters } = await request('GET', '/v1/account/usage');
    const day = (seconds) => utc(seconds).slice(0, 10);
    $('usage-period').textContent = `${day(period.start)} to ${day(period.end - 1)}`;
    $('meters').replaceChildren(...meters.map(show));
    $('meters').removeAttribute('aria-busy');
  }
  // Quietly: a failure is shown at the next action of the user.
  setInterval(() => {
    if (!document.hidden) load().catch(() => undefined);
  }, PERIOD_MS);
  return { load };
}
