import Stripe from 'stripe';
import type { AccountMeter } from '../../schemas/types.gen.js';
import { ApiError } from '../errors/failure.js';
import type { PaymentEvent, PaymentProvider, PaymentSubject, WebhookRequest } from './port.js';

const CURRENCY = 'usd';
/** Age of a signature that is still accepted. */
const TOLERANCE_S = 300;
const REQUEST_TIMEOUT_MS = 8_000;
const RETRY_AFTER_S = 5;

const productNames: Readonly<Record<AccountMeter, string>> = {
  api_requests: '10 million API requests',
  orderbook_chainlink_bytes: '100 GB order book and oracle stream',
  onchain_event_bytes: '100 GB on-chain event stream',
};

/** Purchase in the metadata that `createCheckout` sets; undefined for payments of other products of the same Stripe account. */
function subjectOf(metadata: Stripe.Metadata | null | undefined): PaymentSubject | undefined {
  const { account_id: accountId, checkout_id: checkoutId } = metadata ?? {};
  return accountId === undefined || checkoutId === undefined ? undefined : { accountId, checkoutId };
}

const idOf = (value: string | { readonly id: string } | null | undefined): string | null =>
  typeof value === 'string' ? value : (value?.id ?? null);

const isMissing = (error: unknown): boolean =>
  error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing';

const unavailable = (cause: unknown) => new ApiError({ kind: 'upstream', retryAfterS: RETRY_AFTER_S }, { cause });

/** Body as text. Stripe signs UTF-8 without a byte order mark; anything else cannot be what was signed. */
function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch (cause) {
    throw new ApiError({ kind: 'bad_body', message: 'The body is not UTF-8.' }, { cause });
  }
}

/** Payments through Stripe Checkout. `apiBase`: another address of Stripe's API. */
export function createStripeProvider(options: {
  secretKey: string;
  webhookSecret: string;
  apiBase: string | undefined;
  /** Public URL of this product, to which Stripe's page returns. */
  publicUrl: string;
  /** Default: 2. */
  maxRetries?: number;
}): PaymentProvider {
  const base = options.apiBase === undefined ? undefined : new URL(options.apiBase);
  const stripe = new Stripe(options.secretKey, {
    timeout: REQUEST_TIMEOUT_MS,
    maxNetworkRetries: options.maxRetries ?? 2,
    telemetry: false,
    ...(base === undefined
      ? {}
      : {
          protocol: base.protocol === 'http:' ? ('http' as const) : ('https' as const),
          host: base.hostname,
          port: base.port === '' ? (base.protocol === 'http:' ? 80 : 443) : Number(base.port),
        }),
  });

  /** Disputes and refunds do not carry the metadata of their payment. */
  const subjectOfPayment = async (paymentId: string | null): Promise<PaymentSubject | undefined> => {
    if (paymentId === null) return undefined;
    try {
      return subjectOf((await stripe.paymentIntents.retrieve(paymentId)).metadata);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw unavailable(error);
    }
  };

  const verify = ({ body, signature, nowMs }: WebhookRequest): Stripe.Event => {
    const text = textOf(body);
    try {
      return stripe.webhooks.constructEvent(
        text,
        signature ?? '',
        options.webhookSecret,
        TOLERANCE_S,
        undefined,
        nowMs,
      );
    } catch (cause) {
      throw new ApiError({ kind: 'bad_body', message: 'The signature of the event is not valid.' }, { cause });
    }
  };

  const ofSession = (session: Stripe.Checkout.Session, kind: 'paid' | 'expired') => {
    const subject = subjectOf(session.metadata);
    if (subject === undefined) return { kind: 'ignored' as const };
    if (kind === 'expired') return { kind, subject };
    // Delayed payment methods: the money comes with a later event.
    if (session.payment_status !== 'paid') return { kind: 'ignored' as const };
    return {
      kind,
      subject,
      paymentRef: idOf(session.payment_intent) ?? session.id,
      amountCents: session.currency === CURRENCY ? (session.amount_total ?? -1) : -1,
    };
  };

  /** Refunds of a payment, read from Stripe: an event knows one refund, or a total that does not say which of them failed. */
  const ofRefund = async (paymentId: string | null) => {
    const subject = await subjectOfPayment(paymentId);
    if (subject === undefined || paymentId === null) return { kind: 'ignored' as const };
    const total = { cents: 0, failedCents: 0 };
    try {
      for await (const { amount, status } of stripe.refunds.list({ payment_intent: paymentId, limit: 100 })) {
        total.cents += amount;
        if (status === 'failed' || status === 'canceled') total.failedCents += amount;
      }
    } catch (error) {
      throw unavailable(error);
    }
    return { kind: 'refund' as const, subject, ...total };
  };

  const ofDispute = async (dispute: Stripe.Dispute) => {
    const { status, id: disputeId, amount: cents } = dispute;
    // An inquiry: no money has been taken back.
    if (status === 'warning_needs_response' || status === 'warning_under_review') return { kind: 'ignored' as const };
    const subject = await subjectOfPayment(idOf(dispute.payment_intent));
    if (subject === undefined) return { kind: 'ignored' as const };
    const isWon = status === 'won' || status === 'warning_closed' || status === 'prevented';
    const kind = isWon ? 'dispute_won' : status === 'lost' ? 'dispute_lost' : 'dispute';
    return { kind, subject, disputeId, cents } as const;
  };

  const meaningOf = async (event: Stripe.Event) => {
    switch (event.type) {
      case 'checkout.session.completed':
      case 'checkout.session.async_payment_succeeded':
        return ofSession(event.data.object, 'paid');
      case 'checkout.session.expired':
      case 'checkout.session.async_payment_failed':
        return ofSession(event.data.object, 'expired');
      case 'charge.refunded':
      case 'charge.refund.updated':
      case 'refund.updated':
      case 'refund.failed':
        return ofRefund(idOf(event.data.object.payment_intent));
      case 'charge.dispute.created':
      case 'charge.dispute.funds_withdrawn':
      case 'charge.dispute.closed':
        return ofDispute(event.data.object);
      default:
        return { kind: 'ignored' as const };
    }
  };

  return {
    name: 'stripe',
    async createCheckout({ checkoutId, accountId, email, meter, count, unitCents }) {
      const metadata = { account_id: accountId, checkout_id: checkoutId };
      try {
        const session = await stripe.checkout.sessions.create(
          {
            mode: 'payment',
            client_reference_id: checkoutId,
            customer_email: email,
            line_items: [
              {
                quantity: count,
                price_data: {
                  currency: CURRENCY,
                  unit_amount: unitCents,
                  product_data: { name: `Usage package: ${productNames[meter]}` },
                },
              },
            ],
            metadata,
            payment_intent_data: { metadata },
            success_url: `${options.publicUrl}/dashboard?checkout=${checkoutId}`,
            cancel_url: `${options.publicUrl}/dashboard`,
          },
          { idempotencyKey: checkoutId },
        );
        if (session.url === null) throw new Error('Stripe returned a checkout session without a URL');
        return { ref: session.id, url: session.url };
      } catch (error) {
        throw unavailable(error);
      }
    },
    async urlOfCheckout(ref) {
      try {
        const { status, url } = await stripe.checkout.sessions.retrieve(ref);
        return status === 'open' ? url : null;
      } catch (error) {
        if (isMissing(error)) return null;
        throw unavailable(error);
      }
    },
    async parseWebhook(request): Promise<PaymentEvent> {
      const event = verify(request);
      return { id: event.id, type: event.type, occurredAtMs: event.created * 1000, ...(await meaningOf(event)) };
    },
  };
}
