import type { Address } from '../primitives/address.js';
import { addresses } from '../primitives/venue.js';

/** A contract whose logs ingest reads. */
export interface WatchedContract {
  readonly name: string;
  /** Lower case. */
  readonly address: Address;
  /** Version of an exchange contract; null for other contracts. */
  readonly exchangeVersion: 1 | 2 | 3 | null;
}

const contract = (
  name: string,
  address: Address,
  exchangeVersion: WatchedContract['exchangeVersion'] = null,
): WatchedContract => ({ name, address, exchangeVersion });

/** Every contract whose logs ingest reads; a test of ingest compares this list with the subscribed addresses. */
export const watchedContracts: readonly WatchedContract[] = [
  contract('exchange_v1', addresses.exchangeV1, 1),
  contract('exchange_v1_neg_risk', addresses.exchangeV1NegRisk, 1),
  contract('exchange_v2', addresses.exchangeV2, 2),
  contract('exchange_v2_neg_risk_a', addresses.exchangeV2NegRiskA, 2),
  contract('exchange_v2_neg_risk_b', addresses.exchangeV2NegRiskB, 2),
  contract('exchange_v3', addresses.exchangeV3, 3),
  contract('fee_module', addresses.feeModule),
  contract('fee_module_neg_risk', addresses.feeModuleNegRisk),
  contract('fee_module_old', addresses.feeModuleOld),
  contract('fee_module_old_neg_risk', addresses.feeModuleOldNegRisk),
  contract('conditional_tokens', addresses.conditionalTokens),
  contract('neg_risk_adapter', addresses.negRiskAdapter),
  contract('neg_risk_operator', addresses.negRiskOperator),
  contract('auto_redeemer', addresses.autoRedeemer),
  contract('pusd', addresses.pusd),
  contract('position_manager', addresses.positionManager),
  contract('combo_router', addresses.comboRouter),
  contract('combo_binary_module', addresses.binaryModule),
  contract('combo_neg_risk_module', addresses.comboNegRiskModule),
  contract('combinatorial_module', addresses.combinatorialModule),
  contract('uma_adapter_v4', addresses.umaAdapterV4),
  contract('uma_adapter_v4_neg_risk', addresses.umaAdapterV4NegRisk),
  contract('uma_adapter_v3', addresses.umaAdapterV3),
  contract('uma_adapter_neg_risk_previous', addresses.umaAdapterNegRiskPrevious),
  contract('uma_adapter_v2', addresses.umaAdapterV2),
  contract('managed_optimistic_oracle_v2', addresses.managedOptimisticOracleV2),
  contract('optimistic_oracle_v2', addresses.optimisticOracleV2),
  contract('optimistic_oracle_old', addresses.optimisticOracleOld),
];

/** Kinds of sources, in the order they are listed. */
export const coverageKinds = ['blocks', 'contract', 'oracle', 'catalogue', 'order_book'] as const;
export type CoverageKind = (typeof coverageKinds)[number];

export const coverageStates = ['available', 'degraded', 'pending', 'missing'] as const;
export type CoverageState = (typeof coverageStates)[number];

/** A longer gap between blocks with watched logs makes the day degraded. */
export const MAX_BLOCK_GAP_S = 600;
/** A longer gap between prices of a feed makes the day degraded. At least 60 s, the resolution of `coverage_feeds`. */
export const MAX_TICK_GAP_S = 60;
/** Gap in seconds between records of order books; each book is repeated every four minutes, and their times are known to five. */
export const MAX_BOOK_GAP_S = 600;
