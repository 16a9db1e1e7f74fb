// Packages beyond the allowance: buy, what is left, receipts.

import { $, el, time } from '/app/assets/dom.js';
import { count, usd } from '/app/assets/format.js';
import { showList } from './list.js';
import { meterName, quantity } from './meters.js';
import { onSubmit, request, showMessage, showProblem } from './requests.js';

const packageColumns = [
  {
    title: 'Kind',
    cell: (row) => (row.kind === 'courtesy' ? `${meterName(row.meter)}, courtesy` : meterName(row.meter)),
  },
  { title: 'Left', kind: 'num', cell: (row) => quantity(row.meter, row.remaining) },
  { title: 'Of', kind: 'num', cell: (row) => quantity(row.meter, row.quantity) },
  { title: 'Taken back', kind: 'num', cell: (row) => quantity(row.meter, row.removed) },
  { title: 'Since', cell: (row) => time(row.granted_at) },
  { title: 'Expires', cell: (row) => (row.expired ? el('span', { class: 'dim' }, 'expired') : time(row.expires_at)) },
];

const STATES = { open: 'not paid', paid: 'paid', expired: 'cancelled' };
const stateOf = ({ status, provider, refunded_usd: refunded, disputed_usd: disputed }) =>
  [
    provider === 'test' && status === 'paid' ? 'test, no money' : STATES[status],
    refunded > 0 ? `${usd(refunded)} refunded` : '',
    disputed > 0 ? `${usd(disputed)} disputed` : '',
  ]
    .filter((text) => text !== '')
    .join(', ');

const receiptColumns = [
  { title: 'Date', cell: (row) => time(row.paid_at ?? row.started_at) },
  { title: 'Packages', cell: (row) => `${count(row.count)} × ${meterName(row.meter)}` },
  { title: 'Amount', kind: 'num', cell: (row) => usd(row.amount_usd) },
  { title: 'State', cell: stateOf },
  {
    title: 'Payment',
    cell: (row) =>
      el(
        'span',
        { class: 'mono', title: row.payment_ref },
        row.payment_ref === null ? '–' : row.payment_ref.slice(0, 16),
      ),
  },
];

const POLL_MS = 3_000;
const POLLS = 40;

export function createPackages({ billing }) {
  $('test-payments').hidden = billing !== 'test';
  let offers = [];
  const chosen = () => offers.find(({ meter }) => meter === $('meter').value);
  const showTotal = () => {
    const offer = chosen();
    const packages = Number($('count').value);
    const isValid = $('count').validity.valid && packages > 0;
    $('total').textContent =
      offer === undefined || !isValid
        ? ''
        : `${quantity(offer.meter, offer.quantity * packages)} for ${usd(offer.amount_usd * packages)}`;
  };
  $('meter').addEventListener('change', showTotal);
  $('count').addEventListener('input', showTotal);
  onSubmit($('buy-form'), async () => {
    const order = { meter: $('meter').value, count: Number($('count').value) };
    const { url } = await request('POST', '/v1/account/packages/checkout', order);
    location.assign(url);
  });

  let polls = 0;
  /** After the return from the payment page: its confirmation may come later. */
  function followPayment(receipts) {
    const id = new URLSearchParams(location.search).get('checkout');
    const order = receipts.find((one) => one.checkout_id === id);
    if (order?.status === 'paid') {
      history.replaceState(history.state, '', '/dashboard');
      showMessage('The payment has arrived, and the packages are yours.');
    } else if (order?.status === 'open' && polls < POLLS) {
      if (polls === 0) showMessage('The packages appear here as soon as the payment is confirmed.');
      polls += 1;
      setTimeout(() => void load().catch(showProblem), POLL_MS);
    }
  }
  async function load() {
    const [sold, { receipts }] = await Promise.all([
      request('GET', '/v1/account/packages'),
      request('GET', '/v1/account/receipts'),
    ]);
    ({ offers } = sold);
    $('count').max = sold.max_count;
    if ($('meter').options.length === 0)
      $('meter').append(...offers.map(({ meter }) => el('option', { value: meter }, meterName(meter))));
    const days = offers[0]?.lifetime_days ?? 0;
    $('package-terms').textContent =
      `Used after the allowance of the plan, for ${days} days. Packages do not change limits per minute.`;
    showTotal();
    showList('packages', {
      columns: packageColumns,
      rows: sold.packages,
      empty: 'No packages.',
      labelledBy: 'packages-title',
    });
    showList('receipts', {
      columns: receiptColumns,
      rows: receipts,
      empty: 'No purchases.',
      labelledBy: 'receipts-title',
    });
    if (polls === 0 && location.hash === '#packages-panel') $('packages-panel').scrollIntoView();
    followPayment(receipts);
  }
  return { load };
}
