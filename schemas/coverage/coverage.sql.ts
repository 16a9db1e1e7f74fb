import { MAX_BLOCK_GAP_S, MAX_BOOK_GAP_S, MAX_TICK_GAP_S, watchedContracts } from './sources.js';

/**
 * First block and its time, Unix milliseconds, of the newest stretch of blocks without a gap over the bound; nulls while there is no block. The history from
 * there on is complete.
 */
export const gaplessStartSql = `SELECT (argMaxOrNull(first_block, started), maxOrNull(started)) FROM (
        SELECT min(first_block) AS first_block, toInt64(toUnixTimestamp(min(first_at))) * 1000 AS started,
          started - toInt64(toUnixTimestamp(max(max(last_at)) OVER (ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))) * 1000 AS gap_ms
        FROM coverage_chain WHERE source = 'blocks' GROUP BY bucket
      ) WHERE gap_ms > ${MAX_BLOCK_GAP_S * 1000}`;

/** The first and the last day, as SQL expressions of type Date. */
export interface CoverageDateRange {
  readonly from: string;
  readonly to: string;
}

/** From the first day with a record of any source to today. */
export const fullDateRange: CoverageDateRange = {
  from: `assumeNotNull((SELECT min(day) FROM (
      SELECT toDate(min(bucket)) AS day FROM coverage_chain WHERE source = 'blocks' HAVING count() > 0
      UNION ALL SELECT toDate(min(bucket)) FROM coverage_feeds HAVING count() > 0
      UNION ALL SELECT toDate(min(updated_at)) FROM token_quotes HAVING count() > 0
      UNION ALL SELECT toDate(now('UTC'), 'UTC'))))`,
  to: "toDate(now('UTC'), 'UTC')",
};

const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const iso = (ms: string): string =>
  `formatDateTime(fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC'), '%Y-%m-%dT%H:%i:%SZ', 'UTC')`;
const time = (ms: string): string =>
  `formatDateTime(fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC'), '%H:%i:%S', 'UTC')`;
const DAY_MS = 86_400_000;

/** SQL expressions of Unix milliseconds, for a column of seconds or of milliseconds. */
const ms = {
  seconds: (column: string) => `toInt64(toUnixTimestamp(${column})) * 1000`,
  milliseconds: (column: string) => `toUnixTimestamp64Milli(${column})`,
};
const msOfDay = (day: string) => `toInt64(toUnixTimestamp(toDateTime(${day}, 'UTC'))) * 1000`;

/**
 * Aggregates rows per minute to rows per day with gaps: the intervals without a record from midnight to midnight. Two records of one minute are never
 * further apart than the bound, so the first and last record of each minute determine all gaps above the bound.
 */
function daysOf(options: { readonly minutes: string; readonly keys: string; readonly boundS: number }): string {
  const { minutes, keys, boundS } = options;
  return `SELECT ${keys}day, sum(records) AS records, min(first_block) AS first_block, max(last_block) AS last_block, min(first_ms) AS first_ms, max(last_ms) AS last_ms,
      max(change_ms) AS change_ms,
      arrayConcat([${msOfDay('day')}], arraySort(groupArray(last_ms_of_minute))) AS gap_starts,
      arrayConcat(arraySort(groupArray(first_ms_of_minute)), [${msOfDay('day')} + ${DAY_MS}]) AS gap_ends,
      arrayMap((a, b) -> b - a, gap_starts, gap_ends) AS gap_lengths,
      arrayCount(l -> l > ${boundS * 1000}, gap_lengths) AS gaps, arrayMax(gap_lengths) AS longest, indexOf(gap_lengths, longest) AS longest_at,
      gap_starts[longest_at] AS gap_from, gap_ends[longest_at] AS gap_to
    FROM (SELECT *, first_ms AS first_ms_of_minute, last_ms AS last_ms_of_minute FROM (${minutes})) GROUP BY ${keys}day`;
}

const gapText = (what: string): string =>
  `concat('${what} for ', toString(intDiv(longest, 1000)), ' seconds from ', ${time('gap_from')}, ' to ', if(gap_to = ${msOfDay('day')} + ${DAY_MS}, '24:00:00', ${time('gap_to')}), ' UTC', if(gaps > 1, concat(' and in ', toString(gaps - 1), ' shorter gaps'), ''), '.')`;

const dayGridSql = ({ from, to }: CoverageDateRange): string =>
  `SELECT toDate(${from}) + number AS day FROM numbers(toUInt64(greatest(0, dateDiff('day', toDate(${from}), toDate(${to})) + 1)))`;

