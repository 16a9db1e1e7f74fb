import type { Tables } from '../tables/port.js';
import type { CurrentPnlReader } from './current-pnl.js';
import { firstEventTimeSql, type PnlChangeRow, pnlChangesSql, type SampleTimes } from './series.sql.js';

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

/** PnL of a wallet since its first event at the times of a period, the newest at current prices; null for a wallet without events. */
export type PnlSeriesReader = (wallet: string, period: Period) => Promise<readonly PnlPoint[] | null>;

const MINUTE_S = 60;

export function createPnlSeriesReader(deps: {
  tables: Tables;
  currentPnl: CurrentPnlReader;
  nowMs: () => number;
}): PnlSeriesReader {
  const { tables } = deps;
  const sampleTimesOf = async (wallet: string, { stepS, points }: Period): Promise<SampleTimes | null> => {
    const endS = Math.floor(deps.nowMs() / 1000 / MINUTE_S) * MINUTE_S;
    if (points !== null) return { startS: endS - (points - 1) * stepS, stepS, points };
    const [row] = await tables.rows<{ first: number | string }>(firstEventTimeSql(wallet));
    if (row === undefined) return null;
    const count = Math.max(0, Math.floor((endS - Number(row.first)) / stepS)) + 1;
    return { startS: endS - (count - 1) * stepS, stepS, points: count };
  };
  return async (wallet, period) => {
    const times = await sampleTimesOf(wallet, period);
    if (times === null) return null;
    const { startS, stepS, points } = times;
    const [rows, now] = await Promise.all([
      tables.rows<PnlChangeRow>(pnlChangesSql(wallet, times)),
      deps.currentPnl(wallet),
    ]);
    if (now === null) return null;
    const changes = new Map(rows.map(({ sample, change }) => [Number(sample), BigInt(change)]));
    let pnl = 0n;
    return Array.from({ length: points }, (_, sample) => {
      pnl += changes.get(sample) ?? 0n;
      return { atS: startS + sample * stepS, pnl: sample === points - 1 ? now : pnl };
    });
  };
}
