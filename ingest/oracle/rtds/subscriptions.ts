import { oracleAssets } from '../source.js';

/** A price topic of the venue's real-time service. `windowS` null: spot. */
export interface PriceTopic {
  readonly topic: string;
  readonly windowS: number | null;
}

export const priceTopics: readonly PriceTopic[] = [
  { topic: 'crypto_prices_chainlink', windowS: null },
  { topic: 'crypto_prices_twap_thirty', windowS: 30 },
  { topic: 'crypto_prices_twap_sixty', windowS: 60 },
];

/** Subscription to one topic and one symbol, the form that the service accepts. */
export interface Subscription {
  readonly topic: string;
  /** `btc/usd` */
  readonly symbol: string;
}

export const allSubscriptions: readonly Subscription[] = priceTopics.flatMap(({ topic }) =>
  oracleAssets.map((asset) => ({ topic, symbol: `${asset.toLowerCase()}/usd` })),
);

export function subscriptionKey(subscription: Subscription): string {
  return `${subscription.topic} ${subscription.symbol}`;
}

/** A subscribe or unsubscribe frame. `filters` is JSON as a string; the spot topic sends data with several types. */
export function subscriptionFrame(action: 'subscribe' | 'unsubscribe', subscriptions: readonly Subscription[]): string {
  return JSON.stringify({
    action,
    subscriptions: subscriptions.map(({ topic, symbol }) => ({
      topic,
      type: topic === 'crypto_prices_chainlink' ? '*' : 'update',
      filters: JSON.stringify({ symbol }),
    })),
  });
}
