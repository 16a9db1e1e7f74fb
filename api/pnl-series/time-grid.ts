/** Times of a series: `points` times, `stepS` apart, the first at `startS`; on full minutes. */
export interface SampleTimes {
  readonly startS: number;
  readonly stepS: number;
  readonly points: number;
}

/**
 * Bucket grid that contains the times of a series, except the newest, while the clock advances: `spans` spans of `spanS`, `stepS` apart, which begin on the hour.
 * Each minute of a span is a bucket. Events between two spans belong to the first bucket of the later one.
 */
export interface TimeGrid {
  /** On the hour. */
  readonly startS: number;
  readonly stepS: number;
  readonly spanS: number;
  readonly spans: number;
  /** True if it begins with the first event of a wallet, and cannot be shared with other wallets. */
  readonly isWalletSpecific: boolean;
}

const MINUTE_S = 60;
const HOUR_S = 3_600;
/** Validity of a grid, unless times are closer: in its second hour the next grid can be computed in the background. */
const MAX_SPAN_S = 2 * HOUR_S;

const endOf = (grid: SampleTimes): number => grid.startS + (grid.points - 1) * grid.stepS;
/** Buckets of a span. */
export const bucketsPerSpan = (timeGrid: TimeGrid): number => timeGrid.spanS / MINUTE_S;
/** The hour in which a grid becomes valid. */
export const servingHourOf = (timeGrid: TimeGrid): number => timeGrid.startS + timeGrid.spans * timeGrid.stepS;
/** The newest time of a grid. Later events are not in it. */
export const newestTimeOf = (timeGrid: TimeGrid): number =>
  servingHourOf(timeGrid) - timeGrid.stepS + timeGrid.spanS - MINUTE_S;

/** The grid for sample times, valid from the hour of their end. `sinceS`: the grid begins there and grows with its validity. */
export function timeGridFor(grid: SampleTimes, sinceS: number | null): TimeGrid {
  const hourS = Math.floor(endOf(grid) / HOUR_S) * HOUR_S;
  const spanS = Math.min(grid.stepS, MAX_SPAN_S);
  const spans =
    sinceS === null ? grid.points - 1 : Math.max(0, Math.floor((hourS + spanS - MINUTE_S - sinceS) / grid.stepS));
  return { startS: hourS - spans * grid.stepS, stepS: grid.stepS, spanS, spans, isWalletSpecific: sinceS !== null };
}

/** True if the sample times, except the newest, are in the spans of the grid. */
export function covers(timeGrid: TimeGrid, grid: SampleTimes): boolean {
  const laterS = endOf(grid) - servingHourOf(timeGrid);
  return timeGrid.stepS === grid.stepS && laterS >= 0 && laterS < timeGrid.spanS && timeGrid.spans >= grid.points - 1;
}

/** True if a newer grid could be computed. */
export const isRenewable = (timeGrid: TimeGrid, grid: SampleTimes): boolean =>
  endOf(grid) - servingHourOf(timeGrid) >= HOUR_S;

/** The first bucket at or after a time, Unix seconds; times before the grid belong to its first bucket. */
export function bucketIndexOf(timeGrid: TimeGrid, atS: number): number {
  if (atS <= timeGrid.startS) return 0;
  const span = Math.floor((atS - timeGrid.startS) / timeGrid.stepS);
  const minute = Math.ceil((atS - timeGrid.startS - span * timeGrid.stepS) / MINUTE_S);
  const buckets = bucketsPerSpan(timeGrid);
  return span * buckets + Math.min(minute, buckets);
}

/** The same in SQL, for an expression in Unix seconds; parameters: `timeGridParams`. */
export const bucketIndexSql = (seconds: string): string =>
  `if(${seconds} <= {start:Int64}, 0, intDiv(${seconds} - {start:Int64}, {step:Int64}) * {buckets:Int64}
          + least(intDiv((${seconds} - {start:Int64}) % {step:Int64} + ${MINUTE_S - 1}, ${MINUTE_S}), {buckets:Int64}))`;
export const timeGridParams = (timeGrid: TimeGrid) => ({
  start: timeGrid.startS,
  step: timeGrid.stepS,
  buckets: bucketsPerSpan(timeGrid),
});

/** A sum per bucket: the buckets where it changes, and the sum from there on. */
export interface CumulativeSteps {
  /** Ascending. */
  readonly bucketIndexes: Uint32Array;
  readonly sums: BigInt64Array;
}

/** Cumulates additions per bucket. */
export function stepsOf(added: ReadonlyMap<number, bigint>): CumulativeSteps {
  const changed = [...added].filter(([, value]) => value !== 0n).sort(([a], [b]) => a - b);
  const sums = new BigInt64Array(changed.length);
  let sum = 0n;
  for (const [n, [, value]] of changed.entries()) {
    sum += value;
    sums[n] = sum;
  }
  return { bucketIndexes: Uint32Array.from(changed, ([bucketIndex]) => bucketIndex), sums };
}

/** The sum at a time, Unix seconds. */
export function sumAt({ bucketIndexes, sums }: CumulativeSteps, timeGrid: TimeGrid, atS: number): bigint {
  const bucketIndex = bucketIndexOf(timeGrid, atS);
  let [low, high] = [0, bucketIndexes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bucketIndexes[middle] as number) <= bucketIndex) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0n : (sums[low - 1] as bigint);
}
