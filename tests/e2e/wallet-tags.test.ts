import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyEvent } from '../../schemas/codec.js';
import { isVenueContract } from '../../schemas/primitives/venue.js';
import { type NaiveQuery, naiveOverlap, type OwnFill, ownFillsOf } from '../support/naive-overlap.js';
import { eventually, type Product } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, startLoaded } from '../support/reference-run.js';

const PATH = '/api/datasets/sports-esports/wallets/overlap';
let product: Product;
beforeAll(async () => {
  product = await startLoaded();
}, REFERENCE_RUN_TIMEOUT_MS);
afterAll(async () => {
  await product?.dispose();
});

/** Waits until wallet_tags contains everything that the sinks have committed. */
const untilComputed = () =>
  eventually(
    'wallet_tags',
    async () => {
      const [row] = await product.sql<{ behind: string; rows: string }>(
        `SELECT toString(countIf(s.next > p.next)) AS behind, toString(count()) AS rows
         FROM (SELECT sink, partition, max(next_offset) AS next FROM sink_progress WHERE sink IN ('positions', 'catalog') GROUP BY sink, partition) AS s
         LEFT JOIN (SELECT source, partition, argMax(next_offset, version) AS next FROM wallet_tags_progress GROUP BY source, partition) AS p
           ON p.source = s.sink AND p.partition = s.partition`,
      );
      return Number(row?.rows) > 1 && Number(row?.behind) === 0;
    },
    240_000,
  );

async function recordedFills(): Promise<readonly OwnFill[]> {
  const rows = await product.sql<Record<string, string>>(
    `SELECT tx_hash, exchange, maker, taker, toUInt8(is_taker_order) AS taker_order, side, toString(token_id) AS token, toString(usdc) AS usdc,
       toString(shares) AS shares, toUnixTimestamp(timestamp) AS at FROM fills FINAL ORDER BY block_number, log_index`,
  );
  const events = rows.map((row) => ({
    kind: 'trade',
    value: {
      tx_hash: row.tx_hash,
      exchange: row.exchange,
      maker: row.maker,
      taker: row.taker,
      is_taker_order: Number(row.taker_order) === 1,
      side: row.side,
      token_id: row.token,
      usdc: BigInt(row.usdc ?? 0),
      shares: BigInt(row.shares ?? 0),
      timestamp_ms: Number(row.at) * 1000,
    },
  }));
  return ownFillsOf(events as unknown as AnyEvent[], isVenueContract);
}

const sums = () =>
  product.sql(
    'SELECT tag, hex(wallet) AS wallet, toString(w.fills) AS fills, toString(w.volume) AS volume, toString(w.markets) AS markets FROM wallet_tags AS w FINAL WHERE w.fills > 0 ORDER BY tag, wallet',
  );

describe('wallets of several tags, of the recorded history', { timeout: 600_000 }, () => {
  it('equal the naive result over all recorded fills', async () => {
    await untilComputed();
    const markets = await product.sql<{ condition_id: string; tokens: string[]; tag_slugs: string[] }>(
      'SELECT condition_id, arrayMap(token -> toString(token), token_ids) AS tokens, tag_slugs FROM markets FINAL',
    );
    const byToken = new Map(
      markets.flatMap(({ condition_id: condition, tokens, tag_slugs }) =>
        tokens.map((token) => [token, { condition, tags: new Set(tag_slugs) }] as const),
      ),
    );
    const fills = await recordedFills();
    const counts = new Map<string, number>();
    for (const { token } of fills)
      for (const tag of byToken.get(token)?.tags ?? []) counts.set(tag, (counts.get(tag) ?? 0) + 1);
    const tags = [...counts].sort((a, b) => b[1] - a[1]).map(([tag]) => tag);
    expect(tags.length).toBeGreaterThan(1);
    const without = markets.flatMap((market) => market.tag_slugs).find((tag) => !counts.has(tag)) ?? 'unknown-tag';
    const times = fills.map(({ timeS }) => timeS).sort((a, b) => a - b);
    const [third, middle] = [times[Math.floor(times.length / 3)] ?? 0, times[times.length >> 1] ?? 0];
    const pairs = [tags.slice(0, 2), tags.slice(0, 10).reverse(), [tags[0] ?? '', without]];
    let rows = 0;
    for (const pair of pairs)
      for (const over of [
        {},
        { sort: 'fills' },
        { sort: 'markets', limit: 10 },
        { after: third, before: middle },
        { before: middle, sort: 'markets', limit: 500 },
        { minVolume: 250_000_000n, limit: 500 },
      ] as Omit<NaiveQuery, 'tags'>[]) {
        const query: NaiveQuery = { tags: pair, ...over };
        const parameters = new URLSearchParams({ tags: pair.join(',') });
        for (const name of ['sort', 'limit', 'after', 'before'] as const)
          if (query[name] !== undefined) parameters.set(name, String(query[name]));
        if (query.minVolume !== undefined) parameters.set('min_volume', String(query.minVolume / 1_000_000n));
        const { status, body } = await product.get(`${PATH}?${parameters}`);
        const expected = naiveOverlap(fills, (token) => byToken.get(token), query);
        expect([status, body], parameters.toString()).toEqual([
          200,
          {
            count: expected.length,
            tags: pair,
            wallets: expected.map((row) => ({
              wallet: row.wallet,
              tags_matched: pair.length,
              total_fills: Number(row.fills),
              total_volume_usdc: `${row.volume / 1_000_000n}.${String(row.volume % 1_000_000n).padStart(6, '0')}`,
              total_markets: row.markets,
            })),
          },
        ]);
        rows += expected.length;
      }
    expect(rows).toBeGreaterThan(50);
  });

  it('are computed again from empty tables, also by processors that were killed during the pass', async () => {
    await untilComputed();
    const expected = await sums();
    expect(expected.length).toBeGreaterThan(20);
    for (const table of ['wallet_tags_progress', 'overlap_token_tags', 'wallet_tags'])
      await product.sql(`TRUNCATE TABLE ${table}`);
    await product.sql(
      "INSERT INTO sink_progress (sink, topic, partition, next_offset) SELECT sink, topic, partition, next_offset FROM sink_progress FINAL WHERE sink = 'positions'",
    );
    await eventually(
      'the pass to begin',
      async () =>
        Number((await product.sql<{ n: string }>('SELECT toString(count()) AS n FROM overlap_token_tags'))[0]?.n) > 0,
      60_000,
    );
    const killed = await eventually('the processors', async () => product.pid('processors'));
    process.kill(killed, 'SIGKILL');
    await eventually('the processors to start again', async () => {
      const pid = product.pid('processors');
      return pid !== null && pid !== killed;
    });
    await untilComputed();
    expect(await sums()).toEqual(expected);
  });
});
