import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { summariesSql } from '../../api/pnl/summaries.sql.js';
import { clusterDdl } from '../../infra/clickhouse/cluster-ddl.js';
import { type Ddl, singleServerDdl } from '../../infra/clickhouse/ddl.js';
import { loadNative, type NativeConnection, type NativeEngine } from '../../infra/clickhouse/embedded/native.js';
import { migrationsTable } from '../../infra/clickhouse/migrations.js';
import {
  largestPositionsSnapshotSql,
  rankingsSnapshotSql,
  snapshotSettings,
  totalsSnapshotSql,
} from '../../processors/leaderboards/leaderboard-snapshots.sql.js';
import { migrations } from '../../processors/migrations.js';
import { viewStatement } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';

/** An engine whose only cluster has one shard, the engine itself. */
const serverConfig = `<clickhouse>
  <remote_servers><events>
    <shard><internal_replication>true</internal_replication><replica><host>localhost</host><port>9000</port></replica></shard>
  </events></remote_servers>
  <tcp_port>9000</tcp_port>
</clickhouse>`;

let native: NativeEngine;
let connection: NativeConnection;
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'oddstream-cluster-'));
  const file = join(directory, 'config.xml');
  writeFileSync(file, serverConfig);
  native = loadNative();
  connection = native.CreateConnection(join(directory, 'data'), [`--config-file=${file}`]);
});
afterAll(() => {
  native.CloseConnection(connection);
  rmSync(directory, { recursive: true, force: true });
});