/** Every column of the result, in order; each branch of the union provides expressions for its columns. */
const columns = (values: Readonly<Record<string, string>>): string =>
  [
    'day',
    'kind',
    'source',
    'address',
    'exchange_version',
    'state',
    'why',
    'records',
    'logs',
    'undecoded_logs',
    'first_block',
    'last_block',
    'first_ms',
    'last_ms',
    'change_ms',
    'gaps',
    'longest_gap_s',
  ]
    .map((name) => `${values[name] ?? 'NULL'} AS ${name}_`)
    .join(', ');

/** Days of the complete chain, on which every contract's day depends. */
function chainDays(days: CoverageDateRange): string {
  const minutes = `SELECT toDate(bucket) AS day, bucket, sum(records) AS records, min(first_block) AS first_block, max(last_block) AS last_block,
        ${ms.seconds('min(first_at)')} AS first_ms, ${ms.seconds('max(last_at)')} AS last_ms, last_ms AS change_ms
      FROM coverage_chain WHERE source = 'blocks' AND bucket >= toDateTime(${days.from}, 'UTC') AND bucket < toDateTime(${days.to} + 1, 'UTC') GROUP BY bucket`;
  return `SELECT g.day AS day, d.records AS records, d.first_block AS first_block, d.last_block AS last_block, d.first_ms AS first_ms, d.last_ms AS last_ms,
      d.change_ms AS change_ms, d.gaps AS gaps, d.longest AS longest, d.gap_from AS gap_from, d.gap_to AS gap_to, toDate(b.from_at) AS first_day, toDate(b.to_at) AS last_day,
      multiIf(b.blocks = 0, 'pending', day < first_day, 'missing', day >= last_day OR day >= toDate(now('UTC'), 'UTC'), 'pending', d.records = 0, 'missing',
        d.gaps > 0, 'degraded', 'available') AS state,
      multiIf(
        b.blocks = 0, 'No block is indexed yet.',
        day < first_day, concat('Before the first indexed block, ', toString(b.from_block), ' of ', ${iso(ms.seconds('b.from_at'))}, '.'),
        day > last_day, concat('Not reached yet: the last indexed block is ', toString(b.to_block), ' of ', ${iso(ms.seconds('b.to_at'))}, '.'),
        state = 'pending', concat('The day is indexed up to block ', toString(d.last_block), ' of ', ${iso('d.last_ms')}, '.'),
        d.records = 0, 'No block of this day is indexed.',
        d.gaps > 0, ${gapText('No block with a log of a watched contract')},
        concat('Indexed without a gap from block ', toString(d.first_block), ' to ', toString(d.last_block), '.')) AS why
    FROM (${dayGridSql(days)}) AS g
    LEFT JOIN (${daysOf({ minutes, keys: '', boundS: MAX_BLOCK_GAP_S })}) AS d ON d.day = g.day
    CROSS JOIN (SELECT count() AS blocks, min(first_block) AS from_block, max(last_block) AS to_block, min(first_at) AS from_at, max(last_at) AS to_at
      FROM coverage_chain WHERE source = 'blocks') AS b`;
}

const nullUnlessSql = (condition: string, value: string): string => `if(${condition}, toNullable(${value}), NULL)`;

function blockRows(days: CoverageDateRange): string {
  const has = 'records > 0';
  return `SELECT ${columns({
    day: 'day',
    kind: "'blocks'",
    source: "'blocks'",
    state: 'state',
    why: 'why',
    records: 'records',
    first_block: nullUnlessSql(has, 'first_block'),
    last_block: nullUnlessSql(has, 'last_block'),
    first_ms: nullUnlessSql(has, 'first_ms'),
    last_ms: nullUnlessSql(has, 'last_ms'),
    change_ms: nullUnlessSql(has, 'change_ms'),
    gaps: nullUnlessSql("has(['available', 'degraded'], state)", 'gaps'),
    longest_gap_s: nullUnlessSql("has(['available', 'degraded'], state)", 'intDiv(longest, 1000)'),
  })} FROM (${chainDays(days)})`;
}

