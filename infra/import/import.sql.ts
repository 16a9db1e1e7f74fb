import type { ExportedFile, ImportedDataset } from './exported-files.js';
import type { ImportedChainRow } from './format.js';

const TIME = "DateTime64(3, 'UTC')";
const MONEY = 'Decimal(38, 6)';

/** A literal of ClickHouse. */
export const text = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const place = { block_number: 'UInt64', log_index: 'UInt32', tx_hash: 'String', condition_id: 'String' } as const;

/** Columns that are read of each dataset, with the types of the views. `is_neg_risk` is NULL in files of versions without it. */
const columns: Readonly<Record<ImportedDataset, Readonly<Record<string, string>>>> = {
  trade_parties: {
    ...place,
    traded_at: TIME,
    wallet: 'String',
    slug: 'String',
    event_slug: 'String',
    outcome: 'String',
    token_id: 'UInt256',
    is_taker: 'Bool',
    side: 'String',
    shares: MONEY,
    party_usd: MONEY,
    fee_usd: MONEY,
    fee_shares: MONEY,
    counterparty: 'String',
    builder: 'String',
    exchange_version: 'UInt8',
    order_hash: 'String',
  },
  redemptions: {
    ...place,
    redeemed_at: TIME,
    wallet: 'String',
    slug: 'String',
    event_slug: 'String',
    payout_usd: MONEY,
    redeemed_through: 'String',
    index_sets: 'Array(String)',
    is_neg_risk: 'Nullable(Bool)',
  },
  splits_merges: {
    ...place,
    happened_at: TIME,
    wallet: 'String',
    slug: 'String',
    event_slug: 'String',
    kind: 'String',
    neg_risk_market_id: 'String',
    amount: MONEY,
    index_sets: 'Array(String)',
    is_neg_risk: 'Nullable(Bool)',
  },
  resolutions: {
    ...place,
    resolved_at: TIME,
    slug: 'String',
    event_slug: 'String',
    oracle: 'String',
    question_id: 'String',
    payouts: 'Array(String)',
  },
  ticks: {
    tick_at: TIME,
    received_at: TIME,
    feed: 'String',
    twap_window_s: 'UInt16',
    price: 'Decimal(38, 18)',
    bid: 'Nullable(Decimal(38, 18))',
    ask: 'Nullable(Decimal(38, 18))',
    tick_id: 'String',
  },
};

const FORMATS = { parquet: 'Parquet', csv: 'CSVWithNames' } as const;

/** Rows of files of one dataset, both formats. A row that is in several files is returned once per file. */
function rowsOf(dataset: ImportedDataset, files: readonly ExportedFile[]): string {
  const types = columns[dataset];
  const structure = Object.entries(types)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');
  return files
    .map(
      ({ path, format }) =>
        `SELECT ${Object.keys(types).join(', ')} FROM file(${text(path)}, ${FORMATS[format]}, ${text(structure)})`,
    )
    .join(' UNION ALL ');
}

const units = (decimal: string): string => `toString(toUInt256(${decimal} * 1000000))`;

const defaults = {
  wallet: "''",
  token: "''",
  side: "''",
  taker: "''",
  shares: "''",
  usd: "''",
  fee: "''",
  fee_shares: "''",
  builder: "''",
  version: '0',
  order: "''",
  sets: 'emptyArrayString()',
  market: "''",
  through: "''",
  payouts: 'emptyArrayString()',
  oracle: "''",
  question: "''",
};
type Field = keyof typeof defaults;

/** Fields of ImportedChainRow of each dataset of the chain. */
const fields: Readonly<
  Record<
    Exclude<ImportedDataset, 'ticks'>,
    { readonly kind: string; readonly time: string } & Partial<Record<Field, string>>
  >
