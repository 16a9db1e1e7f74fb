// The page of the test provider: shows a checkout of the signed-in user, and confirms or cancels it.

const byId = (id) => document.getElementById(id);
const checkoutId = location.hash.slice(1);
const meterNames = {
  api_requests: 'API requests',
  orderbook_chainlink_bytes: 'order book and oracle stream',
  onchain_event_bytes: 'on-chain event stream',
};

/** Body of a successful request. Throws an Error whose message can be shown. */
async function request(path, init) {
  const response = await fetch(path, init).catch(() => null);
  if (response === null) throw new Error('The server does not respond. Try again.');
  if (response.status === 401)
    throw new Error('You are not signed in. Sign in on the dashboard, then open this page again.');
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new Error(body?.error ?? `The server responds with status ${response.status}.`);
  return body;
}

const show = (text) => {
  byId('status').textContent = text;
};

async function end(action, csrfToken) {
  for (const button of byId('actions').querySelectorAll('button')) button.disabled = true;
  try {
    const { status } = await request('/v1/account/packages/test-payment', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-csrf-token': csrfToken },
      body: JSON.stringify({ checkout_id: checkoutId, action }),
    });
    byId('actions').hidden = true;
    show(
      status === 'paid'
        ? 'The test payment is confirmed. The packages are in your account.'
        : 'The checkout is cancelled.',
    );
  } catch (error) {
    show(error.message);
    for (const button of byId('actions').querySelectorAll('button')) button.disabled = false;
  }
}

async function start() {
  try {
    const [account, { receipts }] = await Promise.all([request('/v1/account'), request('/v1/account/receipts')]);
    const checkout = receipts.find((one) => one.checkout_id === checkoutId && one.provider === 'test');
    if (checkout === undefined) return show('This checkout does not exist in your account.');
    byId('packages').textContent = `${checkout.count} x ${meterNames[checkout.meter]}`;
    byId('amount').textContent = `${checkout.amount_usd} USD (not charged)`;
    byId('order').hidden = false;
    if (checkout.status === 'paid') return show('This checkout is already paid.');
    byId('pay').addEventListener('click', () => end('pay', account.csrf_token));
    byId('cancel').addEventListener('click', () => end('cancel', account.csrf_token));
    byId('actions').hidden = false;
    show(
      checkout.status === 'expired'
        ? 'This checkout was cancelled; it can still be confirmed.'
        : 'Check the order and confirm it.',
    );
  } catch (error) {
    show(error.message);
  }
}

void start();
