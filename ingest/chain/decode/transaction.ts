import { positionConditionId, positionOutcomeIndex } from '../../../schemas/primitives/ids.js';
import { addresses, contractAt } from '../contracts.js';
import type { RpcLog, SourceBlock } from '../source.js';
import {
  conversionTerms,
  conversionUser,
  isCollateralAdapter,
  isExchange,
  mergeUser,
  redemptionAction,
  redemptionUser,
  type SetAction,
  setAction,
  splitUser,
  type Wrap,
} from './actors.js';
import type { BlockIds } from './block-ids.js';
import { type ChainEvent, eventHeader } from './chain-event.js';
import { comboLogDecoders } from './combo-log-decoders.js';
import { decodeComboLog, decodeComboTransfer, isComboTransfer } from './combos.js';
import { assignRefunds, fillV1, fillV2 } from './fills.js';
import { MalformedError } from './hex.js';
import { oracleRow, requestQuestions } from './oracle.js';
import type { DecodedLog, DecodedLogOf } from './read-log.js';
import { explainsTransfer, type TransactionActions } from './transaction-actions.js';
import { createTransactionTransfers, type Transfer, toTransfer } from './transfers.js';

export interface Problem {
  readonly log: RpcLog;
  readonly reason: string;
}

const selectLogs = <N extends DecodedLog['event']>(logs: readonly DecodedLog[], ...events: N[]): DecodedLogOf<N>[] =>
  logs.filter((log): log is DecodedLogOf<N> => (events as string[]).includes(log.event));

/** Transfers of outcome tokens, ascending if the logs are. */
export const transfersOf = (logs: readonly DecodedLog[]): Transfer[] =>
  selectLogs(logs, 'transferSingle', 'transferBatch')
    .filter((log) => !isComboTransfer(log))
    .map(toTransfer);

const INT32_MAX = 2n ** 31n - 1n;

function smallIndexSets(indexSets: readonly bigint[]): number[] {
  if (indexSets.some((set) => set > INT32_MAX)) throw new MalformedError('index set is out of range');
  return indexSets.map(Number);
}

/**
 * Events of one transaction from its logs (ascending), each attributed to its real user: the adapter's duplicate on ConditionalTokens, the
 * exchange's own splits and merges in a match, the collateral adapters and the AutoRedeemer are resolved. A log that cannot be decoded is
 * reported and does not affect the others.
 */
