// The public REST API, asked with the reader's key.

import { keepKey, readKey } from '/console/key.js';
import { el } from './dom.js';

let key = readKey();
/** The API has refused this key something for its plan. */
let limited = false;

export const hasKey = () => key !== '';
export const currentKey = () => key;
export function useKey(value) {
  key = value;
  keepKey(value);
}

/** What the API answered instead of data: its status, its own words, and when it may be asked again. */
export class Refusal extends Error {
  constructor({ status, body, retryAtMs, requestId }) {
    super(typeof body?.error === 'string' ? body.error : `HTTP ${status}`);
    this.status = status;
    this.hint = typeof body?.hint === 'string' ? body.hint : null;
    this.upgradeUrl = typeof body?.upgrade_url === 'string' ? body.upgrade_url : null;
    this.retryAtMs = retryAtMs;
    this.requestId = requestId;
  }
}

/** The body of a GET. Throws Refusal for anything but 2xx, also when nothing answers (status 0). */
export async function get(path, query = {}, signal = undefined) {
  const wanted = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const text = new URLSearchParams(wanted).toString();
  let answer;
  try {
    answer = await fetch(text === '' ? path : `${path}?${text}`, { headers: { 'x-api-key': key }, signal });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refusal({ status: 0, body: { error: 'The API does not answer.' }, retryAtMs: null, requestId: null });
  }
  const body = await answer.json().catch(() => null);
  if (answer.ok && body !== null) return body;
  limited ||= answer.status === 402;
  const waitS = Number(answer.headers.get('retry-after'));
  throw new Refusal({
    status: answer.status,
    body,
    retryAtMs: waitS > 0 ? Date.now() + waitS * 1000 : null,
    requestId: answer.headers.get('x-request-id'),
  });
}

/** It is there, but not for the plan of this key. /v2 says so with 403, as it says that a key is unknown, which gets no 402 anywhere. */
export const isPaidOnly = (error) =>
  error instanceof Refusal && (error.status === 402 || (error.status === 403 && limited));

/** Asks for another key; main.js shows the form. */
const askForKey = (words) => document.dispatchEvent(new CustomEvent('key-wanted', { detail: words }));

/** Says in the API's own words why there is no data, with what can be done about it. */
export function problem(error, again) {
  const refusal = error instanceof Refusal ? error : null;
  const status = refusal !== null && refusal.status > 0 ? String(refusal.status) : '';
  const box = el(
    'div',
    { class: 'notice bad', role: 'alert' },
    el('p', {}, status === '' ? null : el('span', { class: 'status' }, status), error.message),
  );
  if (refusal?.hint) box.append(el('p', { class: 'hint' }, refusal.hint));
  if (refusal !== null && refusal.status >= 500 && refusal.requestId !== null) {
    box.append(el('p', { class: 'hint' }, `Request id ${refusal.requestId}`));
  }
  const actions = el('p', {});
  if ([401, 402, 403].includes(refusal?.status)) {
    const other = el('button', { type: 'button' }, 'Use another key');
    other.addEventListener('click', () => askForKey(error.message));
    actions.append(other);
    if (refusal.upgradeUrl !== null) actions.append(' ', el('a', { href: refusal.upgradeUrl }, 'Plans'));
  } else if (
    again !== null &&
    (refusal === null || refusal.status === 0 || refusal.status === 429 || refusal.status >= 500)
  ) {
    actions.append(retryButton(refusal?.retryAtMs ?? null, again));
  }
  if (actions.childNodes.length > 0) box.append(actions);
  return box;
}

function retryButton(retryAtMs, again) {
  const button = el('button', { type: 'button' }, 'Try again');
  button.addEventListener('click', () => again());
  if (retryAtMs === null) return button;
  const tick = () => {
    const leftS = Math.ceil((retryAtMs - Date.now()) / 1000);
    button.disabled = leftS > 0;
    button.textContent = leftS > 0 ? `Try again in ${leftS} s` : 'Try again';
    if (leftS > 0) setTimeout(tick, 1000);
  };
  tick();
  return button;
}
