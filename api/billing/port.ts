import type { AccountMeter } from '../../schemas/types.gen.js';

/** A purchase of packages that is about to be paid. */
export interface CheckoutOrder {
  readonly checkoutId: string;
  readonly accountId: string;
  readonly email: string;
  readonly meter: AccountMeter;
  /** Number of packages. */
  readonly count: number;
  /** Price of one package. */
  readonly unitCents: number;
}

/** A checkout at the provider. */
export interface ProviderCheckout {
  /** Id at the provider. */
  readonly ref: string;
  /** Page on which the user pays. */
  readonly url: string;
}

/** Who takes payments. */
export interface PaymentProvider {
  readonly name: 'stripe' | 'test';
  /** Opens a checkout; repeating it with the same id returns the same one. Throws ApiError (upstream) when the provider does not respond. */
  createCheckout(order: CheckoutOrder): Promise<ProviderCheckout>;
  /** Page on which an open checkout is paid; null: it is no longer open. Throws ApiError (upstream) when the provider does not respond. */
  urlOfCheckout(ref: string): Promise<string | null>;
  /**
   * Verifies a webhook request and reads its event. Throws ApiError (bad_body) when the signature is not valid; ApiError (upstream) when the
   * provider has to be queried and does not respond. null: this provider sends none.
   */
  readonly parseWebhook: ((request: WebhookRequest) => Promise<PaymentEvent>) | null;
}

export interface WebhookRequest {
  /** The body as received. */
  readonly body: Buffer;
  /** Value of the signature header. */
  readonly signature: string | undefined;
  readonly nowMs: number;
}

/** The purchase that an event is about. */
export interface PaymentSubject {
  readonly accountId: string;
  readonly checkoutId: string;
}

/** What an event of a provider means here. `id` is unique per event; the provider repeats it when it sends the event again. */
export type PaymentEvent = { readonly id: string; readonly type: string; readonly occurredAtMs: number } & (
  | {
      readonly kind: 'paid';
      readonly subject: PaymentSubject;
      /** Id of the payment at the provider. */
      readonly paymentRef: string;
      /** US cents; -1 for another currency. */
      readonly amountCents: number;
    }
  | { readonly kind: 'expired'; readonly subject: PaymentSubject }
  | {
      readonly kind: 'refund';
      readonly subject: PaymentSubject;
      /** Total of all refunds of the payment so far, failed ones included. */
      readonly cents: number;
      /** Total of those that failed or were canceled. */
      readonly failedCents: number;
    }
  | {
      readonly kind: 'dispute' | 'dispute_won' | 'dispute_lost';
      readonly subject: PaymentSubject;
      readonly disputeId: string;
      /** The disputed money. */
      readonly cents: number;
    }
  /** Of no concern here: an event of another kind, or of a payment of another product. */
  | { readonly kind: 'ignored' }
);
