import { median } from '../measure.js';
import { type BenchResult, type Figure, PER_MILLION, PER_THOUSAND_REQUESTS } from './figure.js';
import { type Bar, barChart } from './svg.js';

/** A load above this at the start means that other work ran on the machine. */
const QUIET_LOAD = 1;
/** Below it a figure is marked as a single or few runs. */
const ENOUGH_RUNS = 5;

/** Three significant digits, thousands separated. */
export function printed(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value === 0 ? '0' : value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
}

const low = (values: readonly number[]) => Math.min(...values);
const high = (values: readonly number[]) => Math.max(...values);
const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(head), `|${'---|'.repeat(head.length)}`, ...rows.map(row)].join('\n');

/** How many times better than `other` (above 1: better). */
const timesBetter = ({ better, values }: Figure, other: number) =>
  better === 'more' ? median(values) / other : other / median(values);

/** Cost of a unit of work with twice the work, relative to that with the work once: 1 is linear growth. */
export function growthOf(figure: Figure): number | null {
  if (figure.twice === undefined) return null;
  const [once, twice] = [median(figure.values), median(figure.twice.values)];
  const growth = figure.better === 'more' ? once / twice : twice / once;
  return figure.twice.whole === true ? growth / 2 : growth;
}

function spread(values: readonly number[]): string {
  if (values.length === 1) return '1 run';
  const runs = values.length < ENOUGH_RUNS ? `${values.length} runs: ` : '';
  return `${runs}${printed(low(values))} – ${printed(high(values))}`;
}

function figureRow(figure: Figure): string[] {
  const { name, unit, values, baseline, limit, twice } = figure;
  const growth = growthOf(figure);
  return [
    name,
    unit,
    printed(median(values)),
    spread(values),
    baseline === undefined ? '' : `${baseline.name}: ${printed(median(baseline.values))}`,
    baseline === undefined ? '' : `${printed(timesBetter(figure, median(baseline.values)))}x`,
    limit === undefined ? '' : `${limit.name}: ${printed(limit.value)} (${printed(timesBetter(figure, limit.value))}x)`,
    twice === undefined || growth === null
      ? ''
      : `${printed(median(twice.values))} with ${twice.work} (${printed(growth)}x)`,
  ];
}

const HEAD = ['Figure', 'Unit', 'Median', 'Least – most', 'Baseline', 'Better than it', 'Limit', 'Twice the work'];

const commandOf = ({ bench, settings }: Pick<BenchResult, 'bench' | 'settings'>) =>
  `\`${[...Object.entries(settings).map(([name, value]) => `${name}=${value}`), 'npm run bench --', bench].join(' ')}\``;

const minute = (iso: string) => `${iso.slice(0, 10)} ${iso.slice(11, 16)}`;

interface Cost {
  readonly bench: string;
  readonly figure: Figure;
}

function costsOf(results: readonly BenchResult[]): Cost[] {
  return results.flatMap(({ bench, figures }) =>
    figures
      .filter(({ unit }) => unit.startsWith(PER_MILLION) || unit === PER_THOUSAND_REQUESTS)
      // A figure with several baselines is listed once for each.
      .filter(({ name, unit }, n, all) => all.findIndex((one) => one.name === name && one.unit === unit) === n)
      .map((figure) => ({ bench, figure })),
  );
}