async function run(sql: string): Promise<string> {
  try {
    const { bytes } = await native.QueryAsyncConnection(connection, sql, 'TSV');
    return Buffer.from(bytes).toString('utf8').trimEnd();
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${sql}`);
  }
}

const statementsOf = (ddl: Ddl): readonly string[] => [
  ...ddl.table(migrationsTable),
  ...migrations.flatMap((migration) => migration.statements(ddl)),
];
const cluster = clusterDdl({ cluster: 'events', database: 'shared' });
const clusterStatements = statementsOf(cluster);
/**
 * A cluster statement changed for one node. The embedded engine has no Keeper, so the nodes' local tables are not replicated here;
 * names, columns, views, routing and tokens are those of a cluster.
 */
const onThisNode = (sql: string) =>
  sql
    .replace(' ON CLUSTER events', '')
    .replace(/Replicated(\w+)\('[^']*', '[^']*'(?:, )?/, '$1(')
    .replace(
      /replicated_deduplication_window = 1000, replicated_deduplication_window_seconds = \d+/,
      'non_replicated_deduplication_window = 1000',
    );

describe('schema statements', () => {
  it.each([
    ['a single server', statementsOf(singleServerDdl)],
    ['a cluster', clusterStatements],
  ])('%s: every statement is one the engine reads', async (_name, statements) => {
    expect(statements.length).toBeGreaterThan(20);
    for (const statement of statements) {
      expect(await run(`EXPLAIN AST ${statement}`)).toMatch(/^(Create|Drop|Alter|Truncate|Insert)Query/);
    }
  });

  it('contain no cluster clause for a single server', () => {
    expect(
      statementsOf(singleServerDdl).filter((sql) =>
        /replicated\w*MergeTree|ON CLUSTER|Distributed|_local\b|\{/i.test(sql),
      ),
    ).toEqual([]);
  });

  it('create every object on every node of a cluster, replicated, and no view that writes a Distributed table', () => {
    for (const sql of clusterStatements) expect(sql).toContain(' ON CLUSTER events');
    for (const sql of clusterStatements.filter((text) => text.includes('ORDER BY') && text.startsWith('CREATE TABLE')))
      expect(sql).toMatch(/ENGINE = Replicated\w*MergeTree\('\/clickhouse\/tables\/\{uuid\}\//);
    const views = clusterStatements.filter((sql) => sql.startsWith('CREATE MATERIALIZED VIEW'));
    expect(new Set(views.map((sql) => sql.split(' ')[6])).size).toBe(24);
    for (const sql of views) {
      expect(sql).toMatch(/ TO (\w+_local|coverage_books|resolutions_by_time|tag_tokens|token_tags|coverage_chain) AS/);
      expect(sql).toMatch(
        /FROM ((fills|ticks|positions|pnl_events|condition_events)_local|resolutions|markets|blocks|block_logs|order_books)\b/,
      );
    }
  });
});

describe('the cluster schema on the engine', () => {
  it('can be created, with the same columns as on a single server', async () => {
    await run('CREATE DATABASE shared');
    await run('CREATE DATABASE single');
    await run('USE shared');
    for (const statement of clusterStatements) await run(onThisNode(statement));
    await run('USE single');
    for (const statement of statementsOf(singleServerDdl)) await run(statement);
    const columns = (database: string) =>
      run(
        `SELECT table, name, type FROM system.columns WHERE database = '${database}' AND NOT endsWith(table, '_local') ORDER BY table, position`,
      );
    const shared = await columns('shared');
    expect(shared.split('\n').length).toBeGreaterThan(150);
    expect(shared).toBe(await columns('single'));
    const engines = await run(
      `SELECT name, engine FROM system.tables WHERE database = 'shared' AND NOT endsWith(name, '_mv') ORDER BY name`,
    );
    expect(engines.split('\n').map((line) => line.replace('\t', ' '))).toEqual([
      'block_logs ReplacingMergeTree',
      'blocks ReplacingMergeTree',
      'builder_volumes Distributed',
      'builder_volumes_local AggregatingMergeTree',
      'candles View',
      'candles_5m Distributed',
      'candles_5m_local AggregatingMergeTree',
      'chain_tokens ReplacingMergeTree',
      'chunks ReplacingMergeTree',
      'collateral_by_token Distributed',
      'collateral_by_token_local SummingMergeTree',
      'collateral_flows Distributed',
      'collateral_flows_local ReplacingMergeTree',
      'combo_events Distributed',
      'combo_events_local ReplacingMergeTree',
      'combo_markets Distributed',
      'combo_markets_local AggregatingMergeTree',
      'condition_events Distributed',
      'condition_events_local ReplacingMergeTree',
      'condition_tokens ReplacingMergeTree',
      'conditions ReplacingMergeTree',
      'copy_cycles ReplacingMergeTree',
      'copy_score_errors ReplacingMergeTree',
      'copy_scores ReplacingMergeTree',
      'coverage_books AggregatingMergeTree',
      'coverage_chain AggregatingMergeTree',
      'coverage_feeds Distributed',
      'coverage_feeds_local AggregatingMergeTree',
      'events ReplacingMergeTree',
      'fills Distributed',
      'fills_by_builder Distributed',
      'fills_by_builder_local ReplacingMergeTree',
      'fills_by_token Distributed',
      'fills_by_token_local ReplacingMergeTree',
      'fills_by_wallet Distributed',
      'fills_by_wallet_local ReplacingMergeTree',
      'fills_local ReplacingMergeTree',
      'hourly_volumes Distributed',
      'hourly_volumes_local AggregatingMergeTree',
      'largest_positions MergeTree',
      'last_prices Distributed',
      'last_prices_local ReplacingMergeTree',
      'leaderboards MergeTree',
      'market_status View',
      'markets ReplacingMergeTree',
      'matches_by_day Distributed',
      'matches_by_day_local ReplacingMergeTree',
      'minted_by_token Distributed',
      'minted_by_token_local SummingMergeTree',
      'open_interest View',
      'order_books ReplacingMergeTree',
      'overlap_token_tags ReplacingMergeTree',
      'pnl_events Distributed',
      'pnl_events_local ReplacingMergeTree',
      'positions Distributed',
      'positions_by_token Distributed',
      'positions_by_token_local ReplacingMergeTree',
      'positions_local ReplacingMergeTree',
      'resolutions ReplacingMergeTree',
      'resolutions_by_time ReplacingMergeTree',
      'schema_migrations ReplacingMergeTree',
      'series ReplacingMergeTree',
      'sink_progress ReplacingMergeTree',
      'social_posts ReplacingMergeTree',
      'tag_leaderboards ReplacingMergeTree',
      'tag_tokens ReplacingMergeTree',
      'tags ReplacingMergeTree',
      'ticks Distributed',
      'ticks_local ReplacingMergeTree',
      'token_candles_1h Distributed',
      'token_candles_1h_local AggregatingMergeTree',
      'token_candles_1m Distributed',
      'token_candles_1m_local AggregatingMergeTree',
      'token_prices View',
      'token_quotes ReplacingMergeTree',
      'token_settlements ReplacingMergeTree',
      'token_tags ReplacingMergeTree',
      'token_volumes Distributed',
      'token_volumes_local AggregatingMergeTree',
      'tokens ReplacingMergeTree',
      'unknown_logs ReplacingMergeTree',
      'usage Distributed',
      'usage_hourly View',
      'usage_local ReplacingMergeTree',
      'usage_monthly View',
      'venue_totals MergeTree',
      'wallet_activity Distributed',
      'wallet_activity_local ReplacingMergeTree',
      'wallet_days Distributed',
      'wallet_days_local SummingMergeTree',
      'wallet_events Distributed',
      'wallet_events_local ReplacingMergeTree',
      'wallet_tags ReplacingMergeTree',
      'wallet_tags_progress ReplacingMergeTree',
    ]);
  });

  it('publishViews creates the views over Distributed tables, ON CLUSTER, with their creator as definer', async () => {
    await run('CREATE DATABASE market');
    const statements = publicViews.map((view) =>
      viewStatement(view, { database: 'market', onCluster: cluster.onCluster, definer: 'default' }),
    );
    for (const statement of statements) {
      expect(statement).toMatch(/^CREATE OR REPLACE VIEW `market`\.`\w+` ON CLUSTER events \(/);
      expect(statement).toContain("DEFINER = 'default' SQL SECURITY DEFINER");
      expect(await run(`EXPLAIN AST ${statement}`)).toMatch(/^CreateQuery market/);
    }
    await run('USE shared');
    for (const statement of statements) await run(onThisNode(statement));
    // Coverage has rows without any data.
    for (const { name, key } of publicViews.filter((view) => view.name !== 'coverage'))
      expect(await run(`SELECT * FROM market.${name} ORDER BY ${key.join(', ')} LIMIT 1`), name).toBe('');
    await run('USE single');
  });

  it('a repeated token has no effect through the Distributed table and in the targets of its views', async () => {
    const insert = (token: string) =>
      run(
        `INSERT INTO fills (block_number, log_index, timestamp, maker, taker, order_hash, builder, token_id, usdc, shares)
         SETTINGS distributed_foreground_insert = 1, async_insert = 0, insert_deduplication_token = '${token}', deduplicate_blocks_in_dependent_materialized_views = 1
         SELECT intDiv(number, 10), number % 10, toDateTime(1700000000 + number, 'UTC'), concat('m', toString(number % 3)), 't',
           toFixedString(toString(number), 32), if(number % 2 = 0, 'b', ''), number % 5, 100 + number, 200 FROM numbers(1000)`,
      );
    const counts = () =>
      run(`SELECT (SELECT count() FROM fills), (SELECT count() FROM fills_by_wallet), (SELECT count() FROM fills_by_token),
        (SELECT count() FROM fills_by_builder), (SELECT sum(usdc) FROM fills)`);
    const once = ['1000', '2000', '1000', '500', String(1000 * 100 + (999 * 1000) / 2)].join('\t');
    for (let i = 0; i < 3; i++) await insert('fills-chain.final-0-0-999-fills');
    expect(await counts()).toBe(once);
    // With another token the rows are inserted again, and FINAL still counts each fill once.
    await insert('fills-chain.final-0-1-1000-fills');
    expect(await run('SELECT count(), sum(usdc) FROM fills FINAL')).toBe(`1000\t${once.split('\t')[4]}`);
    expect(await run(`SELECT token_id, argMax(usdc, place) FROM last_prices GROUP BY token_id ORDER BY token_id`)).toBe(
      ['0\t1095', '1\t1096', '2\t1097', '3\t1098', '4\t1099'].join('\n'),
    );
    // As the trades page queries: a subquery on orders of the same Distributed table.
    expect(
      await run(
        `WITH orders AS (SELECT order_hash FROM fills_by_wallet WHERE wallet = 'm1' AND role = 'maker' ORDER BY block_number DESC LIMIT 5)
         SELECT count() FROM fills_by_wallet AS f FINAL WHERE f.role = 'maker' AND f.order_hash IN (SELECT order_hash FROM orders) SETTINGS distributed_product_mode = 'global'`,
      ),
    ).toMatch(/^[1-5]$/);
  });

  it('the leaderboard snapshots aggregate all shards', async () => {
    await run(
      `INSERT INTO positions (wallet, token_id, size, avg_price, realized_pnl, fills, version)
       SELECT concat('w', toString(number % 3)), 1000 + number, number, 0.5, number, 1, 1 FROM numbers(30)`,
    );
    for (const snapshot of [rankingsSnapshotSql, totalsSnapshotSql, largestPositionsSnapshotSql])
      await run(
        `${snapshot.replaceAll('{taken_at:UInt64}', String(Date.now()))} SETTINGS ${Object.entries(snapshotSettings)
          .map(([name, value]) => `${name} = '${value}'`)
          .join(', ')}`,
      );
    // 2 + 5 + ... + 29, 1 + 4 + ... + 28, 0 + 3 + ... + 27; nothing has a price.
    expect(await run(`SELECT rank, wallet, realized_pnl FROM leaderboards WHERE board = 'total' ORDER BY rank`)).toBe(
      ['1\tw2\t155', '2\tw1\t145', '3\tw0\t135'].join('\n'),
    );
    expect(await run('SELECT wallets, positions, realized_pnl FROM venue_totals')).toBe('3\t30\t435');
    // Number 0 has no size.
    expect(
      await run(
        'SELECT count(), max(rank), argMin(token_id, rank), argMax(token_id, rank) FROM largest_positions GROUP BY status ORDER BY status',
      ),
    ).toBe(['29\t29\t1029\t1001', '1\t30\t1000\t1000'].join('\n'));
    const { text, params } = summariesSql(['w1'], null);
    const wallets = `['${(params.wallets as string[]).join("','")}']`;
    expect(await run(`SELECT realized, positions FROM (${text.replaceAll('{wallets:Array(String)}', wallets)})`)).toBe(
      '145\t10',
    );
  });

  it('syncReplica accepts a replicated table and rejects invalid names', async () => {
    expect(await run('EXPLAIN AST SYSTEM SYNC REPLICA `chunks` LIGHTWEIGHT')).toContain('SYSTEM');
    for (const bad of ['', 'a b', "x'; DROP TABLE y", '1st'])
      expect(() => clusterDdl({ cluster: bad, database: 'shared' })).toThrow(/Not a name/);
  });
});
