import { $, el } from '/app/assets/dom.js';
import { onSubmit, RequestError, request, SIGN_IN, showProblem } from './requests.js';

/** Uses the link of a mail when the user asks for it. Its token is in the fragment, and leaves the address at once. */
export function showLink() {
  const token = location.hash.slice(1);
  // Another link that is opened in this tab changes the fragment only.
  addEventListener('hashchange', () => location.reload());
  history.replaceState(history.state, '', location.pathname);
  if (token === '') {
    $('use-form').hidden = true;
    document.querySelector('.lead').hidden = true;
    showProblem(
      new RequestError(0, 'This page belongs to a link in a mail. Open the link again, or request a new one.'),
    );
    $('problem').append(el('p', {}, el('a', { href: SIGN_IN }, 'Request a link')));
    return;
  }
  onSubmit($('use-form'), async () => {
    const password = $('password').value;
    await request('POST', '/v1/auth/use-link', { token, ...(password === '' ? {} : { password }) });
    location.replace('/dashboard');
  });
}
