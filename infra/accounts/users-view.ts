import type { AccountState, Session, User } from '../../schemas/types.gen.js';

/** Users and their sessions, as far as accounts.state has been read. */
export interface UsersView {
  user(userId: string): User | undefined;
  /** `email` in lower case. */
  userByEmail(email: string): User | undefined;
  /** Users of an account. */
  usersOf(accountId: string): readonly User[];
  /** The session, unless it has ended or expired at `nowMs`, or its user is gone. */
  session(sessionHash: string, nowMs: number): { readonly session: Session; readonly user: User } | undefined;
}

/** Follows the users and sessions of accounts.state. `apply`: see `onState` of createAccountsReadModel. */
export function createUsersView(): UsersView & {
  apply(entity: string, state: AccountState['state'] | null): void;
} {
  const users = new Map<string, User>();
  const sessions = new Map<string, Session>();
  const userIdByEmail = new Map<string, string>();
  const userIdsByAccount = new Map<string, Set<string>>();

  const forgetUser = (userId: string) => {
    const user = users.get(userId);
    if (user === undefined) return;
    users.delete(userId);
    userIdsByAccount.get(user.account_id)?.delete(userId);
    if (userIdByEmail.get(user.email) === userId) userIdByEmail.delete(user.email);
  };
  const usersOf: UsersView['usersOf'] = (accountId) =>
    [...(userIdsByAccount.get(accountId) ?? [])].flatMap((userId) => users.get(userId) ?? []);

  return {
    user: (userId) => users.get(userId),
    userByEmail: (email) => users.get(userIdByEmail.get(email) ?? ''),
    usersOf,
    session(sessionHash, nowMs) {
      const session = sessions.get(sessionHash);
      const user = users.get(session?.user_id ?? '');
      return session === undefined || user === undefined || session.expires_at_ms <= nowMs
        ? undefined
        : { session, user };
    },
    apply(entity, state) {
      const id = entity.slice(entity.indexOf(':') + 1);
      if (entity.startsWith('user:')) {
        forgetUser(id);
        if (state === null || !('oddstream.User' in state)) return;
        const user = state['oddstream.User'];
        users.set(id, user);
        userIdByEmail.set(user.email, id);
        const siblings = userIdsByAccount.get(user.account_id) ?? new Set();
        userIdsByAccount.set(user.account_id, siblings.add(id));
      } else if (entity.startsWith('session:')) {
        if (state !== null && 'oddstream.Session' in state) sessions.set(id, state['oddstream.Session']);
        else sessions.delete(id);
      }
    },
  };
}
