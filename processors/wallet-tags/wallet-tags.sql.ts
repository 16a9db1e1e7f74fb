/** Offsets before which all records of a source are in the tables (`sink_progress`), or in the sums (`wallet_tags_progress`). */
export interface OffsetRow {
  readonly source: string;
  readonly partition: number | string;
  readonly next_offset: string;
}

export const committedSql = `SELECT sink AS source, partition, toString(max(p.next_offset)) AS next_offset FROM sink_progress AS p
    WHERE sink IN ('positions', 'catalog') GROUP BY sink, partition ORDER BY source, partition`;

export const progressSql = `SELECT source, partition, toString(p.next_offset) AS next_offset, toString(p.version) AS version
    FROM wallet_tags_progress AS p FINAL ORDER BY source, partition`;

/** The newest version of any row, also of interrupted passes: versions increase even if the clock is set back. */
export const newestVersionSql = `SELECT toString(greatest((SELECT max(version) FROM wallet_tags_progress), (SELECT max(version) FROM overlap_token_tags),
    (SELECT max(version) FROM wallet_tags))) AS version`;

/**
 * End (exclusive) of a batch of changed tokens: the offset after the `{rows:UInt64}`-th token from `{from:UInt64}` on; no row if there are fewer.
 */
export const tokenBatchEndSql = `SELECT toString(_offset + 1) AS next_offset FROM tokens WHERE _offset >= {from:UInt64}
    ORDER BY _offset LIMIT 1 OFFSET {rows:UInt64}`;

const changedTokens = 'SELECT token_id FROM tokens WHERE _offset >= {from:UInt64} AND _offset < {to:UInt64}';

/** Writes the tags of tokens that changed in an offset range of the catalogue, if they differ from the stored ones. A token has the tags of its market. */
export const updateTokenTagsSql = `INSERT INTO overlap_token_tags
    SELECT n.token_id AS token_id, n.condition_id AS condition_id, n.tags AS tags,
      arraySort(arrayFilter(tag -> NOT has(n.tags, tag), arrayDistinct(arrayConcat(o.tags, o.former)))) AS former, {version:UInt64} AS version
    FROM (
      SELECT k.token_id AS token_id, k.condition_id AS condition_id, arraySort(arrayDistinct(m.tag_slugs)) AS tags
      FROM (
        SELECT token_id, argMax(condition_id, _offset) AS condition_id FROM tokens WHERE token_id IN (${changedTokens}) GROUP BY token_id
      ) AS k
      INNER JOIN (
        SELECT condition_id, argMax(tag_slugs, _offset) AS tag_slugs FROM markets
        WHERE condition_id IN (SELECT condition_id FROM tokens WHERE _offset >= {from:UInt64} AND _offset < {to:UInt64})
        GROUP BY condition_id
      ) AS m ON m.condition_id = k.condition_id
    ) AS n
    LEFT JOIN (SELECT token_id, condition_id, tags, former FROM overlap_token_tags FINAL WHERE token_id IN (${changedTokens})) AS o
      ON o.token_id = n.token_id
    WHERE n.tags != o.tags OR n.condition_id != o.condition_id`;

const retaggedTokens = 'SELECT token_id FROM overlap_token_tags WHERE version > {done:UInt64}';
/** Positions changed since the last pass. `{next:Array(UInt64)}`: first offset per partition that is not in the sums; `{lowest:UInt64}`: their minimum. */
const isChanged = '_offset >= {lowest:UInt64} AND _offset >= arrayElement({next:Array(UInt64)}, _partition + 1)';

/** A range of addresses: `{low:String}` inclusive, `{high:String}` exclusive. */
const inRange = 'wallet >= {low:String} AND wallet < {high:String}';

/** Wallets whose sums may have changed: those of changed positions, and those that traded a token whose tags changed. */
const changedWallets = (within: string): string => `SELECT wallet FROM positions WHERE ${within} AND ${isChanged}
        UNION DISTINCT
        SELECT wallet FROM positions_by_token WHERE ${within} AND token_id IN (${retaggedTokens}) AND fills > 0`;

/** Number of wallets that a pass computes. */
export const changedWalletCountSql = `SELECT toString(uniq(wallet)) AS wallets FROM (${changedWallets('true')})`;

/** Number of tokens whose tags changed after the last completed pass. */
export const retaggedCountSql = `SELECT toString(count()) AS tokens FROM overlap_token_tags WHERE version > {done:UInt64}`;

/**
 * Computes the sums of all changed wallets of an address range. Positions count the wallet's own orders: a match counts once for each of its orders. Former
 * tags of a token yield rows with zeros.
 */
export const computeWalletTagsSql = `INSERT INTO wallet_tags
    WITH changed AS (${changedWallets(inRange)})
    SELECT pair.1 AS tag, toFixedString(unhex(substring(p.wallet, 3)), 20) AS wallet, sumIf(p.fills, pair.2) AS fills, sumIf(p.usdc, pair.2) AS volume,
      toUInt32(uniqExactIf(t.condition_id, pair.2)) AS markets, {version:UInt64} AS version
    FROM (
      SELECT wallet, token_id, toUInt64(positions.fills) AS fills, bought_usdc + sold_usdc AS usdc FROM positions FINAL
      WHERE ${inRange} AND wallet IN (SELECT wallet FROM changed) AND positions.fills > 0
    ) AS p
    INNER JOIN (
      SELECT token_id, condition_id, tags, former FROM overlap_token_tags FINAL
      WHERE token_id IN (SELECT token_id FROM positions WHERE ${inRange} AND wallet IN (SELECT wallet FROM changed))
    ) AS t ON t.token_id = p.token_id
    ARRAY JOIN arrayConcat(arrayMap(one -> (one, true), t.tags), arrayMap(one -> (one, false), t.former)) AS pair
    GROUP BY pair.1, p.wallet`;

/** Batches bound the memory; statements of requests have priority. A wallet's positions are on one shard. */
export const passSettings = {
  priority: '10',
  low_priority_query_wait_time_ms: '20',
  max_block_size: '16384',
  max_threads: 1,
  max_insert_threads: '1',
  max_bytes_before_external_group_by: '100000000',
  max_execution_time: 280,
  distributed_product_mode: 'local',
} as const;
