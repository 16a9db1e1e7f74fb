import { type Contract, type ContractRole, contractAt, eventsOf, isWatched } from './contracts.js';
import { type EventAbi, eventAbi } from './event-abi.js';

/**
 * Known events of watched contracts that are not decoded: they move no shares, or repeat the content of other events. A log of a watched
 * contract that is neither in this table nor decoded is unknown. `Upgraded` and similar events are omitted on purpose: they mean that the
 * venue changed a contract. A test recomputes every topic0.
 */
export const unreadEventAbi = {
  uri: {
    signature: 'event URI(string value, uint256 indexed id)',
    topic0: '0x6bb7ff708619ba0610cba295a58592e0451dee2622938c8755667688daf3529b',
  },
  feeChargedV1: {
    signature: 'event FeeCharged(address indexed receiver, uint256 tokenId, uint256 amount)',
    topic0: '0xacffcc86834d0f1a64b0d5a675798deed6ff0bcfc2231edd3480e7288dba7ff4',
  },
  feeChargedV2: {
    signature: 'event FeeCharged(address indexed receiver, uint256 amount)',
    topic0: '0x55bb3cade9d43b798a4fe5ffdd05024b2d7870df53920673bfc7e68047cd0ab1',
  },
  orderCancelled: {
    signature: 'event OrderCancelled(bytes32 indexed orderHash)',
    topic0: '0x5152abf959f6564662358c2e52b702259b78bac5ee7842a0f01937e670efcc7d',
  },
  tokenRegistered: {
    signature: 'event TokenRegistered(uint256 indexed token0, uint256 indexed token1, bytes32 indexed conditionId)',
    topic0: '0xbc9a2432e8aeb48327246cddd6e872ef452812b4243c04e6bfb786a2cd8faf0d',
  },
  tradingPaused: {
    signature: 'event TradingPaused(address indexed pauser)',
    topic0: '0x203c4bd3e526634f661575359ff30de3b0edaba6c2cb1eac60f730b6d2d9d536',
  },
  tradingUnpaused: {
    signature: 'event TradingUnpaused(address indexed pauser)',
    topic0: '0xa1e8a54850dbd7f520bcc09f47bff152294b77b2081da545a7adf531b7ea283b',
  },
  userPaused: {
    signature: 'event UserPaused(address indexed user, uint256 effectivePauseBlock)',
    topic0: '0xa3e76126f19eb25001b29726d2a9502b6377938633d2d6a955107dd442e7a14a',
  },
  userUnpaused: {
    signature: 'event UserUnpaused(address indexed user)',
    topic0: '0x1419d4111b5c8636aecff843bf618525f4f8e1aa6898a14357021d68dde8af12',
  },
  newAdmin: {
    signature: 'event NewAdmin(address indexed newAdminAddress, address indexed admin)',
    topic0: '0xf9ffabca9c8276e99321725bcb43fb076a6c66a54b7f21c4e8146d8519b417dc',
  },
  removedAdmin: {
    signature: 'event RemovedAdmin(address indexed removedAdmin, address indexed admin)',
    topic0: '0x787a2e12f4a55b658b8f573c32432ee11a5e8b51677d1e1e937aaf6a0bb5776e',
  },
  newOperator: {
    signature: 'event NewOperator(address indexed newOperatorAddress, address indexed admin)',
    topic0: '0xf1e04d73c4304b5ff164f9d10c7473e2a1593b740674a6107975e2a7001c1e5c',
  },
  removedOperator: {
    signature: 'event RemovedOperator(address indexed removedOperator, address indexed admin)',
    topic0: '0xf7262ed0443cc211121ceb1a80d69004f319245615a7488f951f1437fd91642c',
  },
  feeWithdrawn: {
    signature: 'event FeeWithdrawn(address token, address to, uint256 id, uint256 amount)',
    topic0: '0x6ce49f8691a80db5eb4f60cd55b14640529346a7ddf9bf8f77a423fa6a10bfdb',
  },
  adapterQuestionPrepared: {
    signature:
      'event QuestionPrepared(bytes32 indexed marketId, bytes32 indexed questionId, uint256 index, bytes data)',
    topic0: '0xaac410f87d423a922a7b226ac68f0c2eaf5bf6d15e644ac0758c7f96e2c253f7',
  },
  adapterOutcomeReported: {
    signature: 'event OutcomeReported(bytes32 indexed marketId, bytes32 indexed questionId, bool outcome)',
    topic0: '0x9e9fa7fd355160bd4cd3f22d4333519354beff1f5689bde87f2c5e63d8d484b2',
  },
  operatorMarketPrepared: {
    signature: 'event MarketPrepared(bytes32 indexed marketId, uint256 feeBips, bytes data)',
    topic0: '0x8138c0666fe0f752ff38486f542284f127aef02642c9c8db716ee1088839eeb0',
  },
  operatorQuestionResolved: {
    signature: 'event QuestionResolved(bytes32 indexed questionId, bool result)',
    topic0: '0x5c3937ed929cd157b73b417381d743daf6e1ef65999e3ccb5dd64bc3247e28d6',
  },
  requestPrice: {
    signature:
      'event RequestPrice(address indexed requester, bytes32 identifier, uint256 timestamp, bytes ancillaryData, address currency, uint256 reward, uint256 finalFee)',
    topic0: '0xf1679315ff325c257a944e0ca1bfe7b26616039e9511f9610d4ba3eca851027b',
  },
} as const satisfies Record<string, EventAbi>;

