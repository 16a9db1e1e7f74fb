/** What `npm run export` writes: views of the analysts' database with a time column. Rows of a file are sorted by `orderBy`. */
export const datasets = {
  trades: { time: 'traded_at', orderBy: 'block_number, log_index', coverage: 'blocks' },
  trade_parties: { time: 'traded_at', orderBy: 'block_number, log_index', coverage: 'blocks' },
  pnl_events: {
    time: 'happened_at',
    orderBy: 'block_number, log_index, wallet, token_id, event_id, leg',
    coverage: 'blocks',
  },
  redemptions: { time: 'redeemed_at', orderBy: 'block_number, log_index', coverage: 'blocks' },
  splits_merges: { time: 'happened_at', orderBy: 'block_number, log_index', coverage: 'blocks' },
  resolutions: { time: 'resolved_at', orderBy: 'block_number, log_index', coverage: 'blocks' },
  ticks: { time: 'tick_at', orderBy: 'tick_at, feed, twap_window_s, tick_id', coverage: null },
} as const satisfies Readonly<Record<string, Dataset>>;

export interface Dataset {
  /** Column by which a row belongs to a file. */
  readonly time: string;
  /** A total order: a repeated export has the same bytes. */
  readonly orderBy: string;
  /** Source in the view `coverage` that says whether a day is complete; null: none covers all of it. */
  readonly coverage: string | null;
}

export type DatasetName = keyof typeof datasets;
export const datasetNames = Object.keys(datasets) as DatasetName[];