> = {
  trade_parties: {
    kind: "'fill'",
    time: 'traded_at',
    wallet: 'wallet',
    token: 'toString(token_id)',
    side: 'side',
    taker: "if(is_taker, '', counterparty)",
    shares: units('shares'),
    usd: units('party_usd'),
    fee: units('fee_usd'),
    fee_shares: units('fee_shares'),
    builder: 'builder',
    version: 'exchange_version',
    order: 'order_hash',
  },
  redemptions: {
    kind: "'redemption'",
    time: 'redeemed_at',
    wallet: 'wallet',
    usd: units('payout_usd'),
    sets: 'index_sets',
    through: 'redeemed_through',
  },
  splits_merges: {
    kind: 'kind',
    time: 'happened_at',
    wallet: 'wallet',
    shares: units('amount'),
    sets: 'index_sets',
    market: 'neg_risk_market_id',
  },
  resolutions: {
    kind: "'resolution'",
    time: 'resolved_at',
    payouts: 'payouts',
    oracle: 'oracle',
    question: 'question_id',
  },
};
type ChainDataset = keyof typeof fields;
export const chainDatasets = Object.keys(fields) as ChainDataset[];

const filesOf = (files: readonly ExportedFile[], dataset: ImportedDataset) =>
  files.filter((file) => file.dataset === dataset);

/** Rows of the chain as `ImportedChainRow`, each once, in chain order. */
export function chainRowsSql(files: readonly ExportedFile[]): string {
  const parts = chainDatasets.flatMap((dataset) => {
    const of = filesOf(files, dataset);
    if (of.length === 0) return [];
    const { kind, time, ...own } = fields[dataset];
    const rest = Object.entries({ ...defaults, ...own }).map(([name, expression]) => `${expression} AS f_${name}`);
    return [
      `SELECT ${kind} AS f_kind, block_number AS f_block, log_index AS f_log, toUnixTimestamp(${time}) AS f_time, tx_hash AS f_tx, condition_id AS f_condition, ${rest.join(', ')} FROM (${rowsOf(dataset, of)})`,
    ];
  });
  const names = ['kind', 'block', 'log', 'time', 'tx', 'condition', ...Object.keys(defaults)];
  return `SELECT ${names.map((name) => `f_${name} AS ${name}`).join(', ')} FROM (${parts.join(' UNION ALL ')}) ORDER BY f_block, f_log LIMIT 1 BY f_block, f_log`;
}

const ADDRESS = '^0x[0-9a-f]{40}$';
const BYTES32 = '^0x[0-9a-f]{64}$';
const WHOLE = '^[0-9]{1,78}$';

/** Fields of ImportedChainRow with the form of their text; an empty text is a field that the kind of row does not have. */
const forms: Readonly<Partial<Record<keyof ImportedChainRow, string>>> = {
  tx: BYTES32,
  // A combo's condition has 31 bytes.
  condition: '^0x[0-9a-f]{62}([0-9a-f]{2})?$',
  wallet: ADDRESS,
  taker: ADDRESS,
  side: '^(BUY|SELL)$',
  kind: '^(fill|split|merge|conversion|redemption|resolution)$',
  builder: BYTES32,
  order: BYTES32,
  market: BYTES32,
  oracle: ADDRESS,
  question: BYTES32,
};

/** The first row of a file of ImportedChainRow with a text or list of another form, at most one. `path`: see chainRowsSql. */
export function invalidRowSql(path: string): string {
  const texts = Object.keys(forms);
  const structure = [...texts.map((name) => `${name} String`), 'sets Array(String)', 'payouts Array(String)'].join(
    ', ',
  );
  const problem = (condition: string, name: string, value: string) => `${condition}, ('${name}', ${value})`;
  const problems = [
    ...Object.entries(forms).map(([name, form]) =>
      problem(`${name} != '' AND NOT match(${name}, ${text(form)})`, name, name),
    ),
    ...['sets', 'payouts'].map((name) =>
      problem(`NOT arrayAll(one -> match(one, ${text(WHOLE)}), ${name})`, name, `toString(${name})`),
    ),
  ];
  return `SELECT toString(block) AS block, log, bad.1 AS field, bad.2 AS value FROM (
    SELECT block, log, multiIf(${problems.join(', ')}, ('', '')) AS bad
    FROM file(${text(path)}, JSONEachRow, ${text(`block UInt64, log UInt32, ${structure}`)}))
  WHERE bad.1 != '' LIMIT 1`;
}

