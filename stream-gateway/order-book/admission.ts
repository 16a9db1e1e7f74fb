import type { PlanTerms } from '../../schemas/plans.js';
import type { Admission } from '../admission/admission.js';

/** Order-book sockets are counted as those of an account of its own, next to the event sockets of the same account. */
const SUFFIX = '/orderbook';

/** The account of a session's account name. */
export const accountOf = (sessionAccount: string): string =>
  sessionAccount.endsWith(SUFFIX) ? sessionAccount.slice(0, -SUFFIX.length) : sessionAccount;

/** The terms that bound a session: the plan's cap of order-book sockets in place of that of event sockets. */
export const termsOfSession = (sessionAccount: string, terms: PlanTerms): PlanTerms =>
  sessionAccount.endsWith(SUFFIX) ? { ...terms, eventSockets: terms.orderbookSockets } : terms;

/** Admission of order-book sockets: their own connection cap, and their own free hour a day. */
export function createOrderBookAdmission(admission: Admission): Admission {
  const own = (terms: PlanTerms): PlanTerms => termsOfSession(SUFFIX, terms);
  return {
    async admit({ accountId, terms }) {
      const admitted = await admission.admit({ accountId: `${accountId}${SUFFIX}`, terms: own(terms) });
      if (admitted.status !== 'ok') return admitted;
      const { permit } = admitted;
      return {
        status: 'ok',
        permit: {
          onSessionTimeExhausted: permit.onSessionTimeExhausted,
          onExcess: permit.onExcess,
          setTerms: (next) => permit.setTerms(own(next)),
          release: permit.release,
        },
      };
    },
  };
}
