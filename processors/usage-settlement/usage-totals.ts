import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { accountMeters } from '../../schemas/packages.js';
import type { ServicePeriod } from '../../schemas/service-period.js';
import type { AccountMeter } from '../../schemas/types.gen.js';

/** The running service period of an account, and where the one before began. */
export interface AccountPeriods {
  readonly accountId: string;
  readonly previousStartMs: number;
  readonly current: ServicePeriod;
}

/** Totals of one account and meter in the usage table. */
export interface UsageTotals {
  readonly accountId: string;
  readonly meter: AccountMeter;
  readonly used: number;
  /** Of the period before. */
  readonly previous: number;
}

interface Row {
  readonly account_id: string;
  readonly meter: AccountMeter;
  readonly used: string;
  readonly previous: string;
}

/** Of a DateTime. */
const MAX_TIME_MS = 4_294_967_295_000;

/** Totals grow: the greatest of an id counts. `transform` gives each account its own periods. */
const totalsSql = `SELECT account_id, meter,
    toString(sumIf(total, at >= start)) AS used,
    toString(sumIf(total, at < start)) AS previous
  FROM (
    SELECT account_id, meter, toUnixTimestamp(hour) AS at, max(quantity) AS total,
      transform(account_id, {ids:Array(String)}, {starts:Array(UInt32)}, toUInt32(4294967295)) AS start
    FROM usage
    WHERE account_id IN {ids:Array(String)} AND meter IN {meters:Array(String)} AND hour >= toDateTime({from:UInt32}, 'UTC')
      AND hour <= toDateTime({to:UInt32}, 'UTC')
      AND toUnixTimestamp(hour) >= transform(account_id, {ids:Array(String)}, {previous:Array(UInt32)}, toUInt32(4294967295))
    GROUP BY account_id, meter, hour, id
  )
  GROUP BY account_id, meter`;

/** Totals of the accounts that have usage, up to the hour that contains `toMs`. Rejects as the ClickHouse client does. */
export async function readUsageTotals(
  clickhouse: Pick<ClickHouse, 'query'>,
  accounts: readonly AccountPeriods[],
  signal: AbortSignal,
  toMs = MAX_TIME_MS,
): Promise<readonly UsageTotals[]> {
  if (accounts.length === 0) return [];
  const previous = accounts.map(({ previousStartMs }) => previousStartMs / 1000);
  const rows = await clickhouse.query<Row>(
    totalsSql,
    {
      ids: accounts.map(({ accountId }) => accountId),
      meters: accountMeters,
      starts: accounts.map(({ current }) => current.startMs / 1000),
      previous,
      from: Math.min(...previous),
      to: Math.floor(toMs / 1000),
    },
    { settings: { max_threads: 1, priority: '2' }, signal },
  );
  return rows.map((row) => ({
    accountId: row.account_id,
    meter: row.meter,
    used: Number(row.used),
    previous: Number(row.previous),
  }));
}

/** Position in the log, by partition, up to which the table has all totals. */
export async function readUsageProgress(
  clickhouse: Pick<ClickHouse, 'query'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  const rows = await clickhouse.query<{ partition: number; next_offset: string }>(
    "SELECT partition, toString(max(p.next_offset)) AS next_offset FROM sink_progress AS p WHERE sink = 'usage' GROUP BY partition",
    {},
    { signal },
  );
  return new Map(rows.map((row) => [Number(row.partition), Number(row.next_offset)]));
}
