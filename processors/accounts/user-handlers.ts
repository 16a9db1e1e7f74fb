import { commonLimits } from '../../schemas/plans.js';
import type { OneTimeLink, User } from '../../schemas/types.gen.js';
import { newAccount } from './account-handlers.js';
import { type CommandHandlers, type CommandResult, reject, type States } from './command-result.js';
import { type AccountsState, emailLogin, entitiesOf, entityOf, identityLogin, linkEntitiesOf } from './state.js';

const HOUR_MS = 3_600_000;
/** The oldest session of a user ends when one more starts. */
const MAX_SESSIONS_PER_USER = 20;
const SIGN_UP_LABEL = 'signed up';

const userByLogin = (state: AccountsState, login: string): User | undefined =>
  state.users.get(state.userByLogin.get(login) ?? '');

const linksOf = (state: AccountsState, email: string): readonly OneTimeLink[] =>
  linkEntitiesOf(state, email).flatMap((entity) => state.links.get(entity) ?? []);

/** Entities of the sessions of a user, oldest first. */
const sessionsOf = (state: AccountsState, user: User): readonly string[] =>
  entitiesOf(state, user.account_id, 'session').filter(
    (entity) => state.sessions.get(entity)?.user_id === user.user_id,
  );

interface NewSession {
  readonly session_hash: string;
  readonly session_expires_at_ms: number;
}

/** Accepts a sign-in: writes `changes` and the session, removes `removed` and sessions beyond the limit. */
function startSession(
  state: AccountsState,
  user: User,
  session: NewSession,
  options: { atMs: number; changes?: States; removed?: readonly string[]; endOthers?: boolean },
): CommandResult {
  const running = sessionsOf(state, user);
  const surplus = options.endOthers === true ? running : running.slice(0, -(MAX_SESSIONS_PER_USER - 1));
  return {
    code: 'ok',
    accountId: user.account_id,
    userId: user.user_id,
    changes: [
      ...(options.changes ?? []),
      {
        'oddstream.Session': {
          session_hash: session.session_hash,
          user_id: user.user_id,
          account_id: user.account_id,
          created_at_ms: options.atMs,
          expires_at_ms: session.session_expires_at_ms,
        },
      },
    ],
    removed: [...(options.removed ?? []), ...surplus],
  };
}

/** A free account without keys and its user. */
function newUser(
  user: { accountId: string; userId: string; email: string },
  atMs: number,
  details: Partial<Pick<User, 'identities' | 'password_hash'>>,
): { readonly user: User; readonly changes: States } {
  const value: User = {
    user_id: user.userId,
    account_id: user.accountId,
    email: user.email,
    password_hash: details.password_hash ?? null,
    identities: details.identities ?? [],
    created_at_ms: atMs,
  };
  return {
    user: value,
    changes: [newAccount(user.accountId, 'free', SIGN_UP_LABEL, atMs, 0), { 'oddstream.User': value }],
  };
}

/** The user of a command, or undefined. */
function findUser(state: AccountsState, command: { user_id: string; account_id: string }): User | undefined {
  const user = state.users.get(entityOf.user(command.user_id));
  return user?.account_id === command.account_id ? user : undefined;
}

const idsTaken = (state: AccountsState, ids: { account_id: string; user_id: string }): boolean =>
  state.accounts.has(entityOf.account(ids.account_id)) || state.users.has(entityOf.user(ids.user_id));

/** Users, their sessions, one-time links and passwords. An email has one user: the first that is confirmed. */
export const userHandlers: CommandHandlers<
  'CreateLink' | 'UseLink' | 'StartSession' | 'SignInWithProvider' | 'EndSessions' | 'SetPassword'
