import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { ddlFor, localName } from '../../infra/clickhouse/cluster-ddl.js';
import { partitionsOf } from '../../infra/log/partitions.js';
import type { Log } from '../../infra/log/port.js';
import { topics } from '../../schemas/topics.js';
import { coverageFeeds } from '../coverage/tables.js';
import { ticks } from '../oracle/tables.js';

/** A feed as `coverage_feeds` counts it, with the first minute (Unix seconds) that has a tick. */
interface FirstMinute {
  readonly feed: string;
  readonly twap_window_s: number;
  readonly source: string;
  readonly minute: string;
}

/**
 * Returns a function that deletes the rows of `ticks` whose records the log has deleted, and their minutes from `coverage_feeds`; candles stay. The engine deletes
 * them in the background (a mutation), so the function starts that only when the log has lost further records.
 */
export function createTickRowDeletion(deps: {
  log: Pick<Log, 'partitions' | 'bounds'>;
  clickhouse: Pick<ClickHouse, 'query' | 'command' | 'cluster' | 'database'>;
}): () => Promise<void> {
  const { log, clickhouse } = deps;
  const { onCluster } = ddlFor(clickhouse);
  const topic = topics.oracleTicks;
  /** Start of each partition at the last deletion; null: none yet. */
  let done: string | null = null;

  const deleteRows = async (table: typeof ticks, where: string, params: Record<string, string | number>) => {
    const name = clickhouse.cluster === undefined ? table.name : localName(table);
    await clickhouse.command(`ALTER TABLE ${name}${onCluster} DELETE WHERE ${where}`, params);
  };

  return async () => {
    const starts = await Promise.all(
      (await partitionsOf(log, topic)).map(async (partition) => (await log.bounds(topic.name, partition)).earliest),
    );
    if (starts.join() === (done ?? starts.map(() => 0).join())) return;
    const deleted = starts.map((_, p) => `(_partition = ${p} AND _offset < {start${p}:UInt64})`).join(' OR ');
    const params = Object.fromEntries(starts.map((start, partition) => [`start${partition}`, start]));
    const [found] = await clickhouse.query<{ last: string | null }>(
      `SELECT toString(toUnixTimestamp(toStartOfMinute(maxOrNull(timestamp_ms)))) AS last FROM ticks WHERE ${deleted}`,
      params,
    );
    if (found !== undefined && found.last !== null) {
      const firstMinutes = await clickhouse.query<FirstMinute>(
        `SELECT feed, twap_window_s, source, toString(toUnixTimestamp(toStartOfMinute(min(timestamp_ms)))) AS minute
         FROM ticks WHERE NOT (${deleted}) GROUP BY feed, twap_window_s, source`,
        params,
      );
      const retained = firstMinutes.map(
        (_, i) =>
          `OR (feed = {feed${i}:String} AND twap_window_s = {twap${i}:UInt16} AND source = {source${i}:String} AND toUnixTimestamp(bucket) >= {minute${i}:UInt32})`,
      );
      const minutes = Object.fromEntries(
        firstMinutes.flatMap((one, i) => [
          [`feed${i}`, one.feed],
          [`twap${i}`, one.twap_window_s],
          [`source${i}`, one.source],
          [`minute${i}`, one.minute],
        ]),
      );
      const lost = `toUnixTimestamp(bucket) <= {last:UInt32} AND NOT (0 ${retained.join(' ')})`;
      await deleteRows(coverageFeeds, lost, { ...minutes, last: found.last });
      await deleteRows(ticks, deleted, params);
    }
    done = starts.join();
  };
}