function contractRows(days: CoverageDateRange): string {
  const list = watchedContracts
    .map(
      ({ name, address, exchangeVersion }) =>
        `(${literal(`contract:${name}`)}, ${literal(address)}, toUInt8(${exchangeVersion ?? 0}))`,
    )
    .join(', ');
  const has = 'k.logs > 0';
  const seen = "has(['available', 'degraded'], c.state)";
  const uncounted = `c.records > n.records`;
  const undecoded = 'k.logs - k.decoded';
  return `SELECT ${columns({
    day: 'c.day',
    kind: "'contract'",
    source: 'tupleElement(c.contract, 1)',
    address: 'toNullable(tupleElement(c.contract, 2))',
    exchange_version: 'nullIf(tupleElement(c.contract, 3), 0)',
    state: `if(c.state = 'available' AND (${uncounted} OR ${undecoded} > 0), 'degraded', c.state)`,
    why: `multiIf(
        ${seen} AND ${undecoded} > 0, concat(toString(${undecoded}), ' of ', toString(k.logs), ' logs of this contract were not decoded.', if(c.state = 'degraded', concat(' ', c.why), '')),
        ${seen} AND ${uncounted}, concat('Logs were not counted by contract in ', toString(c.records - n.records), ' of ', toString(c.records), ' blocks, which an older version indexed.'),
        c.state = 'available' AND k.logs = 0, concat('No logs of this contract that day. ', c.why),
        c.why)`,
    records: 'k.records',
    logs: 'toNullable(k.logs)',
    undecoded_logs: `toNullable(${undecoded})`,
    first_block: nullUnlessSql(has, 'k.first_block'),
    last_block: nullUnlessSql(has, 'k.last_block'),
    first_ms: nullUnlessSql(has, ms.seconds('k.first_at')),
    last_ms: nullUnlessSql(has, ms.seconds('k.last_at')),
    change_ms: nullUnlessSql(has, ms.seconds('k.last_at')),
  })}
    FROM (SELECT *, arrayJoin([${list}]) AS contract FROM (${chainDays(days)})) AS c
    LEFT JOIN (${contractDays("source != 'blocks'", days)}) AS k ON k.day = c.day AND k.source = tupleElement(c.contract, 2)
    LEFT JOIN (${contractDays("source = 'counted'", days)}) AS n ON n.day = c.day`;
}

const contractDays = (where: string, days: CoverageDateRange): string =>
  `SELECT toString(source) AS source, toDate(bucket) AS day, sum(records) AS records, sum(logs) AS logs, sum(decoded) AS decoded, min(first_block) AS first_block,
        max(last_block) AS last_block, min(first_at) AS first_at, max(last_at) AS last_at
      FROM coverage_chain WHERE ${where} AND bucket >= toDateTime(${days.from}, 'UTC') AND bucket < toDateTime(${days.to} + 1, 'UTC') GROUP BY source, day`;

function feedRows(days: CoverageDateRange): string {
  const minutes = `SELECT feed, twap_window_s, source, toDate(bucket) AS day, bucket, sum(records) AS records, toUInt64(0) AS first_block, toUInt64(0) AS last_block,
        ${ms.milliseconds('min(first_at)')} AS first_ms, ${ms.milliseconds('max(last_at)')} AS last_ms, ${ms.milliseconds('max(last_change)')} AS change_ms
      FROM coverage_feeds WHERE bucket >= toDateTime(${days.from}, 'UTC') AND bucket < toDateTime(${days.to} + 1, 'UTC') GROUP BY feed, twap_window_s, source, bucket`;
  const feedDays = daysOf({ minutes, keys: 'feed, twap_window_s, source, ', boundS: MAX_TICK_GAP_S });
  const has = 'records > 0';
  const seen = "has(['available', 'degraded'], state)";
  return `SELECT ${columns({
    day: 'day',
    kind: "'oracle'",
    source: "concat('oracle:', source, ':', feed, if(twap_window_s = 0, '', concat(':twap', toString(twap_window_s))))",
    state: 'state',
    why: `multiIf(
        day < first_day, concat('Before the first tick, of ', ${iso('from_ms')}, '.'),
        state = 'pending' AND ${has}, concat('The day is not over: the last tick is of ', ${iso('last_ms')}, '.'),
        state = 'pending', concat('The day is not over and has no tick yet: the last one is of ', ${iso('to_ms')}, '.'),
        day > last_day, concat('No tick since ', ${iso('to_ms')}, '.'),
        records = 0, 'No tick of this day.',
        gaps > 0, ${gapText('No tick')},
        'Ticks without a gap.')`,
    records: 'records',
    first_ms: nullUnlessSql(has, 'first_ms'),
    last_ms: nullUnlessSql(has, 'last_ms'),
    change_ms: nullUnlessSql(has, 'change_ms'),
    gaps: nullUnlessSql(seen, 'gaps'),
    longest_gap_s: nullUnlessSql(seen, 'intDiv(longest, 1000)'),
  })} FROM (
      SELECT g.day AS day, f.feed AS feed, f.twap_window_s AS twap_window_s, f.source AS source, f.from_ms AS from_ms, f.to_ms AS to_ms, toDate(f.from_at) AS first_day, toDate(f.to_at) AS last_day,
        d.records AS records, d.first_ms AS first_ms, d.last_ms AS last_ms, d.change_ms AS change_ms, d.gaps AS gaps, d.longest AS longest, d.gap_from AS gap_from, d.gap_to AS gap_to,
        multiIf(day < first_day, 'missing', day >= toDate(now('UTC'), 'UTC'), 'pending', d.records = 0, 'missing', d.gaps > 0, 'degraded', 'available') AS state
      FROM (${dayGridSql(days)}) AS g
      CROSS JOIN (SELECT feed, twap_window_s, source, min(first_at) AS from_at, max(last_at) AS to_at, toUnixTimestamp64Milli(from_at) AS from_ms, toUnixTimestamp64Milli(to_at) AS to_ms
        FROM coverage_feeds GROUP BY feed, twap_window_s, source) AS f
      LEFT JOIN (${feedDays}) AS d ON d.day = g.day AND d.feed = f.feed AND d.twap_window_s = f.twap_window_s AND d.source = f.source
    )`;
}

