import type { AccountCommands } from '../../../infra/accounts/commands.js';
import type { LedgerView } from '../../../infra/accounts/ledger-view.js';
import type { AccountsReadModel } from '../../../infra/accounts/read-model.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import type { Decide } from '../../accounts/decide.js';
import type { PaymentProvider } from '../../billing/port.js';
import type { Route } from '../../http/route.js';
import { createCheckoutRoutes } from './checkout.js';
import { createLedgerRoute } from './ledger.js';
import { createPackageRoutes } from './packages.js';
import { createStripeWebhookRoute } from './webhook.js';

/** Packages: what an account has, buying, receipts, ledger, and the events of the payment provider. */
export function createBillingRoutes(deps: {
  /** null: packages are not sold here. */
  provider: PaymentProvider | null;
  decide: Decide;
  send: AccountCommands['send'];
  accounts: Pick<AccountsReadModel, 'account' | 'capacity' | 'waitForOutcome'>;
  ledger: LedgerView;
  logger: Logger;
  metrics: Metrics;
}): readonly Route[] {
  const { provider } = deps;
  const { account, capacity, waitForOutcome } = deps.accounts;
  return [
    ...createPackageRoutes({ ...deps, capacity }),
    ...createCheckoutRoutes({ ...deps, capacity }),
    createLedgerRoute(deps),
    ...(provider?.name === 'stripe' && provider.parseWebhook !== null
      ? [createStripeWebhookRoute({ ...deps, parse: provider.parseWebhook, account, waitForOutcome })]
      : []),
  ];
}
