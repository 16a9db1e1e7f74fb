import { DAY_S, type LiveMarkets, shiftHash } from '../../shared/recorded/shift.js';
import type { RecordedMarket, Recording } from '../../shared/recorded/types.js';
import { addresses } from '../contracts.js';
import type { Hex, RpcTransaction, SourceBlock } from '../source.js';
import { BLOCK_S, timeOfBlock } from './block-clock.js';
import { addConditionStep, marketWords } from './condition-events.js';
import { addRedemption, addSplitOrMerge } from './ctf-logs.js';
import { createLogSink, type LogSink } from './log-sink.js';
import type { Parties } from './parties.js';
import { type Settlement, settlementCalldata, settlementOf } from './settlement.js';
import type { RecordedMatch, RecordedTransactions } from './transactions.js';
import type { MarketWords } from './v1-logs.js';
import { addSettlement } from './v2-logs.js';

const HOUR_S = 3600;
/** The windows of an hour are prepared together, this long before the hour. */
const PREPARE_AHEAD_S = DAY_S;
/** Fee rate of the crypto windows (feeSchedule.rate of the recorded day). */
const FEE_RATE_PERCENT = 7;
/** One in this many settlements reverts. */
const REVERT_ONE_IN = 512;

/** A settlement before its block. */
export interface ScheduledSettlement {
  readonly transaction: RpcTransaction;
  /** Time between the detection of the settlement and its block. */
  readonly leadMs: number;
}

/** The recorded 24 hours of the six wallets, repeated and shifted by whole days, on exchange V2. A pure function of the block number. */
export interface RecordedTail {
  /** Days between the recording and the given time of playback. */
  shiftDays(timeS: number): number;
  /** Whether the block contains preparations of windows. */
  hasPreparations(number: number): boolean;
  /** `preparationsOnly` omits all other logs; the remaining logs keep their indexes. */
  block(number: number, preparationsOnly: boolean): SourceBlock;
  /** Settlements of a block in block order, including those that will revert. */
  pending(number: number): ScheduledSettlement[];
}

interface ReplayedTransaction {
  readonly hash: Hex;
  readonly reverts: boolean;
  readonly actions: readonly (
    | { readonly kind: 'settlement'; readonly settlement: Settlement }
    | { readonly kind: 'merge' | 'redeem'; readonly write: (sink: LogSink) => void }
  )[];
}

const mod = (value: number, by: number): number => ((value % by) + by) % by;

