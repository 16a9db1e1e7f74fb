import { conditionId } from '../../../schemas/primitives/ids.js';
import { formatMoney, ratio } from '../../../schemas/primitives/money.js';
import type { Oracle, OracleType } from '../../../schemas/types.gen.js';
import { addresses, type Contract, contractAt } from '../contracts.js';
import type { EventHeader } from './chain-event.js';
import { keccakHex, MalformedError } from './hex.js';
import type { DecodedLog } from './read-log.js';

/** Oracle prices are int256 with 18 decimals. */
const PRICE_DECIMALS = 18;
const formatPrice = (value: bigint): string => formatMoney(value, PRICE_DECIMALS);

/**
 * UMA question ids of neg-risk questions are request ids; only the logs of the operator contain the question. Maps the request ids of one
 * transaction to neg-risk question ids.
 */
export type RequestQuestions = ReadonlyMap<string, string>;

export function requestQuestions(logs: readonly DecodedLog[]): RequestQuestions {
  const questions = new Map<string, string>();
  for (const log of logs) {
    if (log.event === 'operatorQuestionPrepared' || log.event === 'operatorQuestionReported') {
      questions.set(log.args.requestId, log.args.questionId);
    }
  }
  return questions;
}

function conditionOf(adapter: Contract, questionId: string, questions: RequestQuestions): string | null {
  if (adapter.role === 'neg_risk_operator') return conditionId({ oracle: addresses.negRiskAdapter, questionId });
  if (adapter.role !== 'uma_adapter') return null;
  if (!adapter.negRisk) return conditionId({ oracle: adapter.address, questionId });
  const question = questions.get(questionId);
  return question === undefined ? null : conditionId({ oracle: addresses.negRiskAdapter, questionId: question });
}

/** Payout numerators of a two-slot condition as the first outcome's price: [1,0] is "1", [1,1] is "0.5"; null for other shapes. */
function priceOfPayouts(payouts: readonly bigint[]): string | null {
  const [first, second] = payouts;
  if (payouts.length !== 2 || first === undefined || second === undefined) return null;
  const scaled = ratio(first, first + second, PRICE_DECIMALS, 'down');
  return scaled === null ? null : formatPrice(scaled);
}

const emptyOracleFields = {
  creator: null,
  proposer: null,
  disputer: null,
  proposed_price: null,
  expiration_timestamp_ms: null,
  resolved_price: null,
  payouts: null,
} as const;

const nullIfZero = (address: string): string | null => (address === addresses.zero ? null : address);

function milliseconds(seconds: bigint): number {
  const value = Number(seconds * 1000n);
  if (!Number.isSafeInteger(value)) throw new MalformedError('expiration timestamp is out of range');
  return value;
}

const simpleSteps = {
  questionReset: 'reset',
  questionFlagged: 'flag',
  questionUnflagged: 'unflag',
  questionPaused: 'pause',
  questionUnpaused: 'unpause',
} as const satisfies Record<string, OracleType>;

/**
 * Oracle record of a resolution step, or null for other logs (including requests that are not from an adapter). condition_id is null for a
 * neg-risk request whose question is not in the transaction. Throws MalformedError.
 */
export function oracleRow(located: EventHeader, decoded: DecodedLog, questions: RequestQuestions): Oracle | null {
  const row = (type: OracleType, adapter: Contract, questionId: string, rest: Partial<Oracle>): Oracle => ({
    ...located,
    oracle_type: type,
    question_id: questionId,
    adapter_address: adapter.address,
    condition_id: conditionOf(adapter, questionId, questions),
    ...emptyOracleFields,
    ...rest,
  });
  const requested = (type: OracleType, requester: string, ancillaryData: string, rest: Partial<Oracle>) => {
    const adapter = contractAt(requester);
    return adapter?.role === 'uma_adapter' ? row(type, adapter, keccakHex(ancillaryData), rest) : null;
  };
  const { contract } = decoded;

  switch (decoded.event) {
    case 'questionInitialized':
      return row('initialization', contract, decoded.args.questionID, { creator: decoded.args.creator });
    case 'proposePrice': {
      const { args } = decoded;
      return requested('proposal', args.requester, args.ancillaryData, {
        proposer: args.proposer,
        proposed_price: formatPrice(args.proposedPrice),
        expiration_timestamp_ms: milliseconds(args.expirationTimestamp),
      });
    }
    case 'disputePrice': {
      const { args } = decoded;
      return requested('dispute', args.requester, args.ancillaryData, {
        proposer: args.proposer,
        disputer: args.disputer,
        proposed_price: formatPrice(args.proposedPrice),
      });
    }
    case 'settle': {
      const { args } = decoded;
      return requested('settled', args.requester, args.ancillaryData, {
        proposer: nullIfZero(args.proposer),
        disputer: nullIfZero(args.disputer),
        resolved_price: formatPrice(args.price),
      });
    }
    case 'questionResolved':
      return row('resolution', contract, decoded.args.questionID, {
        resolved_price: formatPrice(decoded.args.settledPrice),
        payouts: decoded.args.payouts.map(String),
      });
    case 'questionManuallyResolved':
    case 'questionEmergencyResolved':
      return row('manual_resolution', contract, decoded.args.questionID, {
        resolved_price: priceOfPayouts(decoded.args.payouts),
        payouts: decoded.args.payouts.map(String),
      });
    case 'operatorQuestionEmergencyResolved':
      return row('manual_resolution', contract, decoded.args.questionId, {
        resolved_price: decoded.args.result ? '1' : '0',
        payouts: decoded.args.result ? ['1', '0'] : ['0', '1'],
      });
    case 'questionReset':
    case 'questionFlagged':
    case 'questionUnflagged':
    case 'questionPaused':
    case 'questionUnpaused':
      return row(simpleSteps[decoded.event], contract, decoded.args.questionID, {});
    case 'conditionResolution': {
      const { args } = decoded;
      return {
        ...located,
        oracle_type: 'condition_resolution',
        question_id: args.questionId,
        adapter_address: args.oracle,
        condition_id: args.conditionId,
        ...emptyOracleFields,
        resolved_price: priceOfPayouts(args.payoutNumerators),
        payouts: args.payoutNumerators.map(String),
      };
    }
    default:
      return null;
  }
}
