export interface ViewColumn {
  readonly name: string;
  /** ClickHouse type of the column; the engine converts the expression to it. */
  readonly type: string;
  /** Unit, key or caveat; also the text of the data dictionary. */
  readonly comment: string;
  /** SQL over the tables of `from`. */
  readonly expression: string;
}

/** A view of the public database. Its name, columns and types are a contract with analysts: add, never rename. */
export interface PublicView {
  readonly name: string;
  /** The meaning of a row. */
  readonly summary: string;
  /** Columns that identify a row. */
  readonly key: readonly string[];
  /** Columns whose filters reach the primary key or a skipping index of the tables below. */
  readonly fastBy: readonly string[];
  /** Delay of rows behind the chain, the oracle or the catalogue. */
  readonly freshness: string;
  readonly caveat?: string;
  readonly columns: readonly ViewColumn[];
  /** FROM and what follows it, over unqualified tables of the internal database. */
  readonly from: string;
}

export const column = (name: string, type: string, expression: string, comment: string): ViewColumn => ({
  name,
  type,
  comment,
  expression,
});

export const TIME = "DateTime64(3, 'UTC')";
export const NULLABLE_TIME = `Nullable(${TIME})`;
/** Amounts of money and of shares: 6 decimals, as the chain counts them. */
export const AMOUNT = 'Decimal(38, 6)';
export const NULLABLE_AMOUNT = `Nullable(${AMOUNT})`;

/** Base units (1e-6) as a Decimal with 6 places; exact. */
export const amount = (baseUnits: string): string => `toDecimal128(${baseUnits}, 6) / 1000000`;

/** USD per share, rounded half up to 6 decimals; NULL without shares. All three operands stay integers. */
export const pricePerShare = (usdc: string, shares: string): string =>
  `if(${shares} = 0, NULL, ${amount(`intDiv(toUInt256(${usdc}) * 2000000 + ${shares}, 2 * toUInt256(greatest(${shares}, 1)))`)})`;

/** A published Float64 as a Decimal, by its shortest decimal text: a cast of the float truncates 0.29 to 0.289999. */
export const publishedDecimal = (float: string): string => `toDecimal128OrNull(toString(round(${float}, 6)), 6)`;

/** Names of an outcome token. `k` is the alias; the key of the tables on both sides is the token. */
export const tokenNamesJoin = (token: string): string =>
  `LEFT JOIN (SELECT token_id, condition_id, market_slug, outcome, event_slug FROM tokens FINAL) AS k ON k.token_id = ${token}`;

export const tokenColumns = (token: string): readonly ViewColumn[] => [
  column(
    'token_id',
    'UInt256',
    token,
    "Outcome token. Up to 78 digits: read it as text or as a big integer, and compare it with text, token_id = '123'; a number without quotes loses digits and matches nothing.",
  ),
  column(
    'condition_id',
    'String',
    'k.condition_id',
    "Market of the token; '' until the catalogue lists it, and for combos.",
  ),
  column('slug', 'String', 'k.market_slug', "Market's slug; '' until the catalogue lists the token, and for combos."),
  column('outcome', 'String', 'k.outcome', "Label of the outcome, e.g. Up; '' until the catalogue lists the token."),
  column(
    'event_slug',
    'String',
    "ifNull(k.event_slug, '')",
    "Slug of the market's event; '' when there is none or the catalogue does not list the token.",
  ),
];

export const FINAL_BLOCKS =
  'Final blocks only: rows appear seconds after the chain calls their block final, and never change.';