/** Days of the catalogue. Its topic is compacted: the log retains the newest version of each market, which is counted on the day of its write. */
function catalogueRows(days: CoverageDateRange): string {
  const newest = 'FROM token_quotes FINAL WHERE outcome_index = 0';
  const has = 'records > 0';
  return `SELECT ${columns({
    day: 'day',
    kind: "'catalogue'",
    source: "'catalogue'",
    state: 'state',
    why: `multiIf(
        total = 0, 'No market of the catalogue has been read yet.',
        day < first_day, concat('Before the oldest kept version of a market, of ', ${iso('from_ms')}, '.'),
        state = 'pending', concat('The day is not over: the last version of a market is of ', ${iso('to_ms')}, '.'),
        day > last_day, concat('No version of a market since ', ${iso('to_ms')}, '.'),
        records = 0, 'No market has its newest version from this day; older versions are not kept.',
        concat(toString(records), ' markets have their newest version from this day; older versions are not kept.'))`,
    records: 'records',
    first_ms: nullUnlessSql(has, 'first_ms'),
    last_ms: nullUnlessSql(has, 'last_ms'),
    change_ms: nullUnlessSql(has, 'last_ms'),
  })} FROM (
      SELECT g.day AS day, d.records AS records, d.first_ms AS first_ms, d.last_ms AS last_ms, b.total AS total, b.from_ms AS from_ms, b.to_ms AS to_ms,
        toDate(b.from_at) AS first_day, toDate(b.to_at) AS last_day,
        multiIf(total = 0, 'pending', day < first_day, 'missing', day >= toDate(now('UTC'), 'UTC'), 'pending', day > last_day, 'missing', 'available') AS state
      FROM (${dayGridSql(days)}) AS g
      LEFT JOIN (SELECT toDate(updated_at) AS day, count() AS records, toUnixTimestamp64Milli(min(updated_at)) AS first_ms, toUnixTimestamp64Milli(max(updated_at)) AS last_ms
        ${newest} GROUP BY day) AS d ON d.day = g.day
      CROSS JOIN (SELECT count() AS total, min(updated_at) AS from_at, max(updated_at) AS to_at, toUnixTimestamp64Milli(from_at) AS from_ms, toUnixTimestamp64Milli(to_at) AS to_ms ${newest}) AS b
    )`;
}

