// API key of the user: stored in this browser, shared by all pages and tabs of this origin until it is forgotten.

const STORAGE_KEY = 'oddstream-console-key';

const QUESTION =
  'The link contains another API key than the one stored in this browser. Use the key of the link? The stored one is replaced, and what you save belongs to the account of the other key.';

/**
 * Stored key, '' without one. A link may contain one in `#key=`, which is not sent to servers; it alone is removed from the address at once. It replaces
 * another stored key only if the user agrees.
 */
export function readKey() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get('key')?.trim();
  if (given) {
    fragment.delete('key');
    const rest = fragment.size === 0 ? '' : `#${fragment}`;
    history.replaceState(history.state, '', location.pathname + location.search + rest);
    const stored = localStorage.getItem(STORAGE_KEY) ?? '';
    if (stored === '' || stored === given || window.confirm(QUESTION)) storeKey(given);
  }
  return localStorage.getItem(STORAGE_KEY) ?? '';
}

export function storeKey(key) {
  localStorage.setItem(STORAGE_KEY, key);
}

export function forgetKey() {
  localStorage.removeItem(STORAGE_KEY);
}
