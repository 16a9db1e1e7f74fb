import { beforeEach, describe, expect, it } from 'vitest';
import type { AccountCommand, Outcome } from '../../schemas/types.gen.js';
import { applyCommand } from './apply-command.js';
import { type AccountsState, createAccountsState } from './state.js';

const START = Date.UTC(2026, 8, 1);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let state: AccountsState;
let commands = 0;
beforeEach(() => {
  state = createAccountsState();
});

function run(command: AccountCommand['command'], atMs = START): Outcome {
  commands += 1;
  const id = `command-${commands}`;
  const changes = applyCommand(state, { id, issued_at_ms: atMs, command, author: 'system' });
  const outcome = changes.find(({ entity }) => entity === `outcome:${id}`)?.value?.state;
  if (outcome === undefined || !('oddstream.Outcome' in outcome)) throw new Error('no outcome');
  return outcome['oddstream.Outcome'];
}
const session = (name: string, atMs = START) => ({
  session_hash: name,
  session_expires_at_ms: atMs + 14 * DAY_MS,
});
const createLink = (n: string, options: { email?: string; reset?: boolean; atMs?: number } = {}) =>
  run(
    {
      'oddstream.CreateLink': {
        account_id: `account-${n}`,
        user_id: `user-${n}`,
        link_hash: `link-${n}`,
        purpose: options.reset ? 'reset_password' : 'sign_in',
        email: options.email ?? 'a@b.example',
        expires_at_ms: (options.atMs ?? START) + HOUR_MS,
      },
    },
    options.atMs,
  );
const useLink = (n: string, options: { password?: string; session?: string; atMs?: number } = {}) =>
  run(
    {
      'oddstream.UseLink': {
        account_id: '',
        link_hash: `link-${n}`,
        password_hash: options.password ?? null,
        ...session(options.session ?? `session-${n}`, options.atMs),
      },
    },
    options.atMs,
  );
const provider = (subject: string, email: string, isVerified = true) =>
  run({
    'oddstream.SignInWithProvider': {
      account_id: `account-${subject}`,
      user_id: `user-${subject}`,
      issuer: 'https://id.example',
      subject,
      email,
      email_verified: isVerified,
      ...session(`session-${subject}`),
    },
  });
const sessions = () => [...state.sessions.keys()];

describe('one-time links', () => {
  it('of two for a new email, the first that is used makes the user; the other signs in as that user', () => {
    createLink('1');
    createLink('2');
    expect(useLink('2')).toMatchObject({ code: 'ok', user_id: 'user-2', account_id: 'account-2' });
    expect(useLink('1')).toMatchObject({ code: 'ok', user_id: 'user-2', account_id: 'account-2' });
    expect(useLink('1')).toMatchObject({ code: 'unknown_link', user_id: null });
    expect([...state.users.keys()]).toEqual(['user:user-2']);
    expect(state.accounts.get('account:account-2')).toMatchObject({ plan: 'free', active_keys: 0 });
    expect(state.linksByEmail.size).toBe(0);
  });

  it('are at most five of an email within an hour that are neither used nor expired', () => {
    for (const n of ['1', '2', '3', '4', '5']) expect(createLink(n).code).toBe('ok');
    expect(createLink('6').code).toBe('rate_limited');
    expect(createLink('7', { email: 'other@b.example' }).code).toBe('ok');
    useLink('1');
    expect(createLink('8').code).toBe('ok');
    expect(createLink('9').code).toBe('rate_limited');
    expect(createLink('10', { atMs: START + HOUR_MS }).code).toBe('ok');
  });

  it('work until the moment at which they expire', () => {
    createLink('1');
    createLink('2');
    expect(useLink('1', { atMs: START + HOUR_MS - 1 }).code).toBe('ok');
    expect(useLink('2', { atMs: START + HOUR_MS }).code).toBe('unknown_link');
  });

  it('reset a password of a known user only, with a password, and end sessions and links', () => {
    expect(createLink('0', { reset: true }).code).toBe('unknown_user');
    createLink('1');
    useLink('1', { password: 'old' });
    createLink('2');
    createLink('3', { reset: true });
    expect(useLink('3').code).toBe('password_required');
    expect(useLink('3', { password: 'new' }).code).toBe('ok');
    expect(sessions()).toEqual(['session:session-3']);
    expect(useLink('2').code).toBe('unknown_link');
    expect(state.users.get('user:user-1')?.password_hash).toBe('new');
  });

  it('end with a change of the password and with the account, also those mailed before it existed', () => {
    for (const n of ['1', '2', '3', '4']) createLink(n);
    useLink('1');
    const set = {
      account_id: 'account-1',
      user_id: 'user-1',
      password_hash: 'chosen',
      keep_session_hash: 'session-1',
    };
    expect(run({ 'oddstream.SetPassword': set }).code).toBe('ok');
    expect(useLink('2').code).toBe('unknown_link');
    createLink('5');
    useLink('5');
    createLink('6', { email: 'new@b.example' });
    createLink('7', { email: 'new@b.example' });
    expect(useLink('6')).toMatchObject({ code: 'ok', account_id: 'account-6' });
    expect(run({ 'oddstream.DeleteAccount': { account_id: 'account-6' } }).code).toBe('ok');
    // It names an account that does not exist, and would make it.
    expect(useLink('7').code).toBe('unknown_link');
    expect(state.links.size + state.linksByEmail.size).toBe(0);
    expect([...state.users.keys()]).toEqual(['user:user-1']);
  });
});