/** Ticks as `ImportedTick`, each once, by time. */
export const tickRowsSql = (files: readonly ExportedFile[]): string =>
  `SELECT feed, twap_window_s AS window, toUnixTimestamp64Milli(tick_at) AS time, toUnixTimestamp64Milli(received_at) AS received, toString(price) AS price,
    if(bid IS NULL, NULL, toString(assumeNotNull(bid))) AS bid, if(ask IS NULL, NULL, toString(assumeNotNull(ask))) AS ask
  FROM (${rowsOf('ticks', filesOf(files, 'ticks'))} ) AS t ORDER BY tick_at, t.feed, twap_window_s, tick_id LIMIT 1 BY tick_id`;

/** A condition with its names, the tokens of its fills with their labels, and its resolution. */
export interface ConditionRow {
  readonly condition: string;
  readonly slug: string;
  readonly event: string;
  readonly labels: readonly (readonly [token: string, outcome: string])[];
  /** By its redemptions, splits and merges; null: they do not tell. */
  readonly neg_risk: boolean | null;
  readonly oracle: string;
  readonly question: string;
  /** 0: not settled. */
  readonly resolved: number;
  readonly payouts: readonly string[];
}

const conditionTypes: Readonly<Record<keyof ConditionRow, string>> = {
  condition: 'String',
  slug: 'String',
  event: 'String',
  labels: 'Array(Tuple(String, String))',
  neg_risk: 'Nullable(Bool)',
  oracle: 'String',
  question: 'String',
  resolved: 'UInt32',
  payouts: 'Array(String)',
};

/** Fields of ConditionRow that a dataset has besides the names. */
const conditionFields: Readonly<Record<ChainDataset, Partial<Record<keyof ConditionRow, string>>>> = {
  trade_parties: { labels: '[(toString(token_id), outcome)]' },
  redemptions: {
    neg_risk:
      "multiIf(redeemed_through = 'AutoRedeemer.NegRiskRedemption', true, redeemed_through = 'AutoRedeemer.BinaryRedemption', false, is_neg_risk)",
  },
  splits_merges: { neg_risk: 'is_neg_risk' },
  resolutions: {
    oracle: 'oracle',
    question: 'question_id',
    resolved: 'toUnixTimestamp(resolved_at)',
    payouts: 'payouts',
  },
};

/** One ConditionRow per condition of rows of ConditionRow. */
const unitedSql = (rows: string): string =>
  `SELECT c.condition AS condition, max(c.slug) AS slug, max(c.event) AS event, arraySort(groupUniqArrayArray(c.labels)) AS labels, max(c.neg_risk) AS neg_risk,
    max(c.oracle) AS oracle, max(c.question) AS question, max(c.resolved) AS resolved, max(c.payouts) AS payouts
  FROM (${rows}) AS c GROUP BY c.condition ORDER BY c.condition`;

/** Conditions of a day's files as ConditionRow. */
export function conditionsSql(files: readonly ExportedFile[]): string {
  const parts = chainDatasets.flatMap((dataset) => {
    const of = filesOf(files, dataset);
    if (of.length === 0) return [];
    const own = { condition: 'condition_id', slug: 'slug', event: 'event_slug', ...conditionFields[dataset] };
    const all = Object.entries(conditionTypes).map(
      ([name, type]) => `${own[name as keyof ConditionRow] ?? `defaultValueOfTypeName(${text(type)})`} AS f_${name}`,
    );
    return [`SELECT ${all.join(', ')} FROM (${rowsOf(dataset, of)}) WHERE condition_id != ''`];
  });
  const names = Object.keys(conditionTypes).map((name) => `f_${name} AS ${name}`);
  return unitedSql(`SELECT ${names.join(', ')} FROM (${parts.join(' UNION ALL ')})`);
}

/** Conditions of files of ConditionRow that a pattern names: of all days, in a statement that does not grow with them. */
export function allConditionsSql(pattern: string): string {
  const structure = Object.entries(conditionTypes).map(([name, type]) => `${name} ${type}`);
  return unitedSql(`SELECT * FROM file(${text(pattern)}, JSONEachRow, ${text(structure.join(', '))})`);
}
