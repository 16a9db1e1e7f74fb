import pLimit from 'p-limit';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { divide } from '../../schemas/primitives/money.js';
import type { SharedLoad } from '../cache/response-cache.js';
import { type MetadataLookups, oppositeTokenOf } from '../catalog/metadata.js';
import { ApiError } from '../errors/failure.js';
import { createConcurrencyLimiter } from '../limits/concurrency-limiter.js';
import type { Tables } from '../tables/port.js';
import type { CurrentPnlReader } from './current-pnl.js';
import type { HourlyClosesReader } from './hourly-closes.js';
import { addPositionChanges, type Payout } from './position-changes.js';
import { firstEventTimeSql, type HoldingsRow, holdingsCountSql, holdingsSql, type SampleTimes } from './series.sql.js';

/** Cumulative PnL of a wallet at a time: base units, Unix seconds. */
export interface PnlPoint {
  readonly atS: number;
  readonly pnl: bigint;
}

/** Points counted back from the current minute, `stepS` apart; null: as many as the age of the wallet. */
export interface Period {
  readonly stepS: number;
  readonly points: number | null;
}

/**
 * PnL of a wallet since its first event at the times of a period, the newest at current prices; null for a wallet without events. A series that may
 * have several slices takes a permit of `accountId`. Throws ApiError if none is free in time (`rate_limited`, `overloaded`), or if the series exceeds its time budget
 * (`overloaded`). `shared` runs the computation, with the permit, or returns the series of another request for the same.
 */
export type PnlSeriesReader = (
  wallet: string,
  period: Period,
  accountId: string,
  shared?: SharedLoad<readonly PnlPoint[] | null>,
) => Promise<readonly PnlPoint[] | null>;

const MINUTE_S = 60;
const ONE_USD = 1_000_000n;
/** Rows of holdings that are read at once: bounds memory. */
const ROWS_PER_SLICE = 50_000;
/** Positions whose prices are read at once: bounds memory too. */
const POSITION_BATCH = 1_000;
/** Positions that are computed without other requests in between: a few milliseconds. */
const POSITIONS_PER_TURN = 100;
/** Concurrent computations of one slice. */
const CONCURRENT = 4;
/** Concurrent computations that may have several slices: each slice reads all events of the wallet. */
const LARGE = { perAccount: 1, total: 2, maxWaitMs: 20_000 };
/** Time budget of a computation. */
const BUDGET_MS = 60_000;
const RETRY_S = 60;

