import { addresses } from '../../schemas/primitives/venue.js';
import { type EventName, eventAbi } from './event-abi.js';
import type { Hex } from './source.js';

export { addresses };

export type ContractRole =
  | 'conditional_tokens'
  | 'exchange'
  | 'fee_module'
  | 'neg_risk_adapter'
  | 'neg_risk_operator'
  | 'collateral_adapter'
  | 'auto_redeemer'
  | 'pusd'
  | 'position_manager'
  | 'combo_router'
  | 'combo_module'
  | 'uma_adapter'
  | 'optimistic_oracle';

interface ContractBase {
  /** Short name for logs and tests. */
  readonly name: string;
  /** Lower case. */
  readonly address: Hex;
  /** First block with possible logs; null where unknown. Used for back-fill ranges, never to select a decoder's field layout. */
  readonly fromBlock: number | null;
}

export interface ExchangeContract extends ContractBase {
  readonly role: 'exchange';
  readonly generation: 1 | 2 | 3;
  readonly negRisk: boolean;
  /** EIP-712 domain separator of its orders. */
  readonly domainSeparator: Hex;
}

/** Contract in front of exchange V1; belongs to exactly one exchange. */
export interface FeeModuleContract extends ContractBase {
  readonly role: 'fee_module';
  readonly exchange: Hex;
}

export interface OtherContract extends ContractBase {
  readonly role: Exclude<ContractRole, 'exchange' | 'fee_module'>;
  readonly negRisk: boolean;
}

export type Contract = ExchangeContract | FeeModuleContract | OtherContract;

/** First block of the V2 contracts. */
const V2_FROM_BLOCK = 84_902_320;
/** First block of the FeeModules that charge exact amounts. */
const FEE_MODULE_FROM_BLOCK = 75_253_526;

const exchange = (
  name: string,
  address: Hex,
  generation: 1 | 2 | 3,
  negRisk: boolean,
  domainSeparator: Hex,
): ExchangeContract => ({
  role: 'exchange',
  name,
  address,
  generation,
  negRisk,
  domainSeparator,
  fromBlock: generation === 1 ? null : V2_FROM_BLOCK,
});

const feeModule = (name: string, address: Hex, of: Hex, fromBlock: number | null): FeeModuleContract => ({
  role: 'fee_module',
  name,
  address,
  exchange: of,
  fromBlock,
});

const other = (
  role: OtherContract['role'],
  name: string,
  address: Hex,
  negRisk = false,
  fromBlock: number | null = null,
): OtherContract => ({ role, name, address, negRisk, fromBlock });

