/** What an installation offers to its users. */
export interface DashboardOptions {
  /** An OpenID Connect provider is configured. */
  readonly hasProvider: boolean;
  /** Packages are sold. */
  readonly hasBilling: boolean;
}

/** Views of /dashboard by path. */
export const dashboardViews = {
  account: '/dashboard',
  'sign-in': '/dashboard/sign-in',
  link: '/dashboard/link',
  reset: '/dashboard/reset',
} as const;
export type DashboardView = keyof typeof dashboardViews;

const MIN_PASSWORD = 10;

// Forms are sent by scripts. Before these have loaded the buttons are disabled, and method `dialog` sends nothing: another method could put a password
// into the address.

const field = (id: string, label: string, attributes: string, hint = ''): string =>
  `<p class="entry"><label for="${id}">${label}</label><input id="${id}" name="${id}" ${attributes}${hint === '' ? '' : ` aria-describedby="${id}-hint"`}>${hint === '' ? '' : `<small id="${id}-hint">${hint}</small>`}</p>`;

const email = (id: string, label = 'Email'): string =>
  field(id, label, 'type="email" autocomplete="email" maxlength="254" required');
const newPassword = (id: string, label: string, attributes = ''): string =>
  field(
    id,
    label,
    `type="password" autocomplete="new-password" minlength="${MIN_PASSWORD}" maxlength="200" ${attributes}`,
    `At least ${MIN_PASSWORD} characters.`,
  );
const currentPassword = (id: string, label: string, attributes = ''): string =>
  field(id, label, `type="password" autocomplete="current-password" maxlength="200" ${attributes}`);

const radios = (name: string, label: string, values: readonly (readonly [string, string])[], chosen: string): string =>
  `<fieldset class="choice" id="${name}"><legend class="unseen">${label}</legend>${values
    .map(
      ([value, text]) =>
        `<label><input type="radio" name="${name}" value="${value}"${value === chosen ? ' checked' : ''}><span>${text}</span></label>`,
    )
    .join('')}</fieldset>`;

const signIn = ({ hasProvider }: DashboardOptions): string => `<h1 id="title">Sign in</h1>
<p class="lead">Manage your API keys and see what you use.</p>
<div class="cards">
<form id="password-form" method="dialog" class="notice"><h2>With a password</h2>
${email('email')}${currentPassword('password', 'Password', 'required')}
<p><button class="primary" type="submit" disabled>Sign in</button></p>
<p class="hint">Password forgotten, or none yet? <button id="reset" type="button" class="link">Mail me a link to choose one</button></p></form>
<form id="link-form" method="dialog" class="notice"><h2>New here, or without a password</h2>
${email('link-email', 'Email for the link')}
<p><button class="primary" type="submit" disabled>Mail me a link</button></p>
<p class="hint">A new address gets a free account as soon as the link is opened.</p></form>
${hasProvider ? '<div class="notice"><h2>With your organisation</h2><p><a class="button" href="/v1/auth/oidc/start">Continue with single sign-on</a></p></div>' : ''}
</div>`;

const link = `<h1 id="title">Sign in</h1>
<p class="lead">Your link is valid once. Continue on the device on which you want to be signed in.</p>
<form id="use-form" method="dialog" class="notice narrow"><input type="email" autocomplete="username" hidden>${newPassword('password', 'New password (optional)')}
<p><button class="primary" type="submit" disabled>Continue</button></p></form>`;

const reset = `<h1 id="title">Choose a new password</h1>
<p class="lead">All other sessions of your account end.</p>
<form id="use-form" method="dialog" class="notice narrow"><input type="email" autocomplete="username" hidden>${newPassword('password', 'New password', 'required')}
<p><button class="primary" type="submit" disabled>Set password and sign in</button></p></form>`;

const METERS = [
  ['api_requests', 'API requests'],
  ['orderbook_chainlink_bytes', 'Order books and oracle'],
  ['onchain_event_bytes', 'On-chain events'],
] as const;

