import type { AccountCommand } from '../../schemas/types.gen.js';
import type { PaymentEvent } from './port.js';

/** The command that an event of a payment provider causes; null: none. */
export function paymentCommand(event: PaymentEvent): AccountCommand['command'] | null {
  if (event.kind === 'ignored') return null;
  const ids = { account_id: event.subject.accountId, checkout_id: event.subject.checkoutId };
  switch (event.kind) {
    case 'paid':
      return {
        'oddstream.CompleteCheckout': {
          ...ids,
          payment_ref: event.paymentRef,
          amount_cents: event.amountCents,
          paid_at_ms: event.occurredAtMs,
        },
      };
    case 'expired':
      return { 'oddstream.ExpireCheckout': ids };
    default:
      return {
        'oddstream.SetRefund': {
          ...ids,
          refunded_cents: event.cents,
          failed_cents: event.kind === 'refund' ? event.failedCents : 0,
          reason: event.kind,
          dispute_id: event.kind === 'refund' ? null : event.disputeId,
          occurred_at_ms: event.occurredAtMs,
        },
      };
  }
}
