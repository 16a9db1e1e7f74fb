import type { RecordedChain } from '../../shared/recorded/types.js';
import type { Hex } from '../source.js';
import type { Parties, Party } from './parties.js';

/** Order of a match. side 0 = BUY, 1 = SELL; outcome 0 = first. Amounts in base units, gross. */
export interface MatchedOrder {
  readonly party: Party;
  readonly side: number;
  readonly outcome: number;
  readonly usdc: number;
  readonly shares: number;
}

export interface RecordedMatch {
  readonly kind: 'match';
  /** Index into the markets of the recording. */
  readonly market: number;
  readonly makers: readonly MatchedOrder[];
  readonly taker: MatchedOrder;
  /** BUY: shares, SELL: USDC (as exchange V1 takes it). */
  readonly takerFee: number;
}

export interface RecordedUserAction {
  readonly kind: 'merge' | 'redeem';
  readonly market: number;
  readonly party: Party;
  readonly amount: number;
}

export interface RecordedTransaction {
  readonly hash: Hex;
  readonly timeS: number;
  readonly actions: readonly (RecordedMatch | RecordedUserAction)[];
}

/** Transactions of the recording by index, in chain order. */
export interface RecordedTransactions {
  readonly length: number;
  readonly timeS: Float64Array;
  /** Index into the sources of the recording's metadata. */
  readonly source: Float64Array;
  at(index: number): RecordedTransaction;
}

/** Start offset of every group where group i has sizes[i] members. */
function startOffsets(sizes: Float64Array): Int32Array {
  const starts = new Int32Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) starts[i + 1] = starts[i]! + sizes[i]!;
  return starts;
}

export function createRecordedTransactions(chain: RecordedChain, parties: Parties): RecordedTransactions {
  const actionStart = startOffsets(chain.actions);
  const isMatch = Float64Array.from(chain.kind, (kind) => (kind === 0 ? 1 : 0));
  const matchBefore = startOffsets(isMatch);
  const legStart = startOffsets(chain.makers);
  const knownTakersBefore = startOffsets(Float64Array.from(chain.takerWallet, (wallet) => (wallet === 0 ? 0 : 1)));

  const matchAt = (action: number, hashBytes: number): RecordedMatch => {
    const match = matchBefore[action]!;
    const from = legStart[match]!;
    const to = legStart[match + 1]!;
    const takerByte = chain.hashes[hashBytes + 31]!;
    const makers: MatchedOrder[] = [];
    let usdc = 0;
    let shares = 0;
    for (let i = from; i < to; i++) {
      const bits = chain.legBits[i]!;
      const wallet = chain.legWallet[i]!;
      usdc += chain.legUsdc[i]!;
      shares += chain.legShares[i]!;
      makers.push({
        party: wallet === 0 ? parties.synthetic(takerByte + 1 + i - from) : parties.wallet(wallet - 1),
        side: bits >> 1,
        outcome: bits & 1,
        usdc: chain.legUsdc[i]!,
        shares: chain.legShares[i]!,
      });
    }
    const wallet = chain.takerWallet[match]!;
    const market = chain.market[action]!;
    if (wallet === 0) {
      const { side, outcome } = makers[0]!;
      const taker = { party: parties.synthetic(takerByte), side: 1 - side, outcome, usdc, shares };
      return { kind: 'match', market, makers, taker, takerFee: 0 };
    }
    const known = knownTakersBefore[match]!;
    const bits = chain.takerBits[known]!;
    const taker = {
      party: parties.wallet(wallet - 1),
      side: bits >> 1,
      outcome: bits & 1,
      usdc: chain.takerUsdc[known]!,
      shares: chain.takerShares[known]!,
    };
    return { kind: 'match', market, makers, taker, takerFee: chain.takerFee[known]! };
  };

  return {
    length: chain.timeS.length,
    timeS: chain.timeS,
    source: chain.source,
    at(index) {
      const hashBytes = index * 32;
      const actions: (RecordedMatch | RecordedUserAction)[] = [];
      for (let action = actionStart[index]!; action < actionStart[index + 1]!; action++) {
        if (chain.kind[action] === 0) {
          actions.push(matchAt(action, hashBytes));
          continue;
        }
        const user = action - matchBefore[action]!;
        actions.push({
          kind: chain.kind[action] === 1 ? 'merge' : 'redeem',
          market: chain.market[action]!,
          party: parties.wallet(chain.userWallet[user]!),
          amount: chain.userAmount[user]!,
        });
      }
      return {
        hash: `0x${chain.hashes.toString('hex', hashBytes, hashBytes + 32)}`,
        timeS: chain.timeS[index]!,
        actions,
      };
    },
  };
}
