import type { Block } from '../../../schemas/types.gen.js';
import type { RpcLog, SourceBlock } from '../source.js';
import { isUnknown } from '../unread-events.js';
import { isOfSomeOutcomes, isWithoutCollateral } from './actors.js';
import { type BlockIds, createBlockIds } from './block-ids.js';
import { type ChainEvent, eventHeader } from './chain-event.js';
import { MalformedError, quantity, requireHex } from './hex.js';
import { type DecodedLog, type DecodedLogOf, readLog, routeOf } from './read-log.js';
import { decodeTransaction, type Problem, transfersOf } from './transaction.js';
import { addAction, createTransactionActions, type TransactionActions } from './transaction-actions.js';
import type { Transfer } from './transfers.js';

export interface DecodedBlock {
  /** Ascending log index. */
  readonly events: readonly ChainEvent[];
  /** Logs of watched contracts that could not be decoded. */
  readonly problems: readonly Problem[];
  /** Counts of decoded, malformed and unknown logs by contract, in order of first occurrence. */
  readonly contracts: readonly ContractLogs[];
}

/** Log counts of one watched contract in a block. */
export interface ContractLogs {
  readonly address: string;
  readonly logs: number;
  /** Number of these logs that a decoder accepted. */
  readonly decoded: number;
}

function countLogs() {
  const counts = new Map<string, { logs: number; readonly undecoded: Set<RpcLog> }>();
  return {
    add(log: RpcLog): void {
      const found = counts.get(log.address);
      if (found === undefined) counts.set(log.address, { logs: 1, undecoded: new Set() });
      else found.logs += 1;
    },
    undecoded(log: RpcLog): void {
      counts.get(log.address)?.undecoded.add(log);
    },
    counted: (): ContractLogs[] =>
      [...counts].map(([address, { logs, undecoded }]) => ({ address, logs, decoded: logs - undecoded.size })),
  };
}

interface TransactionLogs {
  readonly logs: DecodedLog[];
  readonly actions: TransactionActions;
}

const isSplitOrMerge = (log: DecodedLog): log is DecodedLogOf<'positionSplit' | 'positionsMerge'> =>
  log.event === 'positionSplit' || log.event === 'positionsMerge';

/** The logs of a transaction without splits and merges of some outcomes only; adds the actions of the other splits and merges. */
function withoutPartialSets(logs: readonly DecodedLog[], actions: TransactionActions, ids: BlockIds): DecodedLog[] {
  let transfers: readonly Transfer[] | undefined;
  return logs.filter((log) => {
    if (!isSplitOrMerge(log)) return true;
    transfers ??= transfersOf(logs);
    if (isOfSomeOutcomes(log, transfers, ids)) return false;
    addAction(actions, log.contract, log.event);
    return true;
  });
}

function requireHash(text: string): void {
  if (typeof text !== 'string' || text.length !== 66 || !text.startsWith('0x')) {
    throw new MalformedError('transaction hash is not 32 bytes');
  }
  requireHex(text, 2, 66);
}

/** Maximum stored data of an unknown log, in hex characters. */
const MAX_UNKNOWN_DATA = 65_536;

/** Record of an unknown log. Throws MalformedError. */
function unknownFact(block: SourceBlock, log: RpcLog, logIndex: number): ChainEvent {
  const { address, topics, data } = log;
  if (data.length > MAX_UNKNOWN_DATA) throw new MalformedError('data of an unknown event exceeds the size limit');
  return {
    kind: 'unknown_log',
    value: { ...eventHeader(block, log.transactionHash, logIndex), address, topics: [...topics], data },
  };
}

/**
 * Decodes the logs of a block. Logs of other contracts and known events that are not decoded are skipped; logs with unknown events are
 * stored raw and count as not decoded; a malformed log becomes a problem, never an exception.
 */
export function decodeBlock(block: SourceBlock): DecodedBlock {
  const problems: Problem[] = [];
  const counts = countLogs();
  const report = (problem: Problem): void => {
    problems.push(problem);
    counts.undecoded(problem.log);
  };
  const transactions = new Map<string, TransactionLogs>();
  const seen = new Set<number>();
  const events: ChainEvent[] = [];

  for (const log of block.logs) {
    const route = routeOf(log);
    if (route === null && !isUnknown(log)) continue;
    counts.add(log);
    try {
      if (log.blockHash !== block.hash) throw new MalformedError('log of another block');
      requireHash(log.transactionHash);
      const logIndex = quantity(log.logIndex, 'log index');
      if (seen.has(logIndex)) throw new MalformedError('duplicate log index in the block');
      seen.add(logIndex);
      if (route === null) {
        counts.undecoded(log);
        events.push(unknownFact(block, log, logIndex));
        continue;
      }
      let transaction = transactions.get(log.transactionHash);
      if (transaction === undefined) {
        transaction = { logs: [], actions: createTransactionActions() };
        transactions.set(log.transactionHash, transaction);
      }
      // A malformed log also explains the transfers around it.
      let explainsTransfers = true;
      try {
        const decoded = readLog(route, log, logIndex);
        const counts = !isWithoutCollateral(decoded);
        if (counts) transaction.logs.push(decoded);
        // For splits and merges the other logs decide.
        explainsTransfers = counts && !isSplitOrMerge(decoded);
      } finally {
        if (explainsTransfers) addAction(transaction.actions, route.contract, route.event);
      }
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      report({ log, reason: `${route?.event ?? 'unknown event'}: ${error.message}` });
    }
  }

  const ids = createBlockIds();
  for (const [txHash, { logs, actions }] of transactions) {
    logs.sort((a, b) => a.logIndex - b.logIndex);
    const counted = withoutPartialSets(logs, actions, ids);
    for (const fact of decodeTransaction(block, txHash, counted, actions, ids, report)) events.push(fact);
  }
  // The sort is stable: events of one log keep their order.
  events.sort((a, b) => a.value.log_index - b.value.log_index);
  return { events, problems, contracts: counts.counted() };
}

/**
 * Block record, which ends a block; the encoder adds the log counts by contract. Trade volume counts each match once, because the taker's
 * row repeats the sum of its maker rows.
 */
export function blockEvent(block: SourceBlock, events: readonly ChainEvent[]): Block {
  const txHashes = new Set<string>();
  const settled = new Set<string>();
  let volume = 0n;
  for (const event of events) {
    txHashes.add(event.value.tx_hash);
    if (event.kind !== 'trade') continue;
    settled.add(event.value.tx_hash);
    if (!event.value.is_taker_order) volume += event.value.usdc;
  }
  return {
    id: `block-${block.number}`,
    block_number: block.number,
    block_hash: block.hash,
    parent_hash: block.parentHash,
    timestamp_ms: block.timestampS * 1000,
    // A source without the list of transactions knows only transactions with a log.
    tx_count: block.txCount ?? new Set(block.logs.map((log) => log.transactionHash)).size,
    polymarket_tx_count: txHashes.size,
    settlement_count: settled.size,
    trade_volume: volume,
    contracts: null,
  };
}