export function createRecordedTail(
  recording: Recording,
  transactions: RecordedTransactions,
  parties: Parties,
  markets: LiveMarkets,
): RecordedTail {
  const fromS = recording.meta.tail.from_s;
  const shiftDays = (timeS: number) => Math.floor((timeS - fromS) / DAY_S);
  const liveMarket = (recorded: RecordedMarket, days: number): RecordedMarket => {
    const live = markets.find(recorded.coin!, recorded.duration!, recorded.startS! + days * DAY_S);
    if (live === null) throw new RangeError(`No live window replaces ${recorded.slug}`);
    return live;
  };

  const words = new WeakMap<RecordedMarket, MarketWords>();
  const wordsOf = (market: RecordedMarket): MarketWords => {
    let found = words.get(market);
    if (found === undefined) {
      found = marketWords(market);
      words.set(market, found);
    }
    return found;
  };

  // Index of the first transaction at or after every second of the recorded 24 hours.
  const firstAt = new Int32Array(DAY_S + 1).fill(-1);
  const inTail: number[] = [];
  for (let i = 0; i < transactions.length; i++) {
    const second = transactions.timeS[i]! - fromS;
    if (transactions.source[i] !== 0 || second < 0 || second >= DAY_S) continue;
    if (firstAt[second] === -1) firstAt[second] = inTail.length;
    inTail.push(i);
  }
  firstAt[DAY_S] = inTail.length;
  for (let second = DAY_S - 1; second >= 0; second--)
    if (firstAt[second] === -1) firstAt[second] = firstAt[second + 1]!;

  // Delay between the start and the resolution of a window by time of day: as recorded, but not after its first redemption and not before
  // its end.
  const windowKey = (market: RecordedMarket) => `${market.coin}:${market.startS! % DAY_S}`;
  const firstRedemption = new Map<string, number>();
  for (const index of inTail) {
    for (const action of transactions.at(index).actions) {
      if (action.kind !== 'redeem') continue;
      const market = recording.markets[action.market]!;
      const after = transactions.timeS[index]! - market.startS!;
      firstRedemption.set(windowKey(market), Math.min(after, firstRedemption.get(windowKey(market)) ?? after));
    }
  }
  const resolvingAt = new Map<
    number,
    { readonly coin: string; readonly duration: string; readonly afterS: number }[]
  >();
  for (const market of markets.templates) {
    if (market.resolvedS === null || market.outcome === null) continue;
    const windowS = market.endS! - market.startS!;
    const recorded = market.resolvedS - market.startS!;
    const afterS = Math.max(windowS, Math.min(recorded, firstRedemption.get(windowKey(market)) ?? recorded));
    const second = mod(market.startS! + afterS, DAY_S);
    const list = resolvingAt.get(second) ?? [];
    list.push({ coin: market.coin!, duration: market.duration!, afterS });
    resolvingAt.set(second, list);
  }

  /** Seconds that a block covers: those after its predecessor, up to its own. */
  function* secondsOf(number: number): Generator<number> {
    const lastS = timeOfBlock(number);
    for (let timeS = lastS - BLOCK_S + 1; timeS <= lastS; timeS++) yield timeS;
  }

  const playMatch = (match: RecordedMatch, days: number, hash: Hex, blockTimeS: number): Settlement => {
    const recorded = recording.markets[match.market]!;
    const live = liveMarket(recorded, days);
    const flip = recorded.outcome !== null && live.outcome !== null && recorded.outcome !== live.outcome;
    return settlementOf(match, wordsOf(live), hash, blockTimeS, flip, FEE_RATE_PERCENT);
  };
  const play = (index: number, days: number, blockTimeS: number): ReplayedTransaction => {
    const fact = transactions.at(index);
    const hash = shiftHash(fact.hash, days);
    const actions = fact.actions.map((action): ReplayedTransaction['actions'][number] => {
      if (action.kind === 'match') return { kind: 'settlement', settlement: playMatch(action, days, hash, blockTimeS) };
      const { conditionId } = liveMarket(recording.markets[action.market]!, days);
      const { kind, party, amount } = action;
      return kind === 'merge'
        ? { kind, write: (sink) => addSplitOrMerge(sink, 'positionsMerge', party.topic, conditionId, amount) }
        : { kind, write: (sink) => addRedemption(sink, party, conditionId, amount) };
    });
    const settles = actions.some(({ kind }) => kind === 'settlement');
    return { hash, actions, reverts: settles && Number.parseInt(hash.slice(2, 6), 16) % REVERT_ONE_IN === 0 };
  };

  // A block is read twice, as pending and as head, and its order hashes are expensive.
  const cached = new Map<number, readonly ReplayedTransaction[]>();
  const playedIn = (number: number): readonly ReplayedTransaction[] => {
    const known = cached.get(number);
    if (known !== undefined) return known;
    const played: ReplayedTransaction[] = [];
    for (const timeS of secondsOf(number)) {
      const days = shiftDays(timeS);
      const second = timeS - fromS - days * DAY_S;
      for (let at = firstAt[second]!; at < firstAt[second + 1]!; at++)
        played.push(play(inTail[at]!, days, timeOfBlock(number)));
    }
    if (cached.size >= 16) cached.delete(cached.keys().next().value!);
    cached.set(number, played);
    return played;
  };

  const addPreparations = (sink: LogSink, number: number) => {
    for (const timeS of secondsOf(number)) {
      if (timeS % HOUR_S !== 0) continue;
      const hourS = timeS + PREPARE_AHEAD_S;
      for (const market of markets.between(hourS, hourS + HOUR_S)) addConditionStep(sink, 'prepared', market);
    }
  };
  const addResolutions = (sink: LogSink, number: number) => {
    for (const timeS of secondsOf(number)) {
      for (const { coin, duration, afterS } of resolvingAt.get(mod(timeS, DAY_S)) ?? []) {
        const market = markets.find(coin, duration, timeS - afterS);
        if (market !== null) addConditionStep(sink, 'resolved', market);
      }
    }
  };

  return {
    shiftDays,
    hasPreparations: (number) => mod(timeOfBlock(number), HOUR_S) < BLOCK_S,
    block(number, preparationsOnly) {
      const sink = createLogSink(number);
      addPreparations(sink, number);
      if (preparationsOnly) return sink.block();
      addResolutions(sink, number);
      for (const { hash, reverts, actions } of playedIn(number)) {
        if (reverts) continue;
        sink.transaction(hash);
        for (const action of actions) {
          if (action.kind === 'settlement') addSettlement(sink, action.settlement);
          else action.write(sink);
        }
      }
      return sink.block();
    },
    pending(number) {
      const list: ScheduledSettlement[] = [];
      for (const { hash, actions } of playedIn(number)) {
        for (const action of actions) {
          if (action.kind !== 'settlement') continue;
          const jitter = Number.parseInt(hash.slice(6, 10), 16) % 1001;
          list.push({
            transaction: {
              hash,
              from: parties.operator(Number.parseInt(hash.slice(10, 12), 16)),
              to: addresses.exchangeV2,
              input: settlementCalldata(action.settlement),
              blockNumber: null,
            },
            leadMs: 1500 + jitter,
          });
        }
      }
      return list;
    },
  };
}
