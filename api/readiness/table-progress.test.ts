import { beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { allTopics } from '../../schemas/topics.js';
import type { SourceStatus } from '../../schemas/types.gen.js';
import { createTableProgress, type TableProgress } from './table-progress.js';

type Progress = Pick<SourceStatus, 'phase' | 'progress'>;

/** A log and tables reduced to their sizes. Record n of chain.final belongs to block 100 + n, n seconds after the start of 2026. */
class World {
  nowMs = Date.UTC(2026, 6, 1);
  /** Records by topic/partition. */
  log = new Map<string, number>();
  /** By group and partition. */
  committed = new Map<string, number>();
  /** By sink/partition. */
  committedOffsets = new Map<string, number>();
  sources = new Map<string, Progress>();
  snapshotMs = 0;
  ranked = 0;

  open(): TableProgress {
    const size = (topic: string, partition: number) => this.log.get(`${topic}/${partition}`) ?? 0;
    const record = (offset: number) => ({
      offset,
      key: String(100 + offset),
      value: null,
      timestampMs: Date.UTC(2026, 0, 1) + offset * 1_000,
    });
    return createTableProgress({
      nowMs: () => this.nowMs,
      logger: silentLogger(),
      sources: { get: (source) => this.sources.get(source) as SourceStatus | undefined },
      tables: {
        rows: async <T>({ text }: { text: string }): Promise<T[]> => {
          if (text.includes('venue_totals')) return [{ taken_ms: String(this.snapshotMs), ranked: this.ranked }] as T[];
          return [...this.committedOffsets].map(([at, next]) => {
            const [sink, partition] = at.split('/');
            const { key, timestampMs } = record(next - 1);
            return { sink, partition: Number(partition), next: String(next), key, time_ms: String(timestampMs) };
          }) as T[];
        },
      },
      log: {
        partitions: async (topic) => allTopics.find(({ name }) => name === topic)?.partitions ?? 0,
        bounds: async (topic, partition) => ({ earliest: 0, next: size(topic, partition) }),
        lastRecord: async (topic, partition) =>
          size(topic, partition) === 0 ? null : record(size(topic, partition) - 1),
        committed: async (group, topic) => {
          const partition = group === 'activity' ? 0 : Number(group.slice('positions-'.length));
          const nextOffset = this.committed.get(group);
          return nextOffset === undefined ? [] : [{ topic, partition, nextOffset }];
        },
        async *read({ topic, partition, from }) {
          const offset = (from as { offset: number }).offset;
          yield { topic, partition, records: [record(offset)], nextOffset: offset + 1 };
        },
      },
    });
  }
}

let world: World;
let progress: TableProgress;
const states = async () => {
  const { groups } = await progress.measure();
  return Object.fromEntries(Object.values(groups).map(({ table, state, percent }) => [table, `${state} ${percent}`]));
};
const commitToTables = (next: number, ...sinks: string[]) => {
  for (const sink of sinks) world.committedOffsets.set(`${sink}/0`, next);
};

beforeEach(() => {
  world = new World();
  world.log.set('chain.final/0', 200).set('oracle.ticks/0', 40).set('catalog/0', 10);
  progress = world.open();
});

/** Commits everything up to the end of the log; one position and two of its events per partition of wallet.activity. */
function loadAll(): void {
  for (const source of ['chain', 'oracle', 'catalog']) world.sources.set(source, { phase: 'live', progress: 1 });
  commitToTables(200, 'fills', 'chain', 'wallet_events');
  commitToTables(40, 'oracle');
  commitToTables(10, 'catalog');
  world.committed.set('activity', 200);
  for (let partition = 0; partition < 12; partition++) {
    world.log.set(`wallet.activity/${partition}`, 5).set(`positions/${partition}`, 1);
    world.committed.set(`positions-${partition}`, 5);
    world.committedOffsets.set(`positions/${partition}`, 1).set(`wallet_activity/${partition}`, 5);
  }
  for (let partition = 0; partition < 4; partition++) {
    world.log.set(`pnl.events/${partition}`, 6);
    world.committedOffsets.set(`pnl/${partition}`, 6);
  }
  world.snapshotMs = world.nowMs;
  world.ranked = 1;
}

describe('createTableProgress', () => {
  it('returns null before the first measurement', () => {
    expect(progress.current()).toBeNull();
  });

  it('reports fractions of the announced history while a source loads, and through which block', async () => {
    world.sources.set('chain', { phase: 'history', progress: 0.5 });
    world.sources.set('oracle', { phase: 'history', progress: null });
    commitToTables(50, 'fills');
    commitToTables(200, 'chain');
    commitToTables(10, 'oracle');
    // 50 of 200 records of half of the history; all records of half of it; unknown size; none.
    expect(await states()).toEqual({
      fills: 'loading 12',
      chain: 'loading 50',
      wallet_events: 'empty 0',
      oracle: 'loading null',
      catalog: 'empty null',
      positions: 'empty 0',
      pnl: 'empty 0',
      wallet_activity: 'empty 0',
      leaderboards: 'empty 0',
    });
    // Record 49 belongs to block 149, which may have more records.
    expect(progress.current()?.groups.fills).toMatchObject({
      throughBlock: 148,
      throughMs: Date.UTC(2026, 0, 1, 0, 0, 49),
      target: null,
    });
  });

  it('keeps the log end of the time when the history was announced, while the log grows', async () => {
    world.sources.set('chain', { phase: 'live', progress: 1 });
    commitToTables(199, 'fills');
    expect(await states()).toMatchObject({ fills: 'loading 99' });
    world.log.set('chain.final/0', 5_000);
    commitToTables(200, 'fills');
    expect(await states()).toMatchObject({ fills: 'loaded 100' });
    expect(progress.current()?.groups.fills.target).toBe(200);
    // A restarted ingest announces nothing until it has caught up.
    world.sources.set('chain', { phase: 'history', progress: 0.1 });
    expect(await states()).toMatchObject({ fills: 'loaded 100' });
  });

  it('follows positions through the stateful processors to the tables', async () => {
    world.sources.set('chain', { phase: 'live', progress: 1 });
    world.log.set('wallet.activity/3', 8).set('positions/3', 2).set('pnl.events/3', 4);
    world.committed.set('activity', 100).set('positions-3', 8);
    world.committedOffsets.set('positions/3', 2).set('pnl/3', 4).set('wallet_activity/3', 8);
    // Half of the chain's records, and all records derived from them.
    expect(await states()).toMatchObject({ positions: 'loading 50', pnl: 'loading 50' });
    expect(progress.current()?.groups.positions.throughBlock).toBe(199);
    world.committed.set('activity', 200);
    world.log.set('wallet.activity/3', 16);
    expect(await states()).toMatchObject({ wallet_activity: 'loading 50' });
    world.committedOffsets.set('wallet_activity/3', 16);
    expect(await states()).toMatchObject({ positions: 'loading 50', pnl: 'loading 50' });
    world.committed.set('positions-3', 16);
    world.log.set('positions/3', 3).set('pnl.events/3', 8);
    expect(await states()).toMatchObject({ positions: 'loading 66', pnl: 'loading 50' });
    world.committedOffsets.set('positions/3', 3);
    expect(await states()).toMatchObject({ positions: 'loaded 100', pnl: 'loading 50' });
    expect(progress.current()?.groups.positions.throughBlock).toBe(299);
    world.committedOffsets.set('pnl/3', 8);
    expect(await states()).toMatchObject({ positions: 'loaded 100', pnl: 'loaded 100', wallet_activity: 'loaded 100' });
  });

  it('is ready after a first load only with a leaderboard snapshot taken after it', async () => {
    await progress.measure();
    loadAll();
    world.snapshotMs = world.nowMs - 1;
    expect((await progress.measure()).ready).toBe(false);
    expect(await states()).toMatchObject({ positions: 'loaded 100', leaderboards: 'loading 99' });
    world.snapshotMs = world.nowMs;
    expect((await progress.measure()).ready).toBe(true);
  });

  it('is ready with a leaderboard snapshot of now after the clock, which ran ahead during the load, was set back', async () => {
    await progress.measure();
    loadAll();
    world.snapshotMs = world.nowMs - 1;
    expect((await progress.measure()).ready).toBe(false);
    world.nowMs -= 5 * 86_400_000;
    world.snapshotMs = world.nowMs - 1;
    expect((await progress.measure()).ready).toBe(false);
    world.snapshotMs = world.nowMs;
    expect((await progress.measure()).ready).toBe(true);
  });

  it('is ready at once if everything is loaded at the start, regardless of the snapshot time', async () => {
    loadAll();
    world.snapshotMs = world.nowMs - 50_000;
    expect((await progress.measure()).ready).toBe(true);
  });

  it('accepts an earlier leaderboard snapshot after a restart during which the tables lagged', async () => {
    loadAll();
    commitToTables(191, 'fills');
    world.nowMs += 60_000;
    expect(await states()).toMatchObject({ fills: 'loading 95', leaderboards: 'loading 95' });
    commitToTables(200, 'fills');
    expect((await progress.measure()).ready).toBe(true);
  });

  it('accepts an earlier leaderboard snapshot after a restart in which ingest announces the history later than the api measures', async () => {
    loadAll();
    world.nowMs += 60_000;
    const announced = new Map(world.sources);
    for (const source of announced.keys()) world.sources.set(source, { phase: 'history', progress: 0 });
    expect((await progress.measure()).ready).toBe(false);
    for (const [source, status] of announced) world.sources.set(source, status);
    expect((await progress.measure()).ready).toBe(true);
  });

  it('waits for a leaderboard snapshot of all history if the tables had little of what was announced later', async () => {
    loadAll();
    world.log.set('chain.final/0', 400);
    world.sources.set('chain', { phase: 'history', progress: 0 });
    await progress.measure();
    world.nowMs += 60_000;
    world.sources.set('chain', { phase: 'live', progress: 1 });
    commitToTables(400, 'fills', 'chain', 'wallet_events');
    world.committed.set('activity', 400);
    await progress.measure();
    expect(await states()).toMatchObject({ fills: 'loaded 100', leaderboards: 'loading 99' });
    world.snapshotMs = world.nowMs;
    expect((await progress.measure()).ready).toBe(true);
  });

  it('is loading again after the tables were emptied', async () => {
    loadAll();
    await progress.measure();
    world.committedOffsets.clear();
    const { ready, groups } = await progress.measure();
    expect([ready, groups.fills.state, groups.positions.state]).toEqual([false, 'empty', 'empty']);
  });

  it('measures a lag from the first measurement at which the log was ahead of the tables', async () => {
    loadAll();
    await progress.measure();
    world.log.set('chain.final/0', 210);
    world.nowMs += 5_000;
    await progress.measure();
    world.nowMs += 5_000;
    expect((await progress.measure()).groups.fills.lagS).toBe(5);
    world.nowMs += 90_000;
    expect((await progress.measure()).groups).toMatchObject({
      fills: { state: 'loaded', lagS: 95 },
      oracle: { state: 'loaded', lagS: 0 },
    });
    commitToTables(210, 'fills');
    expect((await progress.measure()).groups.fills.lagS).toBe(0);
  });
});