/** Days of the order books. Counts are of books per five minutes, since the topic of their changes retains an hour. */
function orderBookRows(days: CoverageDateRange): string {
  const buckets = `SELECT toDate(bucket) AS day, bucket, uniqCombinedMerge(12)(books) AS records, toUInt64(0) AS first_block, toUInt64(0) AS last_block,
        ${ms.milliseconds('min(first_at)')} AS first_ms, ${ms.milliseconds('max(last_at)')} AS last_ms, last_ms AS change_ms
      FROM coverage_books WHERE bucket >= toDateTime(${days.from}, 'UTC') AND bucket < toDateTime(${days.to} + 1, 'UTC') GROUP BY bucket`;
  const has = 'records > 0';
  const verified = `concat(toString(floor(100 * (1 - least(unverified / greatest(records, 1), 1)), 1)), ' % of the books per five minutes were verified throughout')`;
  return `SELECT ${columns({
    day: 'day',
    kind: "'order_book'",
    source: "'order_book'",
    state: 'state',
    why: `multiIf(
        buckets = 0, 'No order book has been read.',
        day < first_day, concat('Before the first order book, of ', ${iso('from_ms')}, '.'),
        state = 'pending' AND ${has}, concat('The day is not over: the last order book is of ', ${iso('last_ms')}, '; ', ${verified}, if(synthetic, '. Synthetic books around recorded trades, not of the venue.', '.')),
        state = 'pending', concat('The day is not over and has no order book yet: the last one is of ', ${iso('to_ms')}, '.'),
        records = 0, 'No order book of this day.',
        synthetic, 'Synthetic books around recorded trades, not of the venue.',
        gaps > 0, ${gapText('No order book')},
        concat('Order books without a gap; ', ${verified}, '.'))`,
    records: 'records',
    first_ms: nullUnlessSql(has, 'first_ms'),
    last_ms: nullUnlessSql(has, 'last_ms'),
    change_ms: nullUnlessSql(has, 'change_ms'),
    gaps: nullUnlessSql("has(['available', 'degraded'], state)", 'gaps'),
    longest_gap_s: nullUnlessSql("has(['available', 'degraded'], state)", 'intDiv(longest, 1000)'),
  })} FROM (
      SELECT g.day AS day, d.records AS records, d.first_ms AS first_ms, d.last_ms AS last_ms, d.change_ms AS change_ms, d.gaps AS gaps, d.longest AS longest,
        d.gap_from AS gap_from, d.gap_to AS gap_to, v.unverified AS unverified, v.synthetic AS synthetic, b.buckets AS buckets, b.from_ms AS from_ms, b.to_ms AS to_ms,
        toDate(b.from_at) AS first_day,
        multiIf(b.buckets = 0 OR day < first_day, 'missing', day >= toDate(now('UTC'), 'UTC'), 'pending', d.records = 0, 'missing', v.synthetic OR d.gaps > 0,
          'degraded', 'available') AS state
      FROM (${dayGridSql(days)}) AS g
      CROSS JOIN (SELECT count() AS buckets, min(first_at) AS from_at, toUnixTimestamp64Milli(min(first_at)) AS from_ms, toUnixTimestamp64Milli(max(last_at)) AS to_ms
        FROM coverage_books) AS b
      LEFT JOIN (${daysOf({ minutes: buckets, keys: '', boundS: MAX_BOOK_GAP_S })}) AS d ON d.day = g.day
      LEFT JOIN (SELECT toDate(bucket) AS day, sum(u) AS unverified, max(s) AS synthetic
        FROM (SELECT bucket, uniqCombinedIfMerge(12)(unverified) AS u, max(synthetic) AS s FROM coverage_books GROUP BY bucket) GROUP BY day) AS v ON v.day = g.day
    )`;
}

/**
 * One row per source and UTC day, with its state. Computed from tables that the sinks derive from the log (`coverage_chain`, `coverage_feeds`,
 * `coverage_books`, `token_quotes`), never from the status that a source reports. The rules:
 * - `pending`: today, a day that the index has not reached yet (blocks are read in order), or no block yet.
 * - `missing`: before the first record of the source, a day without blocks or ticks, or without order books.
 * - `degraded`: blocks, ticks or order books with a gap over the bound, synthetic order books, logs that were not decoded, or blocks whose logs were not counted by contract.
 * - `available`: all other days. Includes days of a contract without logs, when the day's blocks are indexed without a gap.
 */
export function coverageSql(days: CoverageDateRange): string {
  const types = {
    day: 'Date',
    kind: 'String',
    source: 'String',
    address: 'Nullable(String)',
    exchange_version: 'Nullable(UInt8)',
    state: 'String',
    why: 'String',
    records: 'UInt64',
    logs: 'Nullable(UInt64)',
    undecoded_logs: 'Nullable(UInt64)',
    first_block: 'Nullable(UInt64)',
    last_block: 'Nullable(UInt64)',
    first_ms: 'Nullable(Int64)',
    last_ms: 'Nullable(Int64)',
    change_ms: 'Nullable(Int64)',
    gaps: 'Nullable(UInt64)',
    longest_gap_s: 'Nullable(UInt64)',
  };
  const list = Object.entries(types).map(([name, type]) => `CAST(${name}_, '${type}') AS ${name}`);
  const branches = [blockRows, contractRows, feedRows, catalogueRows, orderBookRows];
  return `SELECT ${list.join(', ')} FROM (\n    ${branches.map((rows) => rows(days)).join('\n    UNION ALL\n    ')})`;
}
