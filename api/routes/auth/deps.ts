import type { UsersView } from '../../../infra/accounts/users-view.js';
import type { Decide } from '../../accounts/decide.js';
import type { Cookie } from '../../auth/cookies.js';
import type { PasswordHasher } from '../../auth/password-hasher.js';
import type { SignInThrottle } from '../../auth/sign-in-throttle.js';
import type { Mailer } from '../../mail/mailer.js';

/** What the routes of signing in need. */
export interface SignInDeps {
  readonly decide: Decide;
  readonly users: UsersView;
  readonly passwords: PasswordHasher;
  readonly throttle: SignInThrottle;
  readonly mailer: Mailer;
  readonly cookie: Cookie;
  /** URL under which this API is reached from outside. */
  readonly baseUrl: string;
}
