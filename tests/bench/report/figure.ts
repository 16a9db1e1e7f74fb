/** One figure of a benchmark. All values are of the same run of the benchmark, in `unit`. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  /** Which values are better: `more` for rates, `less` for times and costs. */
  readonly better: 'more' | 'less';
  /** One per repetition, at least one. */
  readonly values: readonly number[];
  /** The simplest thing that does the same work. */
  readonly baseline?: { readonly name: string; readonly values: readonly number[] };
  /** What the hardware allows, measured by a probe of the same run. */
  readonly limit?: { readonly name: string; readonly value: number };
  /** The figure with twice the work; `work` says what was doubled. `whole`: the figure is of the whole work, not of a unit, so that linear growth doubles it. */
  readonly twice?: { readonly work: string; readonly values: readonly number[]; readonly whole?: true };
}

/** Units of the figures that the report lists as costs: seconds of processor time. */
export const PER_MILLION = 'CPU s per million';
export const PER_THOUSAND_REQUESTS = 'CPU s per thousand requests';

/** The newest run of one benchmark. */
export interface BenchResult {
  readonly bench: string;
  /** Short hash of the commit, with `+` when files differed from it. */
  readonly commit: string;
  /** Start, ISO 8601 UTC. */
  readonly date: string;
  readonly machine: string;
  /** Mean number of running tasks in the minute before the start. */
  readonly loadBefore: number;
  readonly tookS: number;
  /** Environment variables that change the benchmark and were set. */
  readonly settings: Readonly<Record<string, string>>;
  readonly figures: readonly Figure[];
}
