import type { PaymentProvider } from './port.js';

/** Page on which a test payment is confirmed. */
const TEST_PAYMENT_PAGE = '/dashboard/test-payment';

/** A provider without money, for trying out purchases: its page says so, and confirms the payment at a press of a button. */
export function createTestProvider(options: { publicUrl: string }): PaymentProvider {
  return {
    name: 'test',
    // The id follows a # so that it stays out of the logs of proxies.
    createCheckout: async ({ checkoutId }) => ({
      ref: `test-${checkoutId}`,
      url: `${options.publicUrl}${TEST_PAYMENT_PAGE}#${checkoutId}`,
    }),
    parseWebhook: null,
  };
}
