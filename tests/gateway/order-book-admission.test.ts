import { expect, it } from 'vitest';
import { plans } from '../../schemas/plans.js';
import type { AdmissionResult } from '../../stream-gateway/admission/admission.js';
import { accountOf, createOrderBookAdmission, termsOfSession } from '../../stream-gateway/order-book/admission.js';
import { createFleet } from './admission-harness.js';

const permitOf = (admitted: AdmissionResult) => {
  if (admitted.status !== 'ok') throw new Error(admitted.status);
  return admitted.permit;
};

it('order-book sockets have connection caps and a free hour apart from event sockets, over all processes', async () => {
  let plan = plans.free;
  const fleet = await createFleet({
    termsOf(sessionAccount) {
      expect(accountOf(sessionAccount)).toBe('a');
      return termsOfSession(sessionAccount, plan);
    },
  });
  const [first, second] = [await fleet.start(), await fleet.start()];
  const [books, otherBooks] = [createOrderBookAdmission(first.admission), createOrderBookAdmission(second.admission)];
  const account = { accountId: 'a', terms: plan };
  const event = permitOf(await first.admission.admit(account));
  const book = permitOf(await books.admit(account));
  expect((await otherBooks.admit(account)).status).toBe('too_many');
  expect((await second.admission.admit(account)).status).toBe('too_many');
  event.release();
  let exhausted = 0;
  book.onSessionTimeExhausted(() => exhausted++);
  for (let minutes = 0; minutes < 60; minutes++) {
    fleet.clock.ms += 60_000 - 2_000;
    await fleet.heartbeat();
  }
  first.admission.checkSessions();
  expect(exhausted).toBe(1);
  book.release();
  await fleet.heartbeat();
  expect((await otherBooks.admit(account)).status).toBe('session_used_up');
  expect((await second.admission.admit(account)).status).toBe('ok');

  // A plan with a lower cap of order-book sockets ends the newest of them only.
  plan = { ...plans.starter, orderbookSockets: 2, eventSockets: 1 };
  const paid = { accountId: 'a', terms: plan };
  const permits = [permitOf(await books.admit(paid)), permitOf(await books.admit(paid))];
  const ended: number[] = [];
  for (const [n, permit] of permits.entries()) permit.onExcess(() => ended.push(n));
  fleet.clock.ms += 1;
  plan = { ...plan, orderbookSockets: 1 };
  for (const permit of permits) permit.setTerms(plan);
  await fleet.heartbeat();
  first.admission.checkSessions();
  expect(ended).toHaveLength(1);
  await fleet.stop();
});
