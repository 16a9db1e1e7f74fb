import { $ } from '/app/assets/dom.js';
import { once, onSubmit, RequestError, request, showMessage, showProblem } from './requests.js';

const PROBLEMS = {
  provider: 'Signing in with your organisation did not work. Try again.',
  unverified: 'Your organisation has not verified your email address. Sign in another way.',
};

export function showSignIn() {
  const name = new URLSearchParams(location.search).get('problem') ?? '';
  const problem = Object.hasOwn(PROBLEMS, name) ? PROBLEMS[name] : undefined;
  if (problem !== undefined) showProblem(new RequestError(0, problem));

  onSubmit($('password-form'), async () => {
    await request('POST', '/v1/auth/sign-in', { email: $('email').value, password: $('password').value });
    location.replace('/dashboard');
  });
  const mail = async (path, input) => {
    const { message } = await request('POST', path, { email: input.value });
    showMessage(message);
  };
  onSubmit($('link-form'), () => mail('/v1/auth/link', $('link-email')));
  $('reset').addEventListener('click', () => {
    const input = $('email');
    if (input.reportValidity()) void once($('password-form'), () => mail('/v1/auth/reset', input));
  });
}
