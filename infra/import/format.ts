/** Files that `npm run import` writes and that ingest reads as a recorded source. */

/** `format` of the manifest; 1 is the project's own recording. */
export const IMPORT_FORMAT = 2;

export interface ImportedFile {
  readonly file: string;
  readonly sha256: string;
  readonly rows: number;
}

/** Rows of one UTC day, ordered by block and log index. */
export interface ImportedChainFile extends ImportedFile {
  /** Blocks with rows. */
  readonly blocks: number;
  readonly first_block: number;
  readonly last_block: number;
}

export interface ImportManifest {
  readonly format: typeof IMPORT_FORMAT;
  /** Unix seconds: start of the first day and end of the last. */
  readonly from_s: number;
  readonly to_s: number;
  readonly chain: readonly ImportedChainFile[];
  readonly ticks: readonly ImportedFile[];
  readonly markets: ImportedFile;
}

/** A row of a chain file: one log. Amounts are base units (1e-6) as decimal text; fields that a kind does not have are empty. */
export interface ImportedChainRow {
  readonly kind: 'fill' | 'split' | 'merge' | 'conversion' | 'redemption' | 'resolution';
  readonly block: number;
  readonly log: number;
  /** Unix seconds. */
  readonly time: number;
  readonly tx: string;
  readonly wallet: string;
  readonly condition: string;
  readonly token: string;
  readonly side: string;
  /** Of a fill: the taker of a maker's order; empty for the taker's own order. */
  readonly taker: string;
  readonly shares: string;
  readonly usd: string;
  readonly fee: string;
  readonly fee_shares: string;
  readonly builder: string;
  /** Generation of the exchange. */
  readonly version: number;
  readonly order: string;
  /** Index sets of a redemption or conversion, decimal. */
  readonly sets: readonly string[];
  /** Neg-risk market of a conversion. */
  readonly market: string;
  /** Contract that redeemed for the wallet. */
  readonly through: string;
  readonly payouts: readonly string[];
  readonly oracle: string;
  readonly question: string;
}

/** A row of a tick file, ordered by time. Prices are decimal text. */
export interface ImportedTick {
  readonly feed: string;
  /** 0: a spot price. */
  readonly window: number;
  /** Unix milliseconds. */
  readonly time: number;
  readonly received: number;
  readonly price: string;
  readonly bid: string | null;
  readonly ask: string | null;
}

/** A condition of the rows. */
export interface ImportedMarket {
  readonly condition: string;
  /** Empty: the exporting service's catalogue did not have the market. */
  readonly slug: string;
  readonly event: string;
  readonly neg_risk: boolean;
  readonly tokens: readonly [string, string];
  readonly outcomes: readonly [string, string];
  readonly question: string | null;
  /** Unix seconds; null: not settled in the files. */
  readonly resolved: number | null;
  /** Index of the only outcome that was paid; null: none or several. */
  readonly winner: number | null;
}
