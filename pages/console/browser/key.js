// API key of the user: stored for this tab only, shared by all pages of this origin.

const STORAGE_KEY = 'oddstream-console-key';

/** Key of this tab, '' without one. A link may contain one in `#key=`, which is not sent to servers; it is removed from the address at once. */
export function readKey() {
  const given = new URLSearchParams(location.hash.slice(1)).get('key')?.trim();
  if (given) {
    storeKey(given);
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return sessionStorage.getItem(STORAGE_KEY) ?? '';
}

export function storeKey(key) {
  sessionStorage.setItem(STORAGE_KEY, key);
}
