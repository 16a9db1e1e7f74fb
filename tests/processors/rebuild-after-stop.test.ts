import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import { createMemoryLog, type MemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { catalogSink } from '../../processors/catalog/sink.js';
import { fillsSink } from '../../processors/fills/sink.js';
import { oracleSink } from '../../processors/oracle/sink.js';
import { rebuild } from '../../processors/rebuild/rebuild.js';
import { rebuildTasksFor } from '../../processors/rebuild/rebuild-tasks.js';
import type { Sink } from '../../processors/sink/sink.js';
import type { SinkDefinition } from '../../processors/sink/sink-definition.js';
import type { TableStore } from '../../processors/sink/table-store.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { ChunkPlan } from '../../schemas/types.gen.js';
import { catalogMarket } from '../support/catalog-market.js';
import { emptyTables, startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { eventually } from '../support/product.js';
import { createTestTick, createTestTrade } from './events.js';
import { runToEnd, smallSink } from './run-sink.js';

const STOPS = Number(process.env.ODDSTREAM_TEST_ENDINGS ?? 12);
/** A check rebuilds all tables: it follows two stops of twelve, one with ClickHouse and one without. */
const isChecked = (stop: number) => [0, 7].includes(stop % 12);
const FEED = 'BTC/USD';
const codec = createCodec();
const logger = silentLogger();
const sinkDefinitions = [fillsSink, oracleSink, catalogSink];
let clickhouse: TestClickHouse;
let live: ClickHouse;
let shadow: ClickHouse;
beforeAll(async () => {
  clickhouse = await startMigratedClickHouse();
  live = clickhouse.client;
  shadow = await clickhouse.connect({ database: 'rebuild' });
});
afterAll(() => clickhouse.stop());

interface SinkWorld {
  readonly log: MemoryLog;
  readonly live: ClickHouse;
  /** Adds fills, ticks and versions of markets to the log. */
  grow(count: number): Promise<void>;
  check(): Promise<readonly string[]>;
}

async function createWorld(): Promise<SinkWorld> {
  await emptyTables(live);
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  let fills = 0;
  let ticks = 0;
  let versions = 0;
  return {
    log,
    live,
    async grow(count) {
      const trades = Array.from({ length: count }, () => {
        const trade = createTestTrade(Math.floor(fills / 5), fills % 5);
        fills += 1;
        return { key: 'block', timestampMs: trade.timestamp_ms, value: codec.encode('trade', trade) };
      });
      await log.append(topics.chainFinal.name, trades);
      const prices = Array.from({ length: count }, () => {
        const tick = createTestTick(FEED, 1_790_000_000 + ticks, BigInt(100 + (ticks % 13)));
        ticks += 1;
        return { key: FEED, partition: 0, timestampMs: tick.timestamp_ms, value: codec.encode('price_tick', tick) };
      });
      await log.append(topics.oracleTicks.name, prices);
      const markets = Array.from({ length: count }, () => {
        versions += 1;
        // Every market has several versions, of the same chunk and of others; its tags change.
        const market = catalogMarket(1 + ((versions * 5) % 17), {
          question: `version ${versions}`,
          tag_slugs: ['all', `tag-${versions % 3}`],
        });
        const value = codec.encode('catalog_market', market);
        return { key: `market:${market.condition_id}`, timestampMs: versions, value };
      });
      await log.append(topics.catalog.name, markets);
    },
    async check() {
      const { signal } = new AbortController();
      const reports = await rebuild({
        tasks: rebuildTasksFor('all'),
        log,
        codec,
        live,
        shadow,
        logger,
        signal,
        checkOnly: true,
      });
      return reports.filter((report) => !report.identical).map((report) => report.table);
    },
  };
}

/** Runs the sinks until `ended` resolves, then stops them as SIGTERM does. */
async function runUntil(sinks: readonly Sink[], ended: Promise<unknown>): Promise<void> {
  const stop = new AbortController();
  const running = sinks.map((sink) => sink.run(stop.signal));
  await ended.finally(() => stop.abort());
  await Promise.all(running);
}

/** A store whose inserts fail after `calls` more of them; `lost`: number of failed ones. */
function losing(store: ClickHouse, calls: number): TableStore & { readonly lost: () => number } {
  let left = calls;
  return {
    ...store,
    lost: () => Math.max(0, -left),
    async insertBytes(...call) {
      left -= 1;
      if (left < 0) throw new RetryableError('ClickHouse cannot be reached: connect ECONNREFUSED');
      await store.insertBytes(...call);
    },
  };
}

/** Tables of which every chunk of the world has rows: of the catalogue's, markets, tokens and quotes. */
const writtenTables = (definition: SinkDefinition): number =>
  definition === catalogSink ? 3 : definition.tables.length;

/** A store whose process dies at its n-th insert: the insert is not sent, or its response does not arrive; later ones are not sent. */
function dyingAt(store: ClickHouse, insert: number, sent: boolean, died: () => void): TableStore {
  let count = 0;
  return {
    ...store,
    async insertBytes(...call) {
      count += 1;
      if (count < insert) return store.insertBytes(...call);
      if (count === insert && sent) await store.insertBytes(...call);
      died();
      throw new RetryableError('ClickHouse cannot be reached: socket hang up');
    },
  };
}

describe('rebuild all --check after a stop', { timeout: 360_000 }, () => {
  it.each(['planned only in the log', 'also recorded in chunks'])(
    'finds the tables identical when the newest chunk was %s',
    async (state) => {
      const world = await createWorld();
      await world.grow(20);
      for (const definition of sinkDefinitions) await runToEnd(smallSink(definition, world.log, world.live).sink);
      await world.grow(7);
      const stopped = sinkDefinitions.map((definition) => {
        // The newest chunk is recorded and inserted again first.
        const again = 1 + writtenTables(definition);
        const store = losing(world.live, state.startsWith('planned') ? again : again + 1);
        return { store, sink: smallSink(definition, world.log, store).sink };
      });
      await runUntil(
        stopped.map(({ sink }) => sink),
        eventually('a failed insert of each sink', async () => stopped.every(({ store }) => store.lost() > 0)),
      );
      const recorded = await world.live.query<{ sink: string; last: string }>(
        'SELECT sink, toString(max(last_offset)) AS last FROM chunks GROUP BY sink',
      );
      for (const { name, plans } of sinkDefinitions) {
        const planned = world.log.all(plans.name).map(({ value }) => codec.decode(value as Buffer).value as ChunkPlan);
        const { previous_last_offset: previous, last_offset: newest } = planned.at(-1) as ChunkPlan;
        expect([name, previous]).toEqual([name, 19]);
        const expected = state.startsWith('planned') ? previous : newest;
        expect([name, recorded.find(({ sink }) => sink === name)?.last]).toEqual([name, String(expected)]);
      }
      expect(await world.check()).toEqual([]);
      for (const definition of sinkDefinitions) await runToEnd(smallSink(definition, world.log, world.live).sink);
      expect(await world.live.query('SELECT count() AS n FROM fills FINAL')).toEqual([{ n: '27' }]);
    },
  );

  it(`finds the tables identical after ${STOPS} stops at random times, two of three with ClickHouse unreachable`, async () => {
    const world = await createWorld();
    for (let stop = 0; stop < STOPS; stop++) {
      await world.grow(1 + Math.floor(Math.random() * 40));
      const inserts = Math.floor(Math.random() * 12);
      const lost = stop % 3 === 0 ? null : losing(world.live, inserts);
      const ms = Math.random() * 120;
      const ended = async () => {
        await sleep(ms);
        // The newest chunks and the next ones are more than the inserts that succeed.
        if (isChecked(stop) && lost !== null) await eventually('a failed insert', async () => lost.lost() > 0);
      };
      await runUntil(
        sinkDefinitions.map((definition) => smallSink(definition, world.log, lost ?? world.live).sink),
        ended(),
      );
      if (!isChecked(stop)) continue;
      expect([stop, inserts, ms, await world.check()]).toEqual([stop, inserts, ms, []]);
    }
    for (const definition of sinkDefinitions) await runToEnd(smallSink(definition, world.log, world.live).sink);
    expect(await world.check()).toEqual([]);
  });

  it('finds the tables identical after a death before and after each insert of a chunk, with other chunks after each restart', async () => {
    const world = await createWorld();
    await world.grow(10);
    for (const definition of sinkDefinitions) await runToEnd(smallSink(definition, world.log, world.live).sink);
    // A sink inserts its newest chunk again, then the next: twice the row of `chunks`, markets, tokens and quotes.
    const inserts = 2 * (1 + 3);
    for (let insert = 1; insert <= inserts; insert++)
      for (const sent of [false, true]) {
        await world.grow(5);
        const stop = new AbortController();
        const store = dyingAt(world.live, insert, sent, () => stop.abort());
        await smallSink(catalogSink, world.log, store, 2 + (insert % 4)).sink.run(stop.signal);
      }
    for (const definition of sinkDefinitions) await runToEnd(smallSink(definition, world.log, world.live, 50).sink);
    expect(await world.check()).toEqual([]);
    const [row] = await world.live.query<{ markets: string; tokens: string; quotes: string }>(
      'SELECT (SELECT count() FROM markets FINAL) AS markets, (SELECT count() FROM tokens FINAL) AS tokens, (SELECT count() FROM token_quotes FINAL) AS quotes',
    );
    expect(row).toEqual({ markets: '17', tokens: '34', quotes: '34' });
  });
});
