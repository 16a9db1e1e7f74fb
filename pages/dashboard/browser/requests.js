// Requests of a signed-in browser, and what the page says about them.

import { $, el } from '/app/assets/dom.js';

export const SIGN_IN = '/dashboard/sign-in';
let csrfToken = '';
export function useCsrfToken(token) {
  csrfToken = token;
}

/** A failed request: HTTP status (0: no response) and error text. */
export class RequestError extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

/** Body of the response. Throws RequestError for any status but 2xx. */
export async function request(method, path, body) {
  const headers = { 'x-csrf-token': csrfToken };
  if (body !== undefined) headers['content-type'] = 'application/json';
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: method === 'GET' ? {} : headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw new RequestError(0, 'The server does not respond.');
  }
  const result = await response.json().catch(() => null);
  if (response.ok) return result;
  throw new RequestError(response.status, result?.error ?? `HTTP ${response.status}`);
}

/** Shows why something did not work, at the top of the page. A session that has ended leads to the sign-in page. */
export function showProblem(error) {
  if (error.status === 401 && document.body.dataset.view === 'account') {
    location.replace(SIGN_IN);
    return;
  }
  const box = el('div', { class: 'notice bad', role: 'alert', tabindex: '-1' }, el('p', {}, error.message));
  $('problem').replaceChildren(box);
  box.focus();
}

/** Shows a message at the top of the page. */
export function showMessage(text) {
  $('problem').replaceChildren();
  const box = $('message');
  box.hidden = false;
  box.textContent = text;
  box.focus();
}

/** Runs `work` at each submission of a form, once at a time; its errors are shown. The form can be submitted from now on. */
export function onSubmit(form, work) {
  for (const button of form.querySelectorAll('[type=submit]')) button.disabled = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void once(form, work);
  });
}

/** Runs `work` with the buttons of an element disabled; its errors are shown. */
export async function once(element, work) {
  const buttons = [...element.querySelectorAll('button')];
  if (element.getAttribute('aria-busy') === 'true') return;
  element.setAttribute('aria-busy', 'true');
  for (const button of buttons) button.disabled = true;
  $('problem').replaceChildren();
  try {
    await work();
  } catch (error) {
    if (!(error instanceof RequestError)) reportError(error);
    showProblem(error);
  } finally {
    element.removeAttribute('aria-busy');
    for (const button of buttons) button.disabled = false;
  }
}
