import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { benches } from './benches.js';
import type { BenchResult, Figure } from './figure.js';
import { growthOf, printed, reportOf } from './report.js';
import { barChart } from './svg.js';

const quiet: BenchResult = {
  bench: 'fast',
  commit: 'abc1234',
  date: '2026-01-02T03:04:05.678Z',
  machine: '2 cores, 8 GiB, linux, Node 20.19.0',
  loadBefore: 0.2,
  tookS: 61,
  settings: {},
  figures: [
    {
      name: 'decoder',
      unit: 'logs/s',
      better: 'more',
      values: [100, 90, 120, 110, 95],
      baseline: { name: 'viem', values: [10, 12, 8] },
      limit: { name: 'copy in memory', value: 400 },
      twice: { work: '8 logs', values: [80] },
    },
  ],
};
const busy: BenchResult = {
  ...quiet,
  bench: 'slow',
  loadBefore: 3.14,
  settings: { BENCH_FILLS: '10' },
  figures: [
    { name: 'sink', unit: 'CPU s per million fills', better: 'less', values: [0.5, 1.5] },
    { name: 'GET /x', unit: 'CPU s per thousand requests', better: 'less', values: [2] },
  ],
};

it('the report has the exact text of hand-made results', () => {
  const names = { slow: 'Slow things.', fast: 'Fast things.', never: 'Not run.' };
  const { markdown, plots } = reportOf(names, [quiet, busy]);
  expect(markdown.slice(markdown.indexOf('Other work'))).toBe(`Other work ran on the machine during slow (load before \
the start in the table): read absolute values as lower bounds of the product, and compare ratios.

Not measured: \`never\`.

![Times better than the baseline](benchmarks/baselines.svg)

![Cost of a unit of work with twice the work](benchmarks/growth.svg)

![Processor seconds per million (line: least to most)](benchmarks/costs.svg)

## Runs

| Benchmark | Commit | Start, UTC | Took | Load before | Machine | Repeat |
|---|---|---|---|---|---|---|
| slow | abc1234 | 2026-01-02 03:04 | 61.0 s | 3.1 | 2 cores, 8 GiB, linux, Node 20.19.0 | \`BENCH_FILLS=10 npm run bench -- slow\` |
| fast | abc1234 | 2026-01-02 03:04 | 61.0 s | 0.2 | 2 cores, 8 GiB, linux, Node 20.19.0 | \`npm run bench -- fast\` |

## Costs

Time of one core. A core is busy when a process does a million of these in as many seconds.

| Work | Unit | Median | Least – most | Benchmark |
|---|---|---|---|---|
| sink | CPU s per million fills | 1.50 | 2 runs: 0.500 – 1.50 | slow |
| GET /x | CPU s per thousand requests | 2.00 | 1 run | slow |

## slow

Slow things.

| Figure | Unit | Median | Least – most | Baseline | Better than it | Limit | Twice the work |
|---|---|---|---|---|---|---|---|
| sink | CPU s per million fills | 1.50 | 2 runs: 0.500 – 1.50 |  |  |  |  |
| GET /x | CPU s per thousand requests | 2.00 | 1 run |  |  |  |  |

## fast

Fast things.

| Figure | Unit | Median | Least – most | Baseline | Better than it | Limit | Twice the work |
|---|---|---|---|---|---|---|---|
| decoder | logs/s | 100 | 90.0 – 120 | viem: 10.0 | 10.0x | copy in memory: 400 (0.250x) | 80.0 with 8 logs (1.25x) |
`);
  expect([...plots.keys()]).toEqual(['baselines.svg', 'growth.svg', 'costs.svg']);
});

it('a report without results lists all benchmarks as not measured and has no plots', () => {
  const { markdown, plots } = reportOf({ one: 'One.', two: 'Two.' }, []);
  expect(markdown).toContain('Not measured: `one`, `two`.');
  expect(markdown).not.toMatch(/!\[|\n## /);
  expect(plots.size).toBe(0);
});

it('growth is the cost of a unit of work with twice the work', () => {
  const figure: Figure = { name: 'n', unit: 'u', better: 'less', values: [10] };
  const twice = { work: 'w', values: [15] };
  expect(growthOf(figure)).toBeNull();
  expect(growthOf({ ...figure, twice })).toBe(1.5);
  expect(growthOf({ ...figure, better: 'more', twice })).toBeCloseTo(10 / 15, 9);
  expect(growthOf({ ...figure, twice: { ...twice, whole: true } })).toBe(0.75);
});

it('numbers are printed with three digits', () => {
  expect([0, 0.01234, 1.2, 99.94, 123.4, 1_234_567, Number.NaN].map(printed)).toEqual([
    ...['0', '0.0123', '1.20', '99.9', '123', '1,234,567', '–'],
  ]);
});

it('bars are placed on a logarithmic scale, and labels are escaped', () => {
  const bar = (label: string, value: number) => ({ label, value, low: value, high: value, text: `${value}x` });
  const svg = barChart('T', [bar('a < b', 1), bar('c', 10), bar('d', 100)], { value: 1, text: 'equal' });
  const widths = [...svg.matchAll(/class="bar"[^>]* width="([\d.]+)"/g)].map(([, width]) => Number(width));
  expect(widths[2]! - widths[1]!).toBeCloseTo(widths[1]! - widths[0]!, 0);
  expect(svg).toContain('>a &lt; b</text>');
  expect(svg).toContain('prefers-color-scheme: dark');
});

it('the list of benchmarks has every file', () => {
  const files = readdirSync(join(import.meta.dirname, '..')).filter((name) => name.endsWith('.bench.ts'));
  expect(Object.keys(benches).toSorted()).toEqual(files.map((name) => name.replace('.bench.ts', '')).toSorted());
});
