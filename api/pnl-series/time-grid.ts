/** Moments at which a wallet's profit is told: `points` of them, `stepS` apart, the first at `startS`; on full minutes. */
export interface SampleTimes {
  readonly startS: number;
  readonly stepS: number;
  readonly points: number;
}

/**
 * Where the moments of a grid stand, its newest one left out, while the clock moves on: `windows` stretches of `windowS` that begin on the hour, `stepS`
 * apart. Each minute of a window is a slot. What happens between two windows is seen from the first slot of the later one on.
 */
export interface TimeGrid {
  /** On the hour. */
  readonly startS: number;
  readonly stepS: number;
  readonly spanS: number;
  readonly spans: number;
  /** Whether it begins with the wallet it is for, and is of no use to others. */
  readonly isWalletSpecific: boolean;
}

const MINUTE_S = 60;
const HOUR_S = 3_600;
/** For as long as a frame serves, unless moments are nearer to each other: beside answers of its second hour the next one can be made. */
const MAX_SPAN_S = 2 * HOUR_S;

const endOf = (grid: SampleTimes): number => grid.startS + (grid.points - 1) * grid.stepS;
/** Slots of a window. */
export const bucketsPerSpan = (timeGrid: TimeGrid): number => timeGrid.spanS / MINUTE_S;
/** The hour in which a frame begins to serve. */
export const servingHourOf = (timeGrid: TimeGrid): number => timeGrid.startS + timeGrid.spans * timeGrid.stepS;
/** The newest moment of a frame. Whatever happens later is not in it. */
export const newestTimeOf = (timeGrid: TimeGrid): number =>
  servingHourOf(timeGrid) - timeGrid.stepS + timeGrid.spanS - MINUTE_S;

/** The frame of a grid, begun in the hour of its end. `sinceS`: a grid that goes back to then gets longer while the frame serves. */
export function timeGridFor(grid: SampleTimes, sinceS: number | null): TimeGrid {
  const hourS = Math.floor(endOf(grid) / HOUR_S) * HOUR_S;
  const spanS = Math.min(grid.stepS, MAX_SPAN_S);
  const spans =
    sinceS === null ? grid.points - 1 : Math.max(0, Math.floor((hourS + spanS - MINUTE_S - sinceS) / grid.stepS));
  return { startS: hourS - spans * grid.stepS, stepS: grid.stepS, spanS, spans, isWalletSpecific: sinceS !== null };
}

/** Whether the moments of a grid, its newest one left out, stand in the windows of a frame. */
export function covers(timeGrid: TimeGrid, grid: SampleTimes): boolean {
  const laterS = endOf(grid) - servingHourOf(timeGrid);
  return timeGrid.stepS === grid.stepS && laterS >= 0 && laterS < timeGrid.spanS && timeGrid.spans >= grid.points - 1;
}

/** Whether a newer frame could be begun. */
export const isRenewable = (timeGrid: TimeGrid, grid: SampleTimes): boolean =>
  endOf(grid) - servingHourOf(timeGrid) >= HOUR_S;

/** The first slot at or after a time, Unix seconds; what lies before the frame belongs to its first slot. */
export function bucketIndexOf(timeGrid: TimeGrid, atS: number): number {
  if (atS <= timeGrid.startS) return 0;
  const window = Math.floor((atS - timeGrid.startS) / timeGrid.stepS);
  const minute = Math.ceil((atS - timeGrid.startS - window * timeGrid.stepS) / MINUTE_S);
  const slots = bucketsPerSpan(timeGrid);
  return window * slots + Math.min(minute, slots);
}

/** The same in SQL, of an expression in Unix seconds; its parameters are `frameParams`. */
export const bucketIndexSql = (seconds: string): string =>
  `if(${seconds} <= {start:Int64}, 0, intDiv(${seconds} - {start:Int64}, {step:Int64}) * {slots:Int64}
          + least(intDiv((${seconds} - {start:Int64}) % {step:Int64} + ${MINUTE_S - 1}, ${MINUTE_S}), {slots:Int64}))`;
export const timeGridParams = (timeGrid: TimeGrid) => ({
  start: timeGrid.startS,
  step: timeGrid.stepS,
  slots: bucketsPerSpan(timeGrid),
});

/** A sum at each slot of a frame: where it changes, and from there on. */
export interface CumulativeSteps {
  /** Ascending. */
  readonly bucketIndexes: Uint32Array;
  readonly sums: BigInt64Array;
}

/** Steps of what is added at slots. */
export function stepsOf(added: ReadonlyMap<number, bigint>): CumulativeSteps {
  const changed = [...added].filter(([, value]) => value !== 0n).sort(([a], [b]) => a - b);
  const sums = new BigInt64Array(changed.length);
  let sum = 0n;
  for (const [n, [, value]] of changed.entries()) {
    sum += value;
    sums[n] = sum;
  }
  return { bucketIndexes: Uint32Array.from(changed, ([slot]) => slot), sums };
}

/** The sum at a time, Unix seconds. */
export function sumAt({ bucketIndexes, sums }: CumulativeSteps, timeGrid: TimeGrid, atS: number): bigint {
  const slot = bucketIndexOf(timeGrid, atS);
  let [low, high] = [0, bucketIndexes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bucketIndexes[middle] as number) <= slot) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0n : (sums[low - 1] as bigint);
}
