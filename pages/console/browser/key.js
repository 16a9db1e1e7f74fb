// API key of the user: stored in this browser, shared by all pages and tabs of this origin until it is forgotten.

const STORAGE_KEY = 'oddstream-console-key';

/** Stored key, '' without one. A link may contain one in `#key=`, which is not sent to servers; it alone is removed from the address at once. */
export function readKey() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get('key')?.trim();
  if (given) {
    storeKey(given);
    fragment.delete('key');
    const rest = fragment.size === 0 ? '' : `#${fragment}`;
    history.replaceState(history.state, '', location.pathname + location.search + rest);
  }
  return localStorage.getItem(STORAGE_KEY) ?? '';
}

export function storeKey(key) {
  localStorage.setItem(STORAGE_KEY, key);
}

export function forgetKey() {
  localStorage.removeItem(STORAGE_KEY);
}
