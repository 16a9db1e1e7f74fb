import { $, el, tile } from '/app/assets/dom.js';
import { count } from '/app/assets/format.js';
import { createHistory } from './history.js';
import { createKeys } from './keys.js';
import { createMeters } from './meters.js';
import { createPackages } from './packages.js';
import { request, showProblem, useCsrfToken } from './requests.js';
import { createSettings } from './settings.js';

const PLANS = { free: 'Free', starter: 'Starter', growth: 'Growth', enterprise: 'Enterprise' };
const limit = (value) => (value === null ? 'unlimited' : count(value));

function showPlan({ plan, limits }) {
  $('tiles').replaceChildren(
    tile('Plan', PLANS[plan], el('a', { href: '/docs#plans' }, 'Compare plans')),
    tile('Requests per minute', limit(limits.standard_per_minute)),
    tile('Event sockets', limit(limits.event_sockets), `and ${limit(limits.orderbook_sockets)} of order books`),
    tile('API keys', limit(limits.api_keys)),
  );
  $('tiles').removeAttribute('aria-busy');
}

export async function showAccount() {
  let account;
  try {
    account = await request('GET', '/v1/account');
  } catch (error) {
    showProblem(error);
    return;
  }
  useCsrfToken(account.csrf_token);
  $('facts').textContent = account.email;
  showPlan(account);
  createSettings(account);
  const parts = [createKeys(account), createMeters(), createHistory()];
  if ($('packages-panel') !== null) parts.push(createPackages(account));
  const loads = await Promise.allSettled(parts.map((part) => part.load()));
  const failed = loads.find(({ status }) => status === 'rejected');
  if (failed !== undefined) showProblem(failed.reason);
}
