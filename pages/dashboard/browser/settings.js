// Password, sessions, deletion of the account.

import { $, el } from '/app/assets/dom.js';
import { confirmed } from './dialog.js';
import { once, onSubmit, request, SIGN_IN } from './requests.js';

export function createSettings({ email, has_password: hasPassword }) {
  const current = $('current-password');
  const knowsPassword = (known) => {
    $('current-entry').hidden = !known;
    $('password-title').textContent = known ? 'Change the password' : 'Set a password';
  };
  knowsPassword(hasPassword);
  $('username').value = email;

  onSubmit($('password-form'), async () => {
    const given = current.value === '' ? {} : { current_password: current.value };
    await request('POST', '/v1/account/password', { password: $('new-password').value, ...given });
    current.value = '';
    $('new-password').value = '';
    knowsPassword(true);
    $('account-status').textContent = 'The password is set. All other sessions have ended.';
  });
  for (const [id, path] of [
    ['sign-out', '/v1/auth/sign-out'],
    ['sign-out-everywhere', '/v1/account/sign-out-everywhere'],
  ])
    $(id).addEventListener(
      'click',
      () =>
        void once($('account-panel'), async () => {
          await request('POST', path);
          location.replace(SIGN_IN);
        }),
    );

  $('delete').addEventListener('click', () => {
    const typed = el('input', { id: 'delete-email', type: 'email', autocomplete: 'off', required: true });
    const password = el('input', { id: 'delete-password', type: 'password', autocomplete: 'current-password' });
    confirmed({
      title: 'Delete the account?',
      content: [
        el('p', {}, 'All keys stop working, and packages that are left are lost. This cannot be undone.'),
        el('p', { class: 'entry' }, el('label', { for: 'delete-email' }, `Type ${email} to confirm`), typed),
        hasPassword
          ? el('p', { class: 'entry' }, el('label', { for: 'delete-password' }, 'Password'), password)
          : el('p', { class: 'dim' }, 'If you signed in long ago, sign in again first.'),
      ],
      action: 'Delete the account',
      danger: true,
      work: async () => {
        const given = password.value === '' ? {} : { password: password.value };
        await request('DELETE', '/v1/account', { email: typed.value, ...given });
        location.replace(SIGN_IN);
      },
    });
  });
}