describe('sessions', () => {
  const start = (name: string, passwordHash: string, atMs = START) =>
    run(
      {
        'oddstream.StartSession': {
          account_id: 'account-1',
          user_id: 'user-1',
          password_hash: passwordHash,
          ...session(name, atMs),
        },
      },
      atMs,
    );
  const end = (one: string | null, except: string | null = null, account = 'account-1') =>
    run({
      'oddstream.EndSessions': {
        account_id: account,
        user_id: 'user-1',
        session_hash: one,
        except_session_hash: except,
      },
    });
  beforeEach(() => {
    createLink('1');
    useLink('1', { password: 'hash' });
  });

  it('do not begin with a password that was changed after it was verified', () => {
    expect(start('a', 'hash').code).toBe('ok');
    const set = {
      account_id: 'account-1',
      user_id: 'user-1',
      password_hash: 'other',
      keep_session_hash: 'session-1',
    };
    expect(run({ 'oddstream.SetPassword': set }).code).toBe('ok');
    expect(sessions()).toEqual(['session:session-1']);
    expect(start('b', 'hash').code).toBe('password_changed');
    expect(start('b', 'other').code).toBe('ok');
  });

  it('set no password once they have ended, so that a password chosen meanwhile stays', () => {
    createLink('2', { reset: true });
    expect(useLink('2', { password: 'chosen by the owner' }).code).toBe('ok');
    const late = {
      account_id: 'account-1',
      user_id: 'user-1',
      password_hash: 'chosen by a thief',
      keep_session_hash: 'session-1',
    };
    expect(run({ 'oddstream.SetPassword': late }).code).toBe('unknown_session');
    expect(state.users.get('user:user-1')?.password_hash).toBe('chosen by the owner');
    expect(sessions()).toEqual(['session:session-2']);
  });

  it('are ended one by one, all but one, or all, of their own account only', () => {
    for (const name of ['a', 'b', 'c']) start(name, 'hash');
    expect(end('a').code).toBe('ok');
    expect(sessions()).toEqual(['session:session-1', 'session:b', 'session:c']);
    expect(end(null, null, 'another').code).toBe('unknown_user');
    expect(sessions()).toHaveLength(3);
    end(null, 'b');
    expect(sessions()).toEqual(['session:b']);
    end(null);
    expect(sessions()).toEqual([]);
  });

  it('are at most 20 of a user: the oldest end', () => {
    for (let n = 0; n < 25; n += 1) start(`s${n}`, 'hash');
    expect(sessions()).toEqual(Array.from({ length: 20 }, (_, n) => `session:s${n + 5}`));
  });
});

describe('identities of a provider', () => {
  it('make a user, find it by subject whatever the email, and join one by a verified email only', () => {
    expect(provider('ada', 'ada@b.example')).toMatchObject({ code: 'ok', user_id: 'user-ada' });
    expect(provider('ada', 'changed@b.example', false)).toMatchObject({ code: 'ok', user_id: 'user-ada' });
    expect(provider('eve', 'ada@b.example', false).code).toBe('unverified_email');
    expect(provider('second', 'ada@b.example')).toMatchObject({ code: 'ok', user_id: 'user-ada' });
    expect(state.users.get('user:user-ada')?.identities).toEqual([
      'https://id.example ada',
      'https://id.example second',
    ]);
    expect(provider('eve', '', false).code).toBe('unverified_email');
    expect(state.users.size).toBe(1);
  });
});