export function decodeTransaction(
  block: SourceBlock,
  txHash: string,
  logs: readonly DecodedLog[],
  touched: TransactionActions,
  ids: BlockIds,
  report: (problem: Problem) => void,
): ChainEvent[] {
  const facts: ChainEvent[] = [];
  const transfers = transfersOf(logs);
  const legs = createTransactionTransfers(transfers);
  const wraps: Wrap[] = selectLogs(logs, 'wrapped');
  /** Redemptions of combos by the AutoRedeemer: its own log, which names the user, follows without the amount. */
  const comboRedeems = selectLogs(logs, 'comboRedeem').filter(({ args }) => args.initiator === addresses.autoRedeemer);
  const autoRedemptions = selectLogs(logs, 'binaryRedemption', 'negRiskRedemption', 'comboRedemption');
  const refunds = assignRefunds(selectLogs(logs, 'orderFilledV1'), selectLogs(logs, 'feeRefunded'));
  for (const { refund, reason } of refunds.stray) report({ log: refund.log, reason });
  const questions = requestQuestions(logs);

  /** Split or merge by the exchange in a match: V1 acts itself, V2 through a collateral adapter. */
  const insideMatch = (user: string, stakeholder: string): boolean =>
    isExchange(stakeholder) || (isExchange(user) && touched.exchanges.has(user));

  const fullSet = (action: SetAction, kind: 'position_split' | 'position_merge') => {
    const { stakeholder } = action;
    if (stakeholder === addresses.negRiskAdapter) return;
    const user = !isCollateralAdapter(stakeholder)
      ? stakeholder
      : kind === 'position_split'
        ? splitUser(action, legs, ids)
        : mergeUser(action, legs, ids, wraps);
    if (insideMatch(user, stakeholder)) return;
    facts.push({
      kind,
      value: {
        ...eventHeader(block, txHash, action.logIndex),
        stakeholder: user,
        collateral_token: action.collateral,
        condition_id: action.conditionId,
        amount: action.amount,
      },
    });
  };

  const redemption = (log: DecodedLogOf<'payoutRedemption' | 'negRiskPayoutRedemption'>) => {
    const action = redemptionAction(log);
    if (action.redeemer === addresses.negRiskAdapter || action.redeemer === addresses.autoRedeemer) return;
    const index_sets = smallIndexSets(action.indexSets);
    const { user, amounts } = redemptionUser(action, legs, ids, wraps);
    if (user === addresses.autoRedeemer) return;
    facts.push({
      kind: 'redemption',
      value: {
        ...eventHeader(block, txHash, action.logIndex),
        redeemer: user,
        collateral_token: action.collateral,
        condition_id: action.conditionId,
        index_sets,
        amounts,
        payout: action.payout,
        source: null,
      },
    });
  };

  /** Shares of the nearest redemption of the module before a log of the AutoRedeemer; each is used once. */
  const takeComboAmount = ({ logIndex, args }: DecodedLogOf<'comboRedemption'>): readonly bigint[] | null => {
    const at = comboRedeems.findLastIndex(
      (one) => one.logIndex < logIndex && one.args.positionId === args.positionId && one.args.payout === args.payout,
    );
    return at === -1 ? null : comboRedeems.splice(at, 1).map((one) => one.args.amount);
  };

  const autoRedemption = (log: (typeof autoRedemptions)[number]) => {
    const located = eventHeader(block, txHash, log.logIndex);
    if (log.event === 'comboRedemption') {
      const { positionId, from, payout } = log.args;
      const outcome = positionOutcomeIndex(positionId);
      if (outcome > 1) throw new MalformedError('combo outcome index is neither 0 nor 1');
      facts.push({
        kind: 'redemption',
        value: {
          ...located,
          redeemer: from,
          collateral_token: addresses.pusd,
          condition_id: positionConditionId(positionId),
          index_sets: [1 << outcome],
          amounts: takeComboAmount(log),
          payout,
          source: 'AutoRedeemer.Redemption',
        },
      });
      return;
    }
    const { from, conditionId, payout } = log.args;
    const negRisk = log.event === 'negRiskRedemption';
    const collateral = negRisk ? addresses.wrappedCollateral : addresses.usdcE;
    facts.push({
      kind: 'redemption',
      value: {
        ...located,
        redeemer: from,
        collateral_token: collateral,
        condition_id: conditionId,
        index_sets: [1, 2],
        amounts: legs.amountsBefore(log.logIndex, { from }, ids.tokens(collateral, conditionId, [1n, 2n])),
        payout,
        source: negRisk ? 'AutoRedeemer.NegRiskRedemption' : 'AutoRedeemer.BinaryRedemption',
      },
    });
  };

  const ramp = (log: DecodedLogOf<'wrapped' | 'unwrapped'>) => {
    const { caller, asset, to, amount } = log.args;
    const deposit = log.event === 'wrapped';
    if (caller !== (deposit ? addresses.collateralOnramp : addresses.collateralOfframp)) return;
    // Transfers by the venue's contracts convert collateral: neither a deposit nor a withdrawal.
    if (contractAt(to) !== undefined) return;
    if (deposit && autoRedemptions.some((redeemed) => redeemed.args.from === to)) return;
    facts.push({
      kind: 'deposit',
      value: {
        ...eventHeader(block, txHash, log.logIndex),
        from: caller,
        to,
        asset,
        amount,
        direction: deposit ? 'deposit' : 'withdrawal',
      },
    });
  };

  const transfer = (moved: Transfer) => {
    if (explainsTransfer(touched, moved)) return;
    moved.ids.forEach((id, batch_index) => {
      facts.push({
        kind: 'position_change',
        value: {
          ...eventHeader(block, txHash, moved.logIndex, moved.batch ? `-${batch_index}` : ''),
          operator: moved.operator,
          from: moved.from,
          to: moved.to,
          token_id: ids.text(id),
          amount: moved.values[batch_index] ?? 0n,
          transfer_type: moved.batch ? 'batch' : 'single',
          batch_index,
        },
      });
    });
  };

  const oracle = (log: DecodedLog, suffix = '') => {
    const row = oracleRow(eventHeader(block, txHash, log.logIndex, suffix), log, questions);
    if (row !== null) facts.push({ kind: 'oracle', value: row });
  };

  const handle = (log: DecodedLog) => {
    switch (log.event) {
      case 'orderFilledV1':
      case 'orderFilledV2': {
        if (log.contract.role !== 'exchange') return;
        const located = eventHeader(block, txHash, log.logIndex);
        const value =
          log.event === 'orderFilledV1'
            ? fillV1(located, log.contract, log.args, refunds.byFill.get(log.logIndex) ?? 0n, ids)
            : fillV2(located, log.contract, log.args, ids);
        facts.push({ kind: 'trade', value });
        return;
      }
      case 'positionSplit':
      case 'negRiskPositionSplit':
        return fullSet(setAction(log), 'position_split');
      case 'positionsMerge':
      case 'negRiskPositionsMerge':
        return fullSet(setAction(log), 'position_merge');
      case 'payoutRedemption':
      case 'negRiskPayoutRedemption':
        return redemption(log);
      case 'binaryRedemption':
      case 'negRiskRedemption':
        return autoRedemption(log);
      case 'comboRedemption':
        autoRedemption(log);
        facts.push(...decodeComboLog(block, txHash, log));
        return;
      case 'positionsConverted': {
        const { stakeholder, marketId, indexSet, amount } = log.args;
        const { questions, fee } = conversionTerms(log, transfers, ids, wraps);
        facts.push({
          kind: 'positions_converted',
          value: {
            ...eventHeader(block, txHash, log.logIndex),
            stakeholder: isCollateralAdapter(stakeholder) ? conversionUser(log, legs, ids) : stakeholder,
            market_id: marketId,
            index_set: `0x${indexSet.toString(16)}`,
            amount,
            question_count: questions,
            fee,
          },
        });
        return;
      }
      case 'negRiskMarketPrepared':
        facts.push({
          kind: 'neg_risk_market',
          value: {
            ...eventHeader(block, txHash, log.logIndex),
            market_id: log.args.marketId,
            oracle: log.args.oracle,
            fee_bips: log.args.feeBips,
          },
        });
        return;
      case 'wrapped':
      case 'unwrapped':
        return ramp(log);
      case 'transferSingle':
      case 'transferBatch':
        if (isComboTransfer(log)) facts.push(...decodeComboTransfer(block, txHash, toTransfer(log), touched));
        else transfer(toTransfer(log));
        return;
      case 'conditionPreparation':
        facts.push({
          kind: 'condition_prepared',
          value: {
            ...eventHeader(block, txHash, log.logIndex),
            condition_id: log.args.conditionId,
            oracle: log.args.oracle,
            question_id: log.args.questionId,
            outcome_slot_count: log.args.outcomeSlotCount,
          },
        });
        return;
      case 'conditionResolution':
        facts.push({
          kind: 'condition_resolved',
          value: {
            ...eventHeader(block, txHash, log.logIndex),
            condition_id: log.args.conditionId,
            oracle: log.args.oracle,
            question_id: log.args.questionId,
            outcome_slot_count: log.args.outcomeSlotCount,
            payout_numerators: log.args.payoutNumerators.map(String),
          },
        });
        return oracle(log, '-oracle');
      default:
        if (log.event in comboLogDecoders) facts.push(...decodeComboLog(block, txHash, log));
        else oracle(log);
    }
  };

  for (const log of logs) {
    try {
      handle(log);
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      report({ log: log.log, reason: `${log.event}: ${error.message}` });
    }
  }
  return facts;
}
