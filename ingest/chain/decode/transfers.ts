import type { DecodedLogOf } from './read-log.js';

/** An ERC-1155 transfer, single or batch, in one shape. */
export interface Transfer {
  readonly logIndex: number;
  readonly operator: string;
  readonly from: string;
  readonly to: string;
  readonly ids: readonly bigint[];
  readonly values: readonly bigint[];
  readonly batch: boolean;
}

export function toTransfer(log: DecodedLogOf<'transferSingle'> | DecodedLogOf<'transferBatch'>): Transfer {
  const { operator, from, to } = log.args;
  return log.event === 'transferSingle'
    ? { logIndex: log.logIndex, operator, from, to, ids: [log.args.id], values: [log.args.value], batch: false }
    : { logIndex: log.logIndex, operator, from, to, ids: log.args.ids, values: log.args.values, batch: true };
}

/** Required ends and form of a transfer; an absent field matches anything. */
export interface TransferCriteria {
  readonly from?: string;
  readonly to?: string;
  readonly batch?: boolean;
}

/**
 * Token transfers of one transaction. A transfer matched by one action is not used for the next, so equal actions of several users in one
 * transaction find one transfer each.
 */
export interface TransactionTransfers {
  /** The transaction has no transfers. */
  readonly empty: boolean;
  /** Nearest transfer before (or after) a log that moves exactly these tokens in the given amounts (any amount when null). */
  take(
    side: 'before' | 'after',
    logIndex: number,
    ends: TransferCriteria,
    tokens: readonly bigint[],
    amounts: readonly bigint[] | null,
  ): Transfer | null;
  /**
   * Amount of each token transferred between these ends before a log, in one batch or several single transfers; 0 for a token without a
   * transfer, null when no token has one.
   */
  amountsBefore(logIndex: number, ends: TransferCriteria, tokens: readonly bigint[]): bigint[] | null;
}

const matchesCriteria = (leg: Transfer, ends: TransferCriteria): boolean =>
  (ends.from === undefined || leg.from === ends.from) &&
  (ends.to === undefined || leg.to === ends.to) &&
  (ends.batch === undefined || leg.batch === ends.batch);

function movesExactly(leg: Transfer, tokens: readonly bigint[], amounts: readonly bigint[] | null): boolean {
  if (leg.ids.length !== tokens.length) return false;
  return tokens.every((token, i) => {
    const index = leg.ids.indexOf(token);
    return index !== -1 && (amounts === null || leg.values[index] === amounts[i]);
  });
}

/** `transfers` ascending by log index. */
export function createTransactionTransfers(transfers: readonly Transfer[]): TransactionTransfers {
  const taken = new Set<Transfer>();
  return {
    empty: transfers.length === 0,
    take(side, logIndex, ends, tokens, amounts) {
      const candidates = side === 'before' ? transfers.toReversed() : transfers;
      for (const leg of candidates) {
        if (side === 'before' ? leg.logIndex > logIndex : leg.logIndex < logIndex) continue;
        if (taken.has(leg) || !matchesCriteria(leg, ends) || !movesExactly(leg, tokens, amounts)) continue;
        taken.add(leg);
        return leg;
      }
      return null;
    },
    amountsBefore(logIndex, ends, tokens) {
      const found = new Map<bigint, bigint>();
      for (const leg of transfers.toReversed()) {
        if (leg.logIndex > logIndex || taken.has(leg) || !matchesCriteria(leg, ends)) continue;
        if (leg.ids.length === 0 || !leg.ids.every((id) => tokens.includes(id) && !found.has(id))) continue;
        taken.add(leg);
        leg.ids.forEach((id, i) => {
          found.set(id, leg.values[i] ?? 0n);
        });
        if (found.size === tokens.length) break;
      }
      return found.size === 0 ? null : tokens.map((token) => found.get(token) ?? 0n);
    },
  };
}
