/** Moments at which a wallet's profit is told: `points` of them, `stepS` apart, the first at `startS`; on full minutes. */
export interface Grid {
  readonly startS: number;
  readonly stepS: number;
  readonly points: number;
}

/**
 * Where the moments of a grid stand, its newest one left out, while the clock moves on: `windows` stretches of `windowS` that begin on the hour, `stepS`
 * apart. Each minute of a window is a slot. What happens between two windows is seen from the first slot of the later one on.
 */
export interface Frame {
  /** On the hour. */
  readonly startS: number;
  readonly stepS: number;
  readonly windowS: number;
  readonly windows: number;
  /** Whether it begins with the wallet it is for, and is of no use to others. */
  readonly own: boolean;
}

const MINUTE_S = 60;
const HOUR_S = 3_600;
/** For as long as a frame serves, unless moments are nearer to each other: beside answers of its second hour the next one can be made. */
const WINDOW_S = 2 * HOUR_S;

const endOf = (grid: Grid): number => grid.startS + (grid.points - 1) * grid.stepS;
/** Slots of a window. */
export const slotsPerWindow = (frame: Frame): number => frame.windowS / MINUTE_S;
/** The hour in which a frame begins to serve. */
export const hourOf = (frame: Frame): number => frame.startS + frame.windows * frame.stepS;
/** The newest moment of a frame. Whatever happens later is not in it. */
export const newestOf = (frame: Frame): number => hourOf(frame) - frame.stepS + frame.windowS - MINUTE_S;

/** The frame of a grid, begun in the hour of its end. `sinceS`: a grid that goes back to then gets longer while the frame serves. */
export function frameOf(grid: Grid, sinceS: number | null): Frame {
  const hourS = Math.floor(endOf(grid) / HOUR_S) * HOUR_S;
  const windowS = Math.min(grid.stepS, WINDOW_S);
  const windows =
    sinceS === null ? grid.points - 1 : Math.max(0, Math.floor((hourS + windowS - MINUTE_S - sinceS) / grid.stepS));
  return { startS: hourS - windows * grid.stepS, stepS: grid.stepS, windowS, windows, own: sinceS !== null };
}

/** Whether the moments of a grid, its newest one left out, stand in the windows of a frame. */
export function covers(frame: Frame, grid: Grid): boolean {
  const laterS = endOf(grid) - hourOf(frame);
  return frame.stepS === grid.stepS && laterS >= 0 && laterS < frame.windowS && frame.windows >= grid.points - 1;
}

/** Whether a newer frame could be begun. */
export const isOld = (frame: Frame, grid: Grid): boolean => endOf(grid) - hourOf(frame) >= HOUR_S;

/** The first slot at or after a time, Unix seconds; what lies before the frame belongs to its first slot. */
export function slotOf(frame: Frame, atS: number): number {
  if (atS <= frame.startS) return 0;
  const window = Math.floor((atS - frame.startS) / frame.stepS);
  const minute = Math.ceil((atS - frame.startS - window * frame.stepS) / MINUTE_S);
  const slots = slotsPerWindow(frame);
  return window * slots + Math.min(minute, slots);
}

/** The same in SQL, of an expression in Unix seconds; its parameters are `frameParams`. */
export const slotSql = (seconds: string): string =>
  `if(${seconds} <= {start:Int64}, 0, intDiv(${seconds} - {start:Int64}, {step:Int64}) * {slots:Int64}
          + least(intDiv((${seconds} - {start:Int64}) % {step:Int64} + ${MINUTE_S - 1}, ${MINUTE_S}), {slots:Int64}))`;
export const frameParams = (frame: Frame) => ({
  start: frame.startS,
  step: frame.stepS,
  slots: slotsPerWindow(frame),
});

/** A sum at each slot of a frame: where it changes, and from there on. */
export interface Steps {
  /** Ascending. */
  readonly slots: Uint32Array;
  readonly sums: BigInt64Array;
}

/** Steps of what is added at slots. */
export function stepsOf(added: ReadonlyMap<number, bigint>): Steps {
  const changed = [...added].filter(([, value]) => value !== 0n).sort(([a], [b]) => a - b);
  const sums = new BigInt64Array(changed.length);
  let sum = 0n;
  for (const [n, [, value]] of changed.entries()) {
    sum += value;
    sums[n] = sum;
  }
  return { slots: Uint32Array.from(changed, ([slot]) => slot), sums };
}

/** The sum at a time, Unix seconds. */
export function sumAt({ slots, sums }: Steps, frame: Frame, atS: number): bigint {
  const slot = slotOf(frame, atS);
  let [low, high] = [0, slots.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((slots[middle] as number) <= slot) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0n : (sums[low - 1] as bigint);
}
