import { forgetKey } from '/console/key.js';
import { hasKey, useKey } from './api.js';
import { $ } from './dom.js';
import { whenLoaded } from './loading.js';
import { createSearch } from './search.js';

/** Last segment of the path; undefined for malformed percent-encoding. */
function idOfPath() {
  try {
    return decodeURIComponent(location.pathname.split('/')[3] ?? '');
  } catch {
    return undefined;
  }
}

/** Views; each loads its own modules. */
const views = {
  home: async () => (await import('./home.js')).showHome(),
  market: async (id) => (await import('./market.js')).showMarket(id),
  copy: async () => (await import('./copy.js')).showCopy(),
  wallet: async (id) => (await import('./wallet.js')).showWallet(id),
};
const start = () => views[document.body.dataset.view](idOfPath() ?? location.pathname);

function askForKey(words) {
  $('view').hidden = true;
  $('problem').replaceChildren();
  $('key-form').hidden = false;
  if (words !== undefined) $('key-words').textContent = words;
  $('key').focus();
}

$('key-form').addEventListener('submit', (event) => {
  event.preventDefault();
  useKey($('key').value.trim());
  location.reload();
});
document.addEventListener('key-requested', ({ detail }) => askForKey(detail));
$('forget-key').hidden = !hasKey();
$('forget-key').addEventListener('click', () => {
  forgetKey();
  location.reload();
});
createSearch();
if (hasKey()) void whenLoaded(start);
else askForKey();