type UnreadName = keyof typeof unreadEventAbi;

const administration = ['newAdmin', 'removedAdmin'] as const satisfies readonly UnreadName[];
const ofExchange = [
  ...administration,
  'newOperator',
  'removedOperator',
  'tradingPaused',
  'tradingUnpaused',
  'orderCancelled',
] as const satisfies readonly UnreadName[];

function unreadOf(contract: Contract): readonly UnreadName[] {
  if (contract.role !== 'exchange') return unreadOfRole[contract.role];
  return contract.generation === 1
    ? [...ofExchange, 'feeChargedV1', 'tokenRegistered']
    : [...ofExchange, 'feeChargedV2', 'userPaused', 'userUnpaused'];
}

const unreadOfRole: Readonly<Record<Exclude<ContractRole, 'exchange'>, readonly UnreadName[]>> = {
  conditional_tokens: ['uri'],
  fee_module: [...administration, 'feeWithdrawn'],
  neg_risk_adapter: [...administration, 'adapterQuestionPrepared', 'adapterOutcomeReported'],
  neg_risk_operator: [...administration, 'operatorMarketPrepared', 'operatorQuestionResolved'],
  collateral_adapter: [],
  auto_redeemer: [],
  pusd: [],
  position_manager: ['uri'],
  combo_router: [],
  combo_module: [],
  uma_adapter: administration,
  optimistic_oracle: ['requestPrice'],
};

/** Events that are decoded for other contracts but not for these. */
const unreadElsewhere: Readonly<Partial<Record<ContractRole, readonly string[]>>> = {
  conditional_tokens: [eventAbi.approvalForAll.topic0],
  pusd: [eventAbi.erc20Transfer.topic0],
};

const known = new Map<string, ReadonlySet<string>>();
function knownTopics(contract: Contract): ReadonlySet<string> {
  let found = known.get(contract.address);
  if (found === undefined) {
    found = new Set([
      ...unreadOf(contract).map((name) => unreadEventAbi[name].topic0 as string),
      ...(unreadElsewhere[contract.role] ?? []),
    ]);
    known.set(contract.address, found);
  }
  return found;
}

interface LogOrigin {
  readonly address: string;
  readonly topics: readonly string[];
}

/** Whether a log of a watched contract is known and not decoded. */
export function isUnread({ address, topics }: LogOrigin): boolean {
  const contract = contractAt(address);
  const [topic0] = topics;
  return contract !== undefined && topic0 !== undefined && knownTopics(contract).has(topic0);
}

/** Whether a log of a watched contract has an unknown event; an anonymous event is unknown too. */
export function isUnknown(log: LogOrigin): boolean {
  const contract = contractAt(log.address);
  if (contract === undefined || !isWatched(contract) || !Array.isArray(log.topics) || isUnread(log)) return false;
  const [topic0] = log.topics;
  return topic0 === undefined || !eventsOf(contract).some((name) => eventAbi[name].topic0 === topic0);
}