/** Polygon mainnet: every contract whose logs or calldata are decoded. */
export const contracts: readonly Contract[] = [
  exchange(
    'exchange_v1',
    addresses.exchangeV1,
    1,
    false,
    '0x1a573e3617c78403b5b4b892827992f027b03d4eaf570048b8ee8cdd84d151be',
  ),
  exchange(
    'exchange_v1_neg_risk',
    addresses.exchangeV1NegRisk,
    1,
    true,
    '0x82cb6aa85babb812f4b521a12b10f0cbc68d2b44be7bc02c047004f544adb49f',
  ),
  exchange(
    'exchange_v2',
    addresses.exchangeV2,
    2,
    false,
    '0x3264e159346253e26a64e00b69032db0e7d32f94628de3e6eecb50304d7af3d2',
  ),
  exchange(
    'exchange_v2_neg_risk_a',
    addresses.exchangeV2NegRiskA,
    2,
    true,
    '0x9b858f53327b0bd13af8ec14cfb35234fb9eb7b0504d1a4e61f433840d30e81a',
  ),
  exchange(
    'exchange_v2_neg_risk_b',
    addresses.exchangeV2NegRiskB,
    2,
    true,
    '0xd2c9d699f56d9660386724759de040e4615a6b1f92c284f49332628c496c6d0a',
  ),
  exchange(
    'exchange_v3',
    addresses.exchangeV3,
    3,
    false,
    '0x466c63910185bbd55e8679264200c4e0abdcbb0c6264eb3d41d13326022e095b',
  ),
  feeModule('fee_module', addresses.feeModule, addresses.exchangeV1, FEE_MODULE_FROM_BLOCK),
  feeModule('fee_module_neg_risk', addresses.feeModuleNegRisk, addresses.exchangeV1NegRisk, FEE_MODULE_FROM_BLOCK),
  feeModule('fee_module_old', addresses.feeModuleOld, addresses.exchangeV1, null),
  feeModule('fee_module_old_neg_risk', addresses.feeModuleOldNegRisk, addresses.exchangeV1NegRisk, null),
  other('conditional_tokens', 'conditional_tokens', addresses.conditionalTokens),
  other('neg_risk_adapter', 'neg_risk_adapter', addresses.negRiskAdapter, true),
  other('neg_risk_operator', 'neg_risk_operator', addresses.negRiskOperator, true),
  other(
    'collateral_adapter',
    'ctf_collateral_adapter_first',
    addresses.ctfCollateralAdapterFirst,
    false,
    V2_FROM_BLOCK,
  ),
  other('collateral_adapter', 'ctf_collateral_adapter', addresses.ctfCollateralAdapter, false, V2_FROM_BLOCK),
  other(
    'collateral_adapter',
    'neg_risk_ctf_collateral_adapter_first',
    addresses.negRiskCtfCollateralAdapterFirst,
    true,
    V2_FROM_BLOCK,
  ),
  other(
    'collateral_adapter',
    'neg_risk_ctf_collateral_adapter',
    addresses.negRiskCtfCollateralAdapter,
    true,
    V2_FROM_BLOCK,
  ),
  other('auto_redeemer', 'auto_redeemer', addresses.autoRedeemer, false, V2_FROM_BLOCK),
  other('pusd', 'pusd', addresses.pusd, false, V2_FROM_BLOCK),
  other('position_manager', 'position_manager', addresses.positionManager, false, V2_FROM_BLOCK),
  other('combo_router', 'combo_router', addresses.comboRouter, false, V2_FROM_BLOCK),
  other('combo_module', 'combo_binary_module', addresses.binaryModule, false, V2_FROM_BLOCK),
  other('combo_module', 'combo_neg_risk_module', addresses.comboNegRiskModule, true, V2_FROM_BLOCK),
  other('combo_module', 'combinatorial_module', addresses.combinatorialModule, false, V2_FROM_BLOCK),
  other('uma_adapter', 'uma_adapter_v4', addresses.umaAdapterV4),
  other('uma_adapter', 'uma_adapter_v4_neg_risk', addresses.umaAdapterV4NegRisk, true),
  other('uma_adapter', 'uma_adapter_v3', addresses.umaAdapterV3),
  other('uma_adapter', 'uma_adapter_neg_risk_previous', addresses.umaAdapterNegRiskPrevious, true),
  other('uma_adapter', 'uma_adapter_v2', addresses.umaAdapterV2),
  other('optimistic_oracle', 'managed_optimistic_oracle_v2', addresses.managedOptimisticOracleV2),
  other('optimistic_oracle', 'optimistic_oracle_v2', addresses.optimisticOracleV2),
  other('optimistic_oracle', 'optimistic_oracle_old', addresses.optimisticOracleOld),
];

const byAddress: ReadonlyMap<string, Contract> = new Map(contracts.map((contract) => [contract.address, contract]));

/** Contract at a lower-case address; undefined for addresses that are not watched. */
export function contractAt(address: string): Contract | undefined {
  return byAddress.get(address);
}

/** Exchange of a settlement transaction: `to` is an exchange or a FeeModule in front of one; null for any other address. */
export function settlementExchange(to: string): ExchangeContract | null {
  const direct = byAddress.get(to);
  const target = direct?.role === 'fee_module' ? byAddress.get(direct.exchange) : direct;
  return target?.role === 'exchange' ? target : null;
}

