import type { LoadCounts } from './load.child.js';
import { type Sample, type Trend, trendOf } from './samples.js';
import type { SubscribersMessage, SubscriberTotals } from './subscribers.child.js';

export interface Kill {
  readonly process: string;
  /** From SIGKILL to the process being ready again; null: not ready before the next kill. */
  readonly readyMs: number | null;
  /** Longest time without a frame at any filtered subscriber until the next kill. */
  readonly pauseMs: number;
}

export interface SoakResult {
  readonly minutes: number;
  readonly rate: number;
  readonly wallets: number;
  readonly fillsIn: number;
  readonly fillsInTable: number;
  readonly distinctFillsInTable: number;
  /** From the end of the input to the last fill being in the table; null: not within the time limit. */
  readonly tablesCompleteS: number | null;
  readonly verified: Extract<SubscribersMessage, { verified: unknown }>['verified'];
  readonly kills: readonly Kill[];
  readonly load: LoadCounts;
  readonly samples: readonly Sample[];
  readonly exitCode: number | null;
  readonly rebuild: { readonly code: number | null; readonly tables: number; readonly different: string };
}

/** Goal of the slope of memory in the second half. */
const MAX_MIB_PER_MINUTE = 1;

/** What is wrong with the result, one sentence each; empty: nothing was lost, doubled, out of order or different. */
export function problemsOf(result: SoakResult): string[] {
  const problems: string[] = [];
  const expect = (holds: boolean, text: string) => {
    if (!holds) problems.push(text);
  };
  const { verified, fillsIn } = result;
  expect(fillsIn > 0, 'no fills were mined');
  expect(result.fillsInTable === fillsIn, `table fills has ${result.fillsInTable} rows of ${fillsIn} fills`);
  expect(
    result.distinctFillsInTable === fillsIn,
    `table fills has ${result.distinctFillsInTable} distinct fills of ${fillsIn}`,
  );
  expect(verified.trades === fillsIn, `the stream has ${verified.trades} trades of ${fillsIn} fills`);
  expect(
    verified.transactions === fillsIn,
    `the stream has trades of ${verified.transactions} transactions of ${fillsIn}`,
  );
  for (const [name, totals] of [
    ['filtered', verified.filtered],
    ['slow', verified.slow],
  ] as const)
    for (const key of ['lost', 'doubled', 'outOfOrder', 'unexpected', 'different', 'behind'] as const)
      expect(totals[key] === 0, `${name} subscribers: ${totals[key]} ${key}`);
  for (const error of verified.errors) problems.push(`a subscriber received ${error}`);
  for (const { process, readyMs } of result.kills)
    expect(readyMs !== null, `${process} was not ready again before the next kill`);
  for (const status of Object.keys(result.load.rest))
    expect(
      ['200', '429', '503', 'unreachable'].includes(status),
      `REST clients received ${result.load.rest[status]} x ${status}`,
    );
  expect(result.exitCode === 0, `the product ended with ${result.exitCode}`);
  expect(result.rebuild.code === 0, `tables differ from the log: ${result.rebuild.different}`);
  return problems;
}

const whole = (value: number) => Math.round(value).toLocaleString('en');
const row = (cells: readonly (string | number)[]) =>
  `| ${cells.map((cell) => (typeof cell === 'number' ? whole(cell) : cell)).join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]) =>
  [row(head), `|${'---|'.repeat(head.length)}`, ...rows.map(row)].join('\n');
const seconds = (ms: number | null) =>
  ms !== null && Number.isFinite(ms) ? `${(ms / 1000).toFixed(1)} s` : 'not in time';

function killRows(kills: readonly Kill[]): (string | number)[][] {
  return [...new Set(kills.map(({ process }) => process))].sort().map((process) => {
    const own = kills.filter((kill) => kill.process === process);
    const ready = own.map(({ readyMs }) => readyMs ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);
    const pauses = own.map(({ pauseMs }) => pauseMs).sort((a, b) => a - b);
    const middle = Math.floor(own.length / 2);
    return [
      process,
      own.length,
      seconds(ready[middle] as number),
      seconds(ready.at(-1) as number),
      seconds(pauses[middle] as number),
      seconds(pauses.at(-1) as number),
    ];
  });
}

/** The result as Markdown. */
export function reportOf(result: SoakResult): string {
  const { verified } = result;
  const subscribers = (name: string, totals: SubscriberTotals) => [
    name,
    totals.subscribers,
    totals.delivered,
    ...(['lost', 'doubled', 'outOfOrder', 'different', 'unexpected', 'skipped', 'reconnects'] as const).map(
      (key) => totals[key],
    ),
  ];
  const trend = (name: string, { start, middle, end, slopePerMinute }: Trend) => [
    name,
    start,
    middle,
    end,
    slopePerMinute.toFixed(2),
  ];
  const counts = (name: keyof LoadCounts) => [
    name,
    Object.entries(result.load[name])
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([status, count]) => `${whole(count)} x ${status}`)
      .join(', '),
  ];
  return [
    `${result.minutes} minutes, ${result.rate} fills per second of ${whole(result.wallets)} wallets, ${result.kills.length} processes ended with SIGKILL.`,
    table(
      [
        'fills in',
        'in the stream',
        'in table `fills`',
        'distinct',
        'table complete after the end',
        'tables that differ from a rebuild',
      ],
      [
        [
          result.fillsIn,
          verified.trades,
          result.fillsInTable,
          result.distinctFillsInTable,
          seconds(result.tablesCompleteS === null ? null : result.tablesCompleteS * 1000),
          `${result.rebuild.different === '' ? 0 : result.rebuild.different} of ${result.rebuild.tables}`,
        ],
      ],
    ),
    table(
      [
        'subscribers',
        'number',
        'delivered',
        'lost',
        'doubled',
        'out of order',
        'other content',
        'unexpected',
        'skipped as announced',
        'reconnects',
      ],
      [subscribers('filtered', verified.filtered), subscribers('slow readers, all trades', verified.slow)],
    ),
    table(
      ['process killed', 'times', 'ready again, median', 'worst', 'longest pause of a subscriber, median', 'worst'],
      killRows(result.kills),
    ),
    table(
      ['all processes', 'start', 'middle', 'end', 'per minute in the second half'],
      [
        trend(
          'memory (PSS), MiB',
          trendOf(result.samples, ({ pssMiB }) => pssMiB),
        ),
        trend(
          'of it heaps and stacks, MiB',
          trendOf(result.samples, ({ anonymousMiB }) => anonymousMiB),
        ),
        trend(
          'open files',
          trendOf(result.samples, ({ openFiles }) => openFiles),
        ),
        trend(
          'data directory, MiB',
          trendOf(result.samples, ({ diskMiB }) => diskMiB),
        ),
      ],
    ),
    table(['clients', 'responses'], [counts('rest'), counts('analyst'), counts('hostile')]),
    `Goals: nothing lost, doubled or out of order; heaps and stacks grow by at most ${MAX_MIB_PER_MINUTE} MiB per minute in the second half (the rest of the memory is pages of the log, which the kernel takes back when it needs them).`,
  ].join('\n\n');
}
