import { addresses, type Contract } from '../contracts.js';
import type { DecodedName } from './log-decoders.js';
import type { Transfer } from './transfers.js';

/**
 * Actions of a transaction, derived from the routes of its logs: a fill, split or redemption whose own log is malformed still explains the
 * transfers around it.
 */
export interface TransactionActions {
  readonly exchanges: Set<string>;
  splits: boolean;
  merges: boolean;
  redemptions: boolean;
  conversions: boolean;
}

export const createTransactionActions = (): TransactionActions => ({
  exchanges: new Set(),
  splits: false,
  merges: false,
  redemptions: false,
  conversions: false,
});

export function addAction(touched: TransactionActions, contract: Contract, event: DecodedName): void {
  switch (event) {
    case 'orderFilledV1':
    case 'orderFilledV2':
      touched.exchanges.add(contract.address);
      break;
    case 'positionSplit':
    case 'negRiskPositionSplit':
      touched.splits = true;
      break;
    case 'positionsMerge':
    case 'negRiskPositionsMerge':
      touched.merges = true;
      break;
    case 'payoutRedemption':
    case 'negRiskPayoutRedemption':
    case 'binaryRedemption':
    case 'negRiskRedemption':
    case 'comboRedemption':
      touched.redemptions = true;
      break;
    case 'positionsConverted':
      touched.conversions = true;
      break;
    default:
      break;
  }
}

/** Contracts that forward tokens between a user and ConditionalTokens. */
const intermediaries: ReadonlySet<string> = new Set([
  addresses.negRiskAdapter,
  addresses.ctfCollateralAdapterFirst,
  addresses.ctfCollateralAdapter,
  addresses.negRiskCtfCollateralAdapterFirst,
  addresses.negRiskCtfCollateralAdapter,
  addresses.autoRedeemer,
  addresses.noTokenBurn,
  addresses.negRiskVault,
]);

const feeModules: ReadonlySet<string> = new Set([
  addresses.feeModule,
  addresses.feeModuleNegRisk,
  addresses.feeModuleOld,
  addresses.feeModuleOldNegRisk,
]);

/**
 * Whether a fill, split, merge, redemption or conversion of the transaction explains a transfer: a transfer at or by an exchange that
 * filled (or the FeeModule in front of it), a mint with a split or conversion, a burn with a merge or redemption, or a transfer at an
 * intermediary with any of them. They never explain a transfer between two users.
 */
export function explainsTransfer(touched: TransactionActions, transfer: Transfer): boolean {
  const { operator, from, to } = transfer;
  const { exchanges } = touched;
  if (exchanges.size > 0) {
    if (exchanges.has(operator) || exchanges.has(from) || exchanges.has(to)) return true;
    if (feeModules.has(operator) || feeModules.has(from) || feeModules.has(to)) return true;
  }
  if (from === addresses.zero) return touched.splits || touched.conversions;
  if (to === addresses.zero) return touched.merges || touched.redemptions;
  if (!intermediaries.has(from) && !intermediaries.has(to)) return false;
  return touched.splits || touched.merges || touched.redemptions || touched.conversions;
}
