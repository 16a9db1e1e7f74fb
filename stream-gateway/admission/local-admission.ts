import type { Admission } from './admission.js';

/** Admission that counts the connections of this process only, for tests and tools without a log. Session time is not limited. */
export function createLocalAdmission(): Admission {
  const open = new Map<string, number>();
  return {
    async admit({ accountId, terms }) {
      const openCount = open.get(accountId) ?? 0;
      if (terms.eventSockets !== null && openCount >= terms.eventSockets) return { status: 'too_many' };
      open.set(accountId, openCount + 1);
      let released = false;
      return {
        status: 'ok',
        permit: {
          onSessionTimeExhausted: () => undefined,
          onExcess: () => undefined,
          setTerms: () => undefined,
          release() {
            if (released) return;
            released = true;
            const remaining = (open.get(accountId) ?? 1) - 1;
            if (remaining > 0) open.set(accountId, remaining);
            else open.delete(accountId);
          },
        },
      };
    },
  };
}