> = {
  CreateLink(state, command, { atMs }) {
    const { email, purpose } = command;
    const user = userByLogin(state, emailLogin(email));
    const recent = linksOf(state, email).filter(
      (link) => link.created_at_ms > atMs - HOUR_MS && link.expires_at_ms > atMs,
    );
    if (recent.length >= commonLimits.unusedLinksPerEmailAndHour) return reject('rate_limited', null);
    if (user === undefined && purpose === 'reset_password') return reject('unknown_user', null);
    const { account_id, user_id } = user ?? command;
    const link = {
      link_hash: command.link_hash,
      purpose,
      email,
      user_id,
      account_id,
      created_at_ms: atMs,
      expires_at_ms: command.expires_at_ms,
    };
    return { code: 'ok', accountId: account_id, userId: user_id, changes: [{ 'oddstream.OneTimeLink': link }] };
  },
  UseLink(state, command, { atMs }) {
    const entity = entityOf.link(command.link_hash);
    const link = state.links.get(entity);
    if (link === undefined || link.expires_at_ms <= atMs) return reject('unknown_link', null);
    const { password_hash } = command;
    if (link.purpose === 'reset_password' && password_hash === null) return reject('password_required', null);
    const existing = userByLogin(state, emailLogin(link.email));
    const common = { atMs, removed: [entity] };
    if (existing === undefined) {
      if (link.purpose === 'reset_password' || idsTaken(state, link)) return reject('unknown_link', null);
      const ids = { accountId: link.account_id, userId: link.user_id, email: link.email };
      const { user, changes } = newUser(ids, atMs, { password_hash });
      return startSession(state, user, command, { ...common, changes });
    }
    if (password_hash === null) return startSession(state, existing, command, common);
    // Sessions and links that used the old password must end.
    return startSession(state, existing, command, {
      atMs,
      changes: [{ 'oddstream.User': { ...existing, password_hash } }],
      removed: linkEntitiesOf(state, link.email),
      endOthers: true,
    });
  },
  StartSession(state, command, { atMs }) {
    const user = findUser(state, command);
    if (user === undefined) return reject('unknown_user', null);
    if (user.password_hash !== command.password_hash) return reject('password_changed', null);
    return startSession(state, user, command, { atMs });
  },
  SignInWithProvider(state, command, { atMs }) {
    const { email, email_verified: isVerified } = command;
    const identity = `${command.issuer} ${command.subject}`;
    const known = userByLogin(state, identityLogin(identity));
    if (known !== undefined) return startSession(state, known, command, { atMs });
    // An email that the provider has not verified may belong to another person.
    if (!isVerified) return reject('unverified_email', null);
    const existing = userByLogin(state, emailLogin(email));
    if (existing !== undefined) {
      const joined = { ...existing, identities: [...existing.identities, identity] };
      return startSession(state, existing, command, { atMs, changes: [{ 'oddstream.User': joined }] });
    }
    if (idsTaken(state, command)) return reject('account_exists', null);
    const ids = { accountId: command.account_id, userId: command.user_id, email };
    const { user, changes } = newUser(ids, atMs, { identities: [identity] });
    return startSession(state, user, command, { atMs, changes });
  },
  EndSessions(state, command) {
    const user = findUser(state, command);
    if (user === undefined) return reject('unknown_user', null);
    const { session_hash: one, except_session_hash: except } = command;
    const ended = sessionsOf(state, user).filter((entity) =>
      one === null ? except === null || entity !== entityOf.session(except) : entity === entityOf.session(one),
    );
    return { code: 'ok', accountId: user.account_id, userId: user.user_id, changes: [], removed: ended };
  },
  SetPassword(state, command) {
    const user = findUser(state, command);
    if (user === undefined) return reject('unknown_user', null);
    const kept = entityOf.session(command.keep_session_hash);
    // A password that was set meanwhile has ended this session, which must not replace it.
    if (state.sessions.get(kept)?.user_id !== user.user_id) return reject('unknown_session', user.account_id);
    return {
      code: 'ok',
      accountId: user.account_id,
      userId: user.user_id,
      changes: [{ 'oddstream.User': { ...user, password_hash: command.password_hash } }],
      // As with a link: links that were mailed before must stop working.
      removed: [...sessionsOf(state, user).filter((entity) => entity !== kept), ...linkEntitiesOf(state, user.email)],
    };
  },
};
