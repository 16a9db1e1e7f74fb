// The reader's API key: kept for this tab alone, for every page of this address.

const SLOT = 'oddstream-console-key';

/** The key of this tab, '' without one. A link may carry one behind `#key=`, which no server sees; it leaves the address at once. */
export function readKey() {
  const given = new URLSearchParams(location.hash.slice(1)).get('key')?.trim();
  if (given) {
    keepKey(given);
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return sessionStorage.getItem(SLOT) ?? '';
}

export function keepKey(key) {
  sessionStorage.setItem(SLOT, key);
}
