// Requests to the public REST API with the user's key.

import { readKey, storeKey } from '/console/key.js';
import { el } from './dom.js';

const { port, socket: configured } = document.body.dataset;
/** Address of the event socket. */
export const socketUrl =
  configured || `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.hostname}:${port}/ws`;

let key = readKey();
/** The API has rejected a request because of the plan of this key. */
let limited = false;

export const hasKey = () => key !== '';
export const currentKey = () => key;
export function useKey(value) {
  key = value;
  storeKey(value);
}

/** A failed request: HTTP status (0: no response), error text, request id, and the time from which a retry is allowed. */
export class ApiError extends Error {
  constructor({ status, body, retryAtMs, requestId }) {
    super(typeof body?.error === 'string' ? body.error : `HTTP ${status}`);
    this.status = status;
    this.hint = typeof body?.hint === 'string' ? body.hint : null;
    this.upgradeUrl = typeof body?.upgrade_url === 'string' ? body.upgrade_url : null;
    this.retryAtMs = retryAtMs;
    this.requestId = requestId;
  }
}

/** Body of a GET. Throws ApiError for any status but 2xx, and with status 0 if there is no response. */
export async function get(path, query = {}, signal = undefined) {
  const parameters = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const text = new URLSearchParams(parameters).toString();
  let response;
  try {
    response = await fetch(text === '' ? path : `${path}?${text}`, { headers: { 'x-api-key': key }, signal });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError({ status: 0, body: { error: 'The API does not respond.' }, retryAtMs: null, requestId: null });
  }
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  limited ||= response.status === 402;
  const waitS = Number(response.headers.get('retry-after'));
  throw new ApiError({
    status: response.status,
    body,
    retryAtMs: waitS > 0 ? Date.now() + waitS * 1000 : null,
    requestId: response.headers.get('x-request-id'),
  });
}

/** True if the plan of this key does not include the endpoint. /v2 returns 403 both for plan errors and for an unknown key; an unknown key never gets 402. */
export const isPaidOnly = (error) =>
  error instanceof ApiError && (error.status === 402 || (error.status === 403 && limited));

/** Requests another key from the user; main.js shows the form. */
const requestKey = (words) => document.dispatchEvent(new CustomEvent('key-requested', { detail: words }));

/** Message box with the API's error text and a way to continue. `again`: retries. */
export function problem(error, again) {
  const apiError = error instanceof ApiError ? error : null;
  const status = apiError !== null && apiError.status > 0 ? String(apiError.status) : '';
  const box = el(
    'div',
    { class: 'notice bad', role: 'alert' },
    el('p', {}, status === '' ? null : el('span', { class: 'status' }, status), error.message),
  );
  if (apiError?.hint) box.append(el('p', { class: 'hint' }, apiError.hint));
  if (apiError !== null && apiError.status >= 500 && apiError.requestId !== null) {
    box.append(el('p', { class: 'hint' }, `Request id ${apiError.requestId}`));
  }
  const actions = el('p', {});
  if ([401, 402, 403].includes(apiError?.status)) {
    const other = el('button', { type: 'button' }, 'Use another key');
    other.addEventListener('click', () => requestKey(error.message));
    actions.append(other);
    if (apiError.upgradeUrl !== null) actions.append(' ', el('a', { href: apiError.upgradeUrl }, 'Plans'));
  } else if (
    again !== null &&
    (apiError === null || apiError.status === 0 || apiError.status === 429 || apiError.status >= 500)
  ) {
    actions.append(retryButton(apiError?.retryAtMs ?? null, again));
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