/** Creates the reader. PnL at a past time is computed from what each position held then, at the payout or the last close of the full hours before. */
export function createPnlSeriesReader(deps: {
  tables: Tables;
  metadata: Pick<MetadataLookups, 'tokensOf' | 'marketsOf' | 'resolutionsOf'>;
  hourlyCloses: Pick<HourlyClosesReader, 'since'>;
  currentPnl: CurrentPnlReader;
  nowMs: () => number;
}): PnlSeriesReader {
  const { tables, metadata } = deps;
  const limit = pLimit(CONCURRENT);
  const largeLimiter = createConcurrencyLimiter({
    ...LARGE,
    message: 'PnL series of other large wallets are still being computed. Retry shortly.',
    accountScope: 'pnl_series_account',
    totalScope: 'pnl_series_total',
    nowMs: deps.nowMs,
  });

  /** Other outcome and payout of tokens, where known. */
  const readTokens = async (tokenIds: readonly string[]) => {
    const tokens = await metadata.tokensOf(tokenIds);
    const conditions = [...tokens.values()].flatMap((token) => (token === null ? [] : [token.conditionId]));
    const [markets, resolutions] = await Promise.all([
      metadata.marketsOf(conditions),
      metadata.resolutionsOf(conditions),
    ]);
    const others = new Map<string, string>();
    const payouts = new Map<string, Payout>();
    for (const [tokenId, token] of tokens) {
      if (token === null) continue;
      const { conditionId, outcomeIndex } = token;
      const other =
        token.otherTokenId ?? oppositeTokenOf({ outcomeIndex, tokenIds: markets.get(conditionId)?.tokenIds ?? [] });
      if (other !== null) others.set(tokenId, other);
      const resolution = resolutions.get(conditionId) ?? null;
      const numerator = resolution?.payouts[outcomeIndex];
      if (resolution === null || numerator === undefined || resolution.denominator === 0n) continue;
      const price = divide(numerator * ONE_USD, resolution.denominator, 'half_up');
      payouts.set(tokenId, { atS: resolution.resolvedAtS, price });
    }
    return { others, payouts };
  };
  const addPositions = async (
    rows: readonly HoldingsRow[],
    times: SampleTimes,
    add: (sample: number, change: bigint) => void,
  ): Promise<void> => {
    /** Time from which prices are needed; infinite for a position that is closed at every sample time. */
    const heldFromS = ({ samples, shares }: HoldingsRow) =>
      times.startS + times.stepS * (samples[shares.findIndex((one) => one !== '0')] ?? Number.POSITIVE_INFINITY);
    const { others, payouts } = await readTokens(
      rows.filter((row) => heldFromS(row) !== Number.POSITIVE_INFINITY).map(({ token }) => token),
    );
    const traded = rows
      .filter((row) => heldFromS(row) < (payouts.get(row.token)?.atS ?? Number.POSITIVE_INFINITY))
      .flatMap(({ token }) => [token, ...(others.has(token) ? [others.get(token) as string] : [])]);
    const closes = await deps.hourlyCloses.since([...new Set(traded)], times.startS);
    for (const [n, row] of rows.entries()) {
      if (n % POSITIONS_PER_TURN === 0) await yieldToEventLoop();
      const prices = {
        closes: closes.get(row.token),
        otherCloses: closes.get(others.get(row.token) ?? ''),
        payout: payouts.get(row.token) ?? null,
      };
      addPositionChanges(row, prices, times, add);
    }
  };
  const readChanges = async (wallet: string, times: SampleTimes, slices: number): Promise<readonly bigint[]> => {
    const changes: bigint[] = Array.from({ length: times.points }, () => 0n);
    const add = (sample: number, change: bigint) => {
      changes[sample] = (changes[sample] as bigint) + change;
    };
    const deadlineMs = deps.nowMs() + BUDGET_MS;
    const checkBudget = () => {
      if (deps.nowMs() < deadlineMs) return;
      const message = 'The PnL series of this wallet takes too long to compute. Request a shorter period.';
      throw new ApiError({ kind: 'overloaded', message, scope: 'pnl_series_time', retryAfterS: RETRY_S });
    };
    for (let share = 0; share < slices; share++) {
      checkBudget();
      const rows = await tables.rows<HoldingsRow>(holdingsSql(wallet, times, { share, of: slices }));
      for (let at = 0; at < rows.length; at += POSITION_BATCH) {
        checkBudget();
        await addPositions(rows.slice(at, at + POSITION_BATCH), times, add);
      }
    }
    return changes;
  };
  const firstEventS = async (wallet: string): Promise<number | null> => {
    const [row] = await tables.rows<{ first: number | string }>(firstEventTimeSql(wallet));
    return row === undefined ? null : Number(row.first);
  };

  return async (wallet, { stepS, points }, accountId, shared = (work) => work()) => {
    const [now, firstS] = await Promise.all([deps.currentPnl(wallet), points === null ? firstEventS(wallet) : null]);
    if (now === null) return null;
    const endS = Math.floor(deps.nowMs() / 1000 / MINUTE_S) * MINUTE_S;
    const count = points ?? Math.max(0, Math.floor((endS - (firstS ?? endS)) / stepS)) + 1;
    const times = { startS: endS - (count - 1) * stepS, stepS, points: count };
    const compute = async (read: () => Promise<readonly bigint[]>): Promise<readonly PnlPoint[]> => {
      const [changes, currentPnl] = await Promise.all([read(), now.pnl()]);
      let pnl = 0n;
      return changes.map((change, sample) => {
        pnl += change;
        return { atS: times.startS + sample * stepS, pnl: sample === count - 1 ? currentPnl : pnl };
      });
    };
    if (count === 1) return shared(() => compute(async () => [0n]));
    // A position has at most one row of holdings per sample time.
    const mostRows = Math.min(now.events, now.positions * (count - 1));
    if (mostRows <= ROWS_PER_SLICE) return shared(() => compute(() => limit(() => readChanges(wallet, times, 1))));
    const readSlices = async () => {
      const [row] = await tables.rows<{ groups: number | string }>(holdingsCountSql(wallet, times));
      return readChanges(wallet, times, Math.max(1, Math.ceil(Number(row?.groups ?? 0) / ROWS_PER_SLICE)));
    };
    return largeLimiter.run(accountId, () => shared(() => compute(readSlices)));
  };
}
