/**
 * Signatures and topic0s of all decoded events; no other file contains them. Signatures are human-readable ABI (input of viem's `parseAbi`); a test
 * recomputes every topic0 from them.
 */

import type { Hex } from './source.js';

export interface EventAbi {
  readonly signature: `event ${string}`;
  readonly topic0: Hex;
}

export const eventAbi = {
  /** Exchange V1. BUY: makerAssetId is 0 (collateral). */
  orderFilledV1: {
    signature:
      'event OrderFilled(bytes32 indexed orderHash, address indexed maker, address indexed taker, uint256 makerAssetId, uint256 takerAssetId, uint256 makerAmountFilled, uint256 takerAmountFilled, uint256 fee)',
    topic0: '0xd0a08e8c493f9c94f29311604c9de1b4e8c8d4c06bd0c789af57f2d65bfec0f6',
  },
  /** Exchange V2 and V3 share this event: only the emitting address distinguishes them. */
  orderFilledV2: {
    signature:
      'event OrderFilled(bytes32 indexed orderHash, address indexed maker, address indexed taker, uint8 side, uint256 tokenId, uint256 makerAmountFilled, uint256 takerAmountFilled, uint256 fee, bytes32 builder, bytes32 metadata)',
    topic0: '0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee',
  },
  ordersMatchedV1: {
    signature:
      'event OrdersMatched(bytes32 indexed takerOrderHash, address indexed takerOrderMaker, uint256 makerAssetId, uint256 takerAssetId, uint256 makerAmountFilled, uint256 takerAmountFilled)',
    topic0: '0x63bf4d16b7fa898ef4c4b2b6d90fd201e9c56313b65638af6088d149d2ce956c',
  },
  ordersMatchedV2: {
    signature:
      'event OrdersMatched(bytes32 indexed takerOrderHash, address indexed takerOrderMaker, uint8 side, uint256 tokenId, uint256 makerAmountFilled, uint256 takerAmountFilled)',
    topic0: '0x174b3811690657c217184f89418266767c87e4805d09680c39fc9c031c0cab7c',
  },
  /** FeeModule in front of V1. `id` is the token for BUY, 0 for SELL. */
  feeRefunded: {
    signature:
      'event FeeRefunded(bytes32 indexed orderHash, address indexed to, uint256 id, uint256 refund, uint256 indexed feeCharged)',
    topic0: '0xb608d2bf25d8b4b744ba23ce2ea9802ea955e216c064a62f42152fbf98958d24',
  },

  /** ConditionalTokens. */
  conditionPreparation: {
    signature:
      'event ConditionPreparation(bytes32 indexed conditionId, address indexed oracle, bytes32 indexed questionId, uint256 outcomeSlotCount)',
    topic0: '0xab3760c3bd2bb38b5bcf54dc79802ed67338b4cf29f3054ded67ed24661e4177',
  },
  conditionResolution: {
    signature:
      'event ConditionResolution(bytes32 indexed conditionId, address indexed oracle, bytes32 indexed questionId, uint256 outcomeSlotCount, uint256[] payoutNumerators)',
    topic0: '0xb44d84d3289691f71497564b85d4233648d9dbae8cbdbb4329f301c3a0185894',
  },
  positionSplit: {
    signature:
      'event PositionSplit(address indexed stakeholder, address collateralToken, bytes32 indexed parentCollectionId, bytes32 indexed conditionId, uint256[] partition, uint256 amount)',
    topic0: '0x2e6bb91f8cbcda0c93623c54d0403a43514fabc40084ec96b6d5379a74786298',
  },
  positionsMerge: {
    signature:
      'event PositionsMerge(address indexed stakeholder, address collateralToken, bytes32 indexed parentCollectionId, bytes32 indexed conditionId, uint256[] partition, uint256 amount)',
    topic0: '0x6f13ca62553fcc2bcd2372180a43949c1e4cebba603901ede2f4e14f36b282ca',
  },
  payoutRedemption: {
    signature:
      'event PayoutRedemption(address indexed redeemer, address indexed collateralToken, bytes32 indexed parentCollectionId, bytes32 conditionId, uint256[] indexSets, uint256 payout)',
    topic0: '0x2682012a4a4f1973119f1c9b90745d1bd91fa2bab387344f044cb3586864d18d',
  },
  transferSingle: {
    signature:
      'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
    topic0: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  },
  transferBatch: {
    signature:
      'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
    topic0: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
  },

  /** NegRiskAdapter. Has no collateral field: the collateral is the wrapped collateral. */
  negRiskPositionSplit: {
    signature: 'event PositionSplit(address indexed stakeholder, bytes32 indexed conditionId, uint256 amount)',
    topic0: '0xbbed930dbfb7907ae2d60ddf78345610214f26419a0128df39b6cc3d9e5df9b0',
  },
  negRiskPositionsMerge: {
    signature: 'event PositionsMerge(address indexed stakeholder, bytes32 indexed conditionId, uint256 amount)',
    topic0: '0xba33ac50d8894676597e6e35dc09cff59854708b642cd069d21eb9c7ca072a04',
  },
  negRiskPayoutRedemption: {
    signature:
      'event PayoutRedemption(address indexed redeemer, bytes32 indexed conditionId, uint256[] amounts, uint256 payout)',
    topic0: '0x9140a6a270ef945260c03894b3c6b3b2695e9d5101feef0ff24fec960cfd3224',
  },
  positionsConverted: {
    signature:
      'event PositionsConverted(address indexed stakeholder, bytes32 indexed marketId, uint256 indexed indexSet, uint256 amount)',
    topic0: '0xb03d19dddbc72a87e735ff0ea3b57bef133ebe44e1894284916a84044deb367e',
  },
  negRiskMarketPrepared: {
    signature: 'event MarketPrepared(bytes32 indexed marketId, address indexed oracle, uint256 feeBips, bytes data)',
    topic0: '0xf059ab16d1ca60e123eab60e3c02b68faf060347c701a5d14885a8e1def7b3a8',
  },

  /** AutoRedeemer. */
  binaryRedemption: {
    signature: 'event BinaryRedemption(address indexed from, bytes32 indexed conditionId, uint256 payout)',
    topic0: '0xb434294b5904213c83a167af0068ab82637c6fd4fac945e2abc74ed8d3f4d52a',
  },
  negRiskRedemption: {
    signature: 'event NegRiskRedemption(address indexed from, bytes32 indexed conditionId, uint256 payout)',
    topic0: '0x74a51ebefec30281ec6849b727ec7916f9b1a3e5e148d6771d98315215b38b96',
  },
  comboRedemption: {
    signature: 'event Redemption(address indexed from, uint256 indexed positionId, uint256 payout)',
    topic0: '0xeebddeddf4ae1ee54a48517af27958e7666d69c7ba2e3e7c2b0ff87ef5f4491e',
  },

  /** pUSD. */
  wrapped: {
    signature: 'event Wrapped(address indexed caller, address indexed asset, address indexed to, uint256 amount)',
    topic0: '0xc00a5c84859ae82a7f5e6a2773283fb525335d5b3195f61174aa1ecc7e15dd84',
  },
  unwrapped: {
    signature: 'event Unwrapped(address indexed caller, address indexed asset, address indexed to, uint256 amount)',
    topic0: '0x18b42b684d0b621cc609f4d888916e5ed9e934a476259ec1c11ec116f2b9aa7f',
  },
  /** ERC-20 of USDC.e and pUSD. */
  erc20Transfer: {
    signature: 'event Transfer(address indexed from, address indexed to, uint256 value)',
    topic0: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  },

  /** Combo protocol: modules, PositionManager and Router. Ids are bytes31 (conditions) and bytes29 (events), left-aligned in their words. */
  comboPrepared: {
    signature: 'event CombinatorialConditionPrepared(bytes31 indexed conditionId, uint256[] legs)',
    topic0: '0x51c89d7ee51515f7235e928930da7f81be08212bc14870a6a37c64744492db96',
  },
  comboSplit: {
    signature:
      'event PositionsSplit(address indexed initiator, bytes31 indexed conditionId, address indexed recipient, address recipient1, uint256 amount)',
    topic0: '0xb6a6b8b17a43b07b9359dd12d304e42077eede9e672f8646144842c8604582a4',
  },
  comboMerge: {
    signature:
      'event PositionsMerged(address indexed initiator, bytes31 indexed conditionId, address indexed recipient, uint256 amount)',
    topic0: '0xf233f7be4ce81130a78e8eb2fa626497586c56094d27bfec2e196471e9c60301',
  },
  comboRedeem: {
    signature:
      'event PositionRedeemed(address indexed initiator, uint256 indexed positionId, address indexed recipient, uint256 amount, uint256 payout)',
    topic0: '0x4fd474b703f46b453536518b4cbc159dfbea6fd663233763d321a9bc8ccdf97f',
  },
  comboSplitOnEvent: {
    signature:
      'event SplitOnEvent(address indexed initiator, bytes31 indexed conditionId, bytes29 indexed eventId, address[] recipients, uint256 amount)',
    topic0: '0x24ddc4002a06123a2abb28bb44889b496299eac2a85e9ccf87514396dda1d063',
  },
  comboMergedOnEvent: {
    signature:
      'event MergedOnEvent(address indexed initiator, bytes31 indexed conditionId, bytes29 indexed eventId, address recipient, uint256 amount)',
    topic0: '0xb219258fc090ae084a29f0659e7e2947568de5694939da14181645a55f03f870',
  },
  comboSplitOnCondition: {
    signature:
      'event SplitOnCondition(address indexed initiator, bytes31 indexed conditionId, bytes31 conditionId1, bytes31 conditionId2, address recipient, address recipient1, uint256 amount)',
    topic0: '0x1a07698f7dd85df4924787e65bad71fa08c54c04700b09c8c648c6e797540202',
  },
  comboMergedOnCondition: {
    signature:
      'event MergedOnCondition(address indexed initiator, bytes31 indexed conditionId, bytes31 conditionId1, bytes31 conditionId2, address recipient, uint256 amount)',
    topic0: '0x532e91b101b4cdffc29d79b6ca1f3ae8690d4846c75145039161f4a22c55019a',
  },
  comboConvert: {
    signature:
      'event ConvertedOnEvent(address indexed initiator, bytes31 indexed conditionId, bytes29 indexed eventId, uint256 index, address[] recipients, uint256 amount)',
    topic0: '0x93d226ffc1c7cc4176213b47c5966043f735f6d3c3e5c092fd619ff1fe5d3bd3',
  },
  comboExtract: {
    signature:
      'event Extracted(address indexed initiator, bytes31 indexed conditionId, bytes31 conditionId1, bytes31 conditionId2, address recipient, address recipient1, uint256 amount)',
    topic0: '0x6c14fdbd417e901138c803349c26df1115726b468ebc6142d39f7b9aef7f17fe',
  },
  comboInject: {
    signature:
      'event Injected(address indexed initiator, bytes31 indexed conditionId, bytes31 conditionId1, bytes31 conditionId2, address recipient, uint256 amount)',
    topic0: '0xbb32ee0762f37f8b1ace698804f2f31be362ada55b233e359de04fefd164819f',
  },
  comboConvertToYesBasket: {
    signature:
      'event ConvertedToYesBasket(address indexed initiator, bytes31 indexed conditionId, address[] recipients, uint256 amount)',
    topic0: '0x348359e703372b7a9511e430c7e4db280578fb31a773e6c075ef7328cec34da6',
  },
  comboMergeFromYesBasket: {
    signature:
      'event MergedFromYesBasket(address indexed initiator, bytes31 indexed conditionId, address recipient, uint256 amount)',
    topic0: '0x09e4439e8186f011e12eb04a93f9d5477f79e7479375c8108d5e38e234a84ff6',
  },
  comboCompress: {
    signature:
      'event Compressed(address indexed initiator, uint256 indexed fromId, uint256 indexed toId, address recipient, uint256 amount, uint256 positionAmount, uint256 collateralOut)',
    topic0: '0x43f975db4a407bc85816b44922ab015dc6b990ead8d39099398c03a258e70bce',
  },
  comboWrap: {
    signature:
      'event Wrapped(address indexed initiator, uint256 fromId, uint256 toId, address recipient, uint256 amount)',
    topic0: '0xee943741871b99130d74367c491afe27aa9324108e10ae51d0a8f9e8cd9f9eff',
  },
  comboUnwrap: {
    signature:
      'event Unwrapped(address indexed initiator, uint256 fromId, uint256 toId, address recipient, uint256 amount)',
    topic0: '0x49c5e71a70e54b164c70c3345b2f3ca11fbad1c05a76146be4c4e849f992658b',
  },
  /** Of the modules: payout numerators of YES and NO. */
  comboConditionResolved: {
    signature: 'event ConditionResolved(bytes31 indexed conditionId, uint256[] result)',
    topic0: '0xe560c1a2847d4cf2e66de11fe592605556989449f38cc3ab96e2e287daa68caa',
  },
  /** No recorded log confirms which arguments are indexed, so the decoder accepts arguments from topics or data. */
  comboMigrationRegistered: {
    signature: 'event MigrationConditionRegistered(bytes31 conditionId, bytes32 legacyConditionId)',
    topic0: '0x0da49435dfd3b856758ee0b1a2500f1e8062fed24dd654594af9fa163cc5bcb4',
  },
  comboEventPrepared: {
    signature: 'event EventPrepared(bytes29 indexed eventId, uint256 count, bytes32 legacyEventId)',
    topic0: '0x9bdf886b29ff2e03765aa003845c79f3700b39f9628db119aeeaac5d0fd73306',
  },
  /** ERC-1155. */
  approvalForAll: {
    signature: 'event ApprovalForAll(address indexed account, address indexed operator, bool approved)',
    topic0: '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31',
  },
  /** ERC-20. */
  erc20Approval: {
    signature: 'event Approval(address indexed owner, address indexed spender, uint256 value)',
    topic0: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
  },

  /** UMA adapters. */
  questionInitialized: {
    signature:
      'event QuestionInitialized(bytes32 indexed questionID, uint256 indexed requestTimestamp, address indexed creator, bytes ancillaryData, address rewardToken, uint256 reward, uint256 proposalBond)',
    topic0: '0xeee0897acd6893adcaf2ba5158191b3601098ab6bece35c5d57874340b64c5b7',
  },
  questionResolved: {
    signature: 'event QuestionResolved(bytes32 indexed questionID, int256 indexed settledPrice, uint256[] payouts)',
    topic0: '0x566c3fbdd12dd86bb341787f6d531f79fd7ad4ce7e3ae2d15ac0ca1b601af9df',
  },
  questionReset: {
    signature: 'event QuestionReset(bytes32 indexed questionID)',
    topic0: '0x7981b5832932948db4e32a4a16a0f44b2ce7ff088574afb9364b313f70f82e8f',
  },
  /** Shared by the adapters and the NegRiskOperator. */
  questionFlagged: {
    signature: 'event QuestionFlagged(bytes32 indexed questionID)',
    topic0: '0x2435a0347185933b12027c6f394a5fd9c03646dba233e956f50658719dfc0b35',
  },
  /** Shared by the adapters and the NegRiskOperator. */
  questionUnflagged: {
    signature: 'event QuestionUnflagged(bytes32 indexed questionID)',
    topic0: '0x052435bc04fc49113a7bfd9198a92c0852ca622a621800f6da66d4b29b786c05',
  },
  questionPaused: {
    signature: 'event QuestionPaused(bytes32 indexed questionID)',
    topic0: '0x6ded7250a9d5f79aef5add44600fc20a74a0af6f4730baa4fc4ab87bf484b812',
  },
  questionUnpaused: {
    signature: 'event QuestionUnpaused(bytes32 indexed questionID)',
    topic0: '0x92d28918c5574e7fc0f4f948c39502682c81cfb4089b07b83f95b3264e5e5e06',
  },
  /** Adapters from V3 on. */
  questionManuallyResolved: {
    signature: 'event QuestionManuallyResolved(bytes32 indexed questionID, uint256[] payouts)',
    topic0: '0x5909815fe7fe0a550d5fcb95fbf33821b580521d3c97089c6ce12808d1cd0566',
  },
  /** Adapter V2. */
  questionEmergencyResolved: {
    signature: 'event QuestionEmergencyResolved(bytes32 indexed questionID, uint256[] payouts)',
    topic0: '0x6edb5841a476c9c29c34a652d1a44f785fe71a6157a3da9a6a6a589a1bd2945a',
  },

  /**
   * NegRiskOperator. No recorded log confirms which arguments are indexed, so its decoders accept leading arguments from topics or data.
   */
  operatorQuestionPrepared: {
    signature:
      'event QuestionPrepared(bytes32 indexed marketId, bytes32 indexed questionId, bytes32 indexed requestId, uint256 index, bytes data)',
    topic0: '0xcdc45423ec79c60a3fe3de57272e598d71a4ec88822e822ac8e134184a8435aa',
  },
  operatorQuestionReported: {
    signature: 'event QuestionReported(bytes32 indexed questionId, bytes32 requestId, bool result)',
    topic0: '0x504306b41b2531b3fd2bc5e1b32dc1fc87501906cfc63c1180e3873af20f0eae',
  },
  operatorQuestionEmergencyResolved: {
    signature: 'event QuestionEmergencyResolved(bytes32 indexed questionId, bool result)',
    topic0: '0xd1aea2ca9d3458614d11a93a203dd9fabbd3576aeb841422c46e235637333cb9',
  },

  /** UMA optimistic oracles. */
  proposePrice: {
    signature:
      'event ProposePrice(address indexed requester, address indexed proposer, bytes32 identifier, uint256 timestamp, bytes ancillaryData, int256 proposedPrice, uint256 expirationTimestamp, address currency)',
    topic0: '0x6e51dd00371aabffa82cd401592f76ed51e98a9ea4b58751c70463a2c78b5ca1',
  },
  disputePrice: {
    signature:
      'event DisputePrice(address indexed requester, address indexed proposer, address indexed disputer, bytes32 identifier, uint256 timestamp, bytes ancillaryData, int256 proposedPrice)',
    topic0: '0x5165909c3d1c01c5d1e121ac6f6d01dda1ba24bc9e1f975b5a375339c15be7f3',
  },
  settle: {
    signature:
      'event Settle(address indexed requester, address indexed proposer, address indexed disputer, bytes32 identifier, uint256 timestamp, bytes ancillaryData, int256 price, uint256 payout)',
    topic0: '0x3f384afb4bd9f0aef0298c80399950011420eb33b0e1a750b20966270247b9a0',
  },
} as const satisfies Record<string, EventAbi>;

export type EventName = keyof typeof eventAbi;
