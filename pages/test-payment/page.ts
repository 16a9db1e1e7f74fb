import { htmlDocument, pageHeader } from '../layout.js';
import { CSS, HTML, moduleFiles, type StaticFile } from '../static-file.js';

const PATH = '/dashboard/test-payment';
const ASSETS = `${PATH}/assets`;

const body = `${pageHeader}<main>
<p class="notice"><strong>Test payment.</strong> No money is paid here, and no card is asked for.</p>
<h1>Confirm a test payment</h1>
<p id="status" role="status">Loading the checkout.</p>
<dl id="order" hidden>
<div><dt>Packages</dt><dd id="packages"></dd></div>
<div><dt>Amount</dt><dd id="amount"></dd></div>
</dl>
<p id="actions" hidden><button id="pay" class="primary" type="button">Confirm without money</button> <button id="cancel" type="button">Cancel</button></p>
<p><a href="/dashboard">Back to the dashboard</a></p>
</main>`;

const css = `
.notice { background: #fff3cd; color: #553c00; border: 1px solid #d9b44a; border-radius: 6px; padding: 12px 16px; }
#order { margin: 0; }
#order div { display: flex; gap: 16px; }
#order dt { min-width: 90px; color: var(--muted); }
#order dd { margin: 0; font-variant-numeric: tabular-nums; }
#actions button { font: inherit; padding: 10px 16px; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); color: var(--text); cursor: pointer; }
#actions button.primary { background: #1f6feb; border-color: #1f6feb; color: #ffffff; }
#actions button:disabled { opacity: 0.6; cursor: default; }
`;

/** Page of the test provider, on which a checkout is confirmed without money; the checkout's id is the fragment of its address. */
export function testPaymentFiles(contentSecurityPolicy: StaticFile['contentSecurityPolicy']): readonly StaticFile[] {
  const page = htmlDocument('Oddstream test payment', body, {
    script: `<script type="module" src="${ASSETS}/main.js"></script>`,
    sheets: ['/docs/docs.css', `${ASSETS}/page.css`],
  });
  return [
    { path: PATH, content: page, type: HTML, maxAgeS: 0, contentSecurityPolicy },
    { path: `${ASSETS}/page.css`, content: css, type: CSS, maxAgeS: 0 },
    ...moduleFiles({ prefix: ASSETS, folder: 'test-payment/browser', names: ['main.js'] }),
  ];
}
