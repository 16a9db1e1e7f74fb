import { hasKey, useKey } from './api.js';
import { $ } from './dom.js';
import { showHome } from './home.js';
import { showMarket } from './market.js';
import { createSearch } from './search.js';
import { showWallet } from './wallet.js';

/** The last part of the path; undefined where it is no encoded text. */
function idOfPath() {
  try {
    return decodeURIComponent(location.pathname.split('/')[3] ?? '');
  } catch {
    return undefined;
  }
}

const views = { home: showHome, market: showMarket, wallet: showWallet };
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
document.addEventListener('key-wanted', ({ detail }) => askForKey(detail));
createSearch();
if (hasKey()) void start();
else askForKey();
