import { coverageSql, fullDateRange } from '../../../schemas/coverage/coverage.sql.js';
import type { CoverageKind, CoverageState } from '../../../schemas/coverage/sources.js';
import type { Sql } from '../../tables/port.js';
import type { Millis } from '../../tables/values.js';

/** Row of the table `coverage`. Counts and block numbers are text. */
export interface CoverageRow {
  readonly day: string;
  readonly kind: CoverageKind;
  readonly source: string;
  readonly address: string | null;
  readonly exchange_version: number | null;
  readonly state: CoverageState;
  readonly why: string;
  readonly records: string;
  readonly logs: string | null;
  readonly undecoded_logs: string | null;
  readonly first_block: string | null;
  readonly last_block: string | null;
  readonly first_ms: Millis;
  readonly last_ms: Millis;
  readonly change_ms: Millis;
  readonly gaps: string | null;
  readonly longest_gap_s: string | null;
}

/** Days from..to, newest first. `source`: a source or a kind of source; '': all. */
export const coverageRowsSql = (of: { from: string; to: string; source: string; limit: number }): Sql => ({
  text: `SELECT toString(day) AS day, kind, source, address, exchange_version, state, why, toString(records) AS records, toString(logs) AS logs,
      toString(undecoded_logs) AS undecoded_logs, toString(first_block) AS first_block, toString(last_block) AS last_block, first_ms, last_ms, change_ms,
      toString(gaps) AS gaps, toString(longest_gap_s) AS longest_gap_s
    FROM (${coverageSql({ from: '{from:Date}', to: '{to:Date}' })}) AS c
    WHERE {source:String} = '' OR c.source = {source:String} OR c.kind = {source:String}
    ORDER BY c.day DESC, indexOf(['blocks', 'contract', 'oracle', 'catalogue', 'order_book'], kind), source LIMIT {limit:UInt32}`,
  params: of,
});

/** Sources of one kind on one day. Counts are text. */
export interface CoverageDayRow {
  readonly day: string;
  readonly kind: CoverageKind;
  readonly state: CoverageState;
  readonly sources: string;
  readonly available: string;
  readonly why: string;
}

/** The last `days` days up to today per kind of source, newest first, without those on which every source is missing. */
export const coverageDaysSql = ({ days }: { days: number }): Sql => ({
  text: `SELECT toString(c.day) AS day, c.kind AS kind,
      multiIf(countIf(c.state = 'degraded') > 0 OR (countIf(c.state = 'missing') > 0 AND countIf(c.state != 'missing') > 0), 'degraded',
        countIf(c.state = 'pending') > 0, 'pending', 'available') AS state,
      toString(count()) AS sources, toString(countIf(c.state = 'available')) AS available,
      argMax(c.why, indexOf(['available', 'pending', 'missing', 'degraded'], c.state)) AS why
    FROM (${coverageSql({ from: `greatest(${fullDateRange.from}, toDate(now('UTC'), 'UTC') - {days:UInt16} + 1)`, to: fullDateRange.to })}) AS c
    GROUP BY c.day, c.kind HAVING countIf(c.state != 'missing') > 0
    ORDER BY c.day DESC, indexOf(['blocks', 'contract', 'oracle', 'catalogue', 'order_book'], c.kind)`,
  params: { days },
});
