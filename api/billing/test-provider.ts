import type { PaymentProvider } from './port.js';

/** Page on which a test payment is confirmed. */
const TEST_PAYMENT_PAGE = '/dashboard/test-payment';
const REF_PREFIX = 'test-';

/** A provider without money, for trying out purchases: its page says so, and confirms the payment at a press of a button. */
export function createTestProvider(options: { publicUrl: string }): PaymentProvider {
  // The id follows a # so that it stays out of the logs of proxies.
  const urlOf = (checkoutId: string) => `${options.publicUrl}${TEST_PAYMENT_PAGE}#${checkoutId}`;
  return {
    name: 'test',
    createCheckout: async ({ checkoutId }) => ({ ref: `${REF_PREFIX}${checkoutId}`, url: urlOf(checkoutId) }),
    urlOfCheckout: async (ref) => urlOf(ref.slice(REF_PREFIX.length)),
    parseWebhook: null,
  };
}