const packages = `<section id="packages-panel"><div class="bar"><h2 id="packages-title">Packages</h2><span id="packages-status" role="status"></span></div>
<p id="test-payments" class="notice" hidden><b>Test payments.</b> This server takes no money: a press of a button stands for the payment.</p>
<form id="buy-form" method="dialog" class="notice"><p class="hint" id="package-terms"></p>
<p class="entry"><label for="meter">Kind</label><select id="meter" name="meter"></select></p>
${field('count', 'Packages', 'type="number" inputmode="numeric" min="1" max="100" step="1" value="1" required')}
<p><button class="primary" type="submit" disabled>Buy</button> <output id="total" for="count"></output></p></form>
<div id="packages" class="list"></div>
<h3 id="receipts-title">Receipts</h3><div id="receipts" class="list"></div></section>`;

const account = ({ hasBilling }: DashboardOptions): string => `<h1 id="title">Dashboard</h1>
<p id="facts" class="facts"><span class="bone"></span></p>
<dl id="tiles" class="tiles" aria-busy="true"></dl>
<section id="keys-panel"><div class="bar"><h2 id="keys-title">API keys</h2><span id="keys-status" role="status"></span></div>
<div id="new-key"></div>
<div id="keys" class="list" aria-busy="true"></div>
<form id="create-form" method="dialog" class="inline"><label for="key-name">Name of the new key</label><div class="field"><input id="key-name" name="key-name" maxlength="100" autocomplete="off" required><button class="primary" type="submit" disabled>Create key</button></div></form></section>
<section id="usage-panel"><div class="bar"><h2>Usage</h2><span id="usage-period" class="dim"></span></div>
<div id="meters" class="meters" aria-busy="true"></div></section>
<section><div class="bar"><h2>History</h2>${radios('history-meter', 'Meter', METERS, 'api_requests')}${radios(
  'days',
  'Period',
  [
    ['7', '7 days'],
    ['30', '30 days'],
    ['90', '90 days'],
  ],
  '30',
)}</div>
<p id="history-legend" class="legend">&nbsp;</p>
<div id="history-box" class="chart" aria-busy="true"><div id="history-canvas" class="canvas" aria-hidden="true"></div><div id="history-state"></div></div>
<details id="history-details"><summary>History as a table</summary><div id="history-rows" class="list"></div></details></section>
${hasBilling ? packages : ''}
<section id="account-panel"><div class="bar"><h2>Account</h2><span id="account-status" role="status"></span></div>
<div class="cards"><form id="password-form" method="dialog" class="notice"><h3 id="password-title">Password</h3><input id="username" type="email" autocomplete="username" hidden>
<p class="entry" id="current-entry"><label for="current-password">Present password</label><input id="current-password" name="current-password" type="password" autocomplete="current-password" maxlength="200"></p>
${newPassword('new-password', 'New password', 'required')}
<p><button type="submit" disabled>Set password</button></p><p class="hint">All other sessions end.</p></form>
<div class="notice"><h3>Sessions</h3><p class="actions"><button id="sign-out" type="button">Sign out</button><button id="sign-out-everywhere" type="button">Sign out everywhere</button></p>
<h3>Delete the account</h3><p class="hint">All keys stop working at once.</p><p><button id="delete" type="button" class="danger">Delete the account…</button></p></div></div></section>
<dialog id="dialog" aria-labelledby="dialog-title"></dialog>`;

const bodies: Readonly<Record<DashboardView, (options: DashboardOptions) => string>> = {
  account,
  'sign-in': signIn,
  link: () => link,
  reset: () => reset,
};

/** Body of a view before its data is loaded. */
export const dashboardBody = (view: DashboardView, options: DashboardOptions): string =>
  `<main><noscript><p class="notice">These pages need JavaScript.</p></noscript><div id="problem" aria-live="assertive"></div><p id="message" class="notice" role="status" tabindex="-1" hidden></p><div id="view">${bodies[view](options)}</div></main>
<footer><p>${view === 'account' ? 'Times are UTC. Charts by <a href="https://www.tradingview.com/">TradingView Lightweight Charts</a>.' : 'Questions about an account: the operator of this server.'}</p></footer>`;