function chartsOf(results: readonly BenchResult[]): [name: string, alt: string, svg: string][] {
  const figures = results.flatMap(({ bench, figures }) => figures.map((figure) => ({ bench, figure })));
  const bar = (bench: string, figure: Figure, values: readonly number[], suffix: string): Bar => ({
    label: `${bench}: ${figure.name}`,
    value: median(values),
    low: low(values),
    high: high(values),
    text: `${printed(median(values))}${suffix}`,
  });
  const ratios = figures.flatMap(({ bench, figure }) =>
    figure.baseline === undefined
      ? []
      : [bar(bench, figure, [timesBetter(figure, median(figure.baseline.values))], 'x')],
  );
  const growth = figures.flatMap(({ bench, figure }) => {
    const value = growthOf(figure);
    return value === null ? [] : [bar(bench, figure, [value], 'x')];
  });
  const costs = costsOf(results)
    .filter(({ figure }) => figure.unit.startsWith(PER_MILLION))
    .map(({ bench, figure }) => bar(bench, figure, figure.values, ' s'));
  const charts: [string, string, readonly Bar[], { value: number; text: string } | undefined][] = [
    ['baselines', 'Times better than the baseline', ratios, { value: 1, text: 'as the baseline' }],
    ['growth', 'Cost of a unit of work with twice the work', growth, { value: 1, text: 'linear growth' }],
    ['costs', 'Processor seconds per million (line: least to most)', costs, undefined],
  ];
  return charts
    .filter(([, , bars]) => bars.length > 0)
    .map(([name, title, bars, reference]) => [name, title, barChart(title, bars, reference)]);
}

/**
 * The benchmark report: Markdown, and the plots that it links to by their file names in `benchmarks/`. `benches`: names of all benchmarks in the order of
 * the report, with what they measure; one without a result is listed as not measured.
 */
export function reportOf(
  benches: Readonly<Record<string, string>>,
  all: readonly BenchResult[],
): { readonly markdown: string; readonly plots: ReadonlyMap<string, string> } {
  const results = Object.keys(benches).flatMap((name) => all.find(({ bench }) => bench === name) ?? []);
  const missing = Object.keys(benches).filter((name) => !results.some(({ bench }) => bench === name));
  const busy = results.filter(({ loadBefore }) => loadBefore > QUIET_LOAD).map(({ bench }) => bench);
  const charts = chartsOf(results);
  const costs = costsOf(results);
  const parts = [
    '# Benchmarks',
    'Written by `npm run bench`, which runs all benchmarks; `npm run bench -- <name>` runs one, and `npm run bench -- report` writes this document from the newest result of each.',
    'Each figure is the median of its repetitions; fewer than five are marked. Baseline, limit and the figure with twice the work are of the same run. A ratio above 1 means better than the baseline. In the last column 1x means linear growth: each unit of work costs the same, and each request or event takes as long. Empty cells were not measured.',
    busy.length === 0
      ? ''
      : `Other work ran on the machine during ${busy.join(', ')} (load before the start in the table): read absolute values as lower bounds of the product, and compare ratios.`,
    missing.length === 0 ? '' : `Not measured: ${missing.map((bench) => `\`${bench}\``).join(', ')}.`,
    ...charts.map(([name, title]) => `![${title}](benchmarks/${name}.svg)`),
    ...(results.length === 0
      ? []
      : [
          '## Runs',
          table(
            ['Benchmark', 'Commit', 'Start, UTC', 'Took', 'Load before', 'Machine', 'Repeat'],
            results.map((result) => [
              result.bench,
              result.commit,
              minute(result.date),
              `${printed(result.tookS)} s`,
              result.loadBefore.toFixed(1),
              result.machine,
              commandOf(result),
            ]),
          ),
        ]),
    ...(costs.length === 0
      ? []
      : [
          '## Costs',
          'Time of one core. A core is busy when a process does a million of these in as many seconds.',
          table(
            ['Work', 'Unit', 'Median', 'Least – most', 'Benchmark'],
            costs.map(({ bench, figure }) => [
              figure.name,
              figure.unit,
              printed(median(figure.values)),
              spread(figure.values),
              bench,
            ]),
          ),
        ]),
    ...results.flatMap(({ bench, figures }) => [
      `## ${bench}`,
      benches[bench] ?? '',
      table(HEAD, figures.map(figureRow)),
    ]),
  ];
  return {
    markdown: `${parts.filter((part) => part !== '').join('\n\n')}\n`,
    plots: new Map(charts.map(([name, , svg]) => [`${name}.svg`, svg])),
  };
}
