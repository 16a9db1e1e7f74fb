/** What `npm run export` writes: views of the analysts' database with a time column. Rows of a file are sorted by `orderBy`. */
export const datasets = {
  trades: {
    time: 'traded_at',
    orderBy: 'block_number, log_index',
    coverage: 'blocks',
    nameless: "slug = '' AND NOT is_combo",
  },
  trade_parties: {
    view: 'trade_parties_by_time',
    time: 'traded_at',
    orderBy: 'block_number, log_index',
    coverage: 'blocks',
    nameless: "slug = '' AND exchange_version != 3",
  },
  pnl_events: {
    time: 'happened_at',
    orderBy: 'block_number, log_index, wallet, token_id, event_id, leg',
    coverage: 'blocks',
    // Combos have no names either, and cannot be distinguished from other tokens.
    nameless: null,
  },
  redemptions: {
    time: 'redeemed_at',
    orderBy: 'block_number, log_index',
    coverage: 'blocks',
    nameless: "slug = ''",
  },
  splits_merges: {
    time: 'happened_at',
    orderBy: 'block_number, log_index',
    coverage: 'blocks',
    nameless: "slug = '' AND kind != 'conversion'",
  },
  resolutions: {
    time: 'resolved_at',
    orderBy: 'block_number, log_index',
    coverage: 'blocks',
    nameless: "slug = ''",
  },
  ticks: {
    time: 'tick_at',
    orderBy: 'tick_at, feed, twap_window_s, tick_id',
    coverage: null,
    nameless: null,
    // The view's 76 digits are for arithmetic; many readers of Parquet have at most 38.
    columns: `* REPLACE (CAST(price AS Decimal(38, 18)) AS price, CAST(bid AS Nullable(Decimal(38, 18))) AS bid, CAST(ask AS Nullable(Decimal(38, 18))) AS ask)`,
  },
} as const satisfies Readonly<Record<string, Dataset>>;

export interface Dataset {
  /** View with the same rows that finds those of a day fast; none: the one of the dataset's name. */
  readonly view?: string;
  /** Column by which a row belongs to a file. */
  readonly time: string;
  /** A total order: a repeated export has the same bytes. */
  readonly orderBy: string;
  /** Source in the view `coverage` that says whether a day is complete; null: none covers all of it. */
  readonly coverage: string | null;
  /** Rows whose market the catalogue does not list: their names are empty. null: not known. */
  readonly nameless: string | null;
  /** Columns of the file; none: all of the view. */
  readonly columns?: string;
}

export type DatasetName = keyof typeof datasets;
export const datasetNames = Object.keys(datasets) as DatasetName[];
