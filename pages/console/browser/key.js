// API key of the user: stored for this tab only, shared by all pages of this origin.

const STORAGE_KEY = 'oddstream-console-key';

/** Key of this tab, '' without one. A link may contain one in `#key=`, which is not sent to servers; it alone is removed from the address at once. */
export function readKey() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get('key')?.trim();
  if (given) {
    storeKey(given);
    fragment.delete('key');
    const rest = fragment.size === 0 ? '' : `#${fragment}`;
    history.replaceState(history.state, '', location.pathname + location.search + rest);
  }
  return sessionStorage.getItem(STORAGE_KEY) ?? '';
}

export function storeKey(key) {
  sessionStorage.setItem(STORAGE_KEY, key);
}