/**
 * Lifecycle events of the combo protocol. It is not documented which of its contracts emits which event, and no other contract uses their
 * topics.
 */
const comboEventNames = [
  'comboPrepared',
  'comboSplit',
  'comboMerge',
  'comboRedeem',
  'comboSplitOnEvent',
  'comboMergedOnEvent',
  'comboSplitOnCondition',
  'comboMergedOnCondition',
  'comboConvert',
  'comboExtract',
  'comboInject',
  'comboConvertToYesBasket',
  'comboMergeFromYesBasket',
  'comboCompress',
  'comboWrap',
  'comboUnwrap',
  'comboMigrationRegistered',
  'comboEventPrepared',
] as const satisfies readonly EventName[];

/** Events that are decoded per contract role. Other logs are skipped when unread-events.ts lists them, else stored as unknown logs. */
const eventsOfRole = {
  conditional_tokens: [
    'conditionPreparation',
    'conditionResolution',
    'positionSplit',
    'positionsMerge',
    'payoutRedemption',
    'transferSingle',
    'transferBatch',
  ],
  exchange: ['orderFilledV1', 'orderFilledV2', 'ordersMatchedV1', 'ordersMatchedV2'],
  fee_module: ['feeRefunded'],
  neg_risk_adapter: [
    'negRiskPositionSplit',
    'negRiskPositionsMerge',
    'negRiskPayoutRedemption',
    'positionsConverted',
    'negRiskMarketPrepared',
  ],
  neg_risk_operator: [
    'operatorQuestionPrepared',
    'operatorQuestionReported',
    'operatorQuestionEmergencyResolved',
    'questionFlagged',
    'questionUnflagged',
  ],
  collateral_adapter: [],
  auto_redeemer: ['binaryRedemption', 'negRiskRedemption', 'comboRedemption'],
  pusd: ['wrapped', 'unwrapped', 'erc20Approval'],
  position_manager: [...comboEventNames, 'transferSingle', 'transferBatch', 'approvalForAll'],
  combo_router: comboEventNames,
  combo_module: [...comboEventNames, 'comboConditionResolved'],
  uma_adapter: [
    'questionInitialized',
    'questionResolved',
    'questionReset',
    'questionFlagged',
    'questionUnflagged',
    'questionPaused',
    'questionUnpaused',
    'questionManuallyResolved',
    'questionEmergencyResolved',
  ],
  optimistic_oracle: ['proposePrice', 'disputePrice', 'settle'],
} as const satisfies Record<ContractRole, readonly EventName[]>;

const decodedRoles = new Set<ContractRole>(
  Object.entries(eventsOfRole).flatMap(([role, events]) => (events.length > 0 ? [role as ContractRole] : [])),
);

/** Whether any event of the contract is decoded. */
export const isWatched = (contract: Contract): boolean => decodedRoles.has(contract.role);

/** Events that are decoded for a contract; of an exchange, the events of its generation. */
export function eventsOf(contract: Contract): readonly EventName[] {
  if (contract.role !== 'exchange') return eventsOfRole[contract.role];
  return contract.generation === 1 ? ['orderFilledV1', 'ordersMatchedV1'] : ['orderFilledV2', 'ordersMatchedV2'];
}

/** `address` of eth_getLogs and log subscriptions. */
export const watchedAddresses: readonly Hex[] = contracts.filter(isWatched).map((contract) => contract.address);

/** First `topics` entry (any of) of log subscriptions. */
export const watchedTopics: readonly Hex[] = [
  ...new Set(Object.values(eventsOfRole).flatMap((events) => events.map((name) => eventAbi[name].topic0))),
];

/** `to` of every transaction that can be a settlement. */
export const settlementTargets: readonly Hex[] = contracts
  .filter((contract) => contract.role === 'exchange' || contract.role === 'fee_module')
  .map((contract) => contract.address);
