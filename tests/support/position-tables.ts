import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { computeBlockActivity } from '../../processors/activity/block-activity.js';
import { createTokens } from '../../processors/activity/tokens.js';
import { applyActivity } from '../../processors/positions/apply-activity.js';
import { pnlSink, positionsSink } from '../../processors/positions/sink.js';
import { RowBuffer } from '../../processors/sink/row-buffer.js';
import type { SinkDefinition } from '../../processors/sink/sink-definition.js';
import { SINK_FORMAT } from '../../processors/sink/table-store.js';
import { createHolding, type Holding } from '../../schemas/accounting/holding.js';
import type { AnyEvent } from '../../schemas/codec.js';
import type { ActivityState, PnlEvent } from '../../schemas/types.gen.js';

/** Inserts a sink's rows of the records, and the sink's progress, as its process does. */
export async function insertRecords(
  clickhouse: ClickHouse,
  sink: SinkDefinition,
  records: readonly { readonly event: AnyEvent; readonly partition: number; readonly offset: number }[],
): Promise<void> {
  const inserts = new Map<string, { columns: readonly string[]; rows: RowBuffer }>();
  const ends = new Map<number, number>();
  for (const { event, partition, offset } of records) {
    sink.rows(event, { partition, offset, timestampMs: 0 }, (table, row) => {
      const into = inserts.get(table.name) ?? { columns: table.columns, rows: new RowBuffer(table.header) };
      table.write(into.rows, row);
      inserts.set(table.name, into);
    });
    ends.set(partition, Math.max(ends.get(partition) ?? 0, offset + 1));
  }
  for (const [table, { columns, rows }] of inserts) {
    rows.commit();
    await clickhouse.insertBytes(table, SINK_FORMAT, rows.content(), { columns });
  }
  await clickhouse.insertRows(
    'sink_progress',
    [...ends].map(([partition, next_offset]) => ({
      sink: sink.name,
      topic: sink.topic.name,
      partition,
      next_offset,
    })),
  );
}

/** Derives `positions` and `pnl_events` from blocks with the processors' functions, without their processes. */
export function createPositionTables(clickhouse: ClickHouse, partitions: number) {
  const tokens = createTokens();
  const memory = new Map<string, ActivityState>();
  const holdings = new Map<string, Holding>();
  const offsets = new Map<string, number>();
  const next = (topic: string, partition: number) => {
    const offset = offsets.get(`${topic} ${partition}`) ?? 0;
    offsets.set(`${topic} ${partition}`, offset + 1);
    return offset;
  };
  const partitionOf = (wallet: string) => Number(BigInt(wallet) % BigInt(partitions));
  return {
    async apply(blocks: readonly (readonly AnyEvent[])[]): Promise<void> {
      const changed = new Set<string>();
      const events: PnlEvent[] = [];
      const states = {
        get: (id: string) => memory.get(id),
        set: (id: string, value: ActivityState) => void memory.set(id, value),
      };
      for (const block of blocks)
        for (const activity of computeBlockActivity([...block], tokens, states).activity) {
          const keyOf = (token: string) => `${activity.wallet} ${token}`;
          const changes = applyActivity(activity, {
            get: (token) => holdings.get(keyOf(token)),
            getOrCreate(token) {
              const key = keyOf(token);
              const holding = holdings.get(key) ?? createHolding(activity.wallet, token, activity.timestamp_ms);
              holdings.set(key, holding);
              return holding;
            },
          });
          for (const change of changes) changed.add(keyOf(change.token_id));
          events.push(...changes);
        }
      const positions = [...changed].map((key) => {
        const value = { ...(holdings.get(key) as Holding) };
        const partition = partitionOf(value.wallet);
        return { event: { kind: 'position', value } as AnyEvent, partition, offset: next('positions', partition) };
      });
      await insertRecords(clickhouse, positionsSink, positions);
      const changes = events.map((value) => ({
        event: { kind: 'pnl_event', value } as AnyEvent,
        partition: 0,
        offset: next('pnl', 0),
      }));
      await insertRecords(clickhouse, pnlSink, changes);
    },
  };
}
