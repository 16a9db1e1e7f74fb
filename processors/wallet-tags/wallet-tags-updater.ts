import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import {
  changedWalletCountSql,
  committedSql,
  computeWalletTagsSql,
  newestVersionSql,
  type OffsetRow,
  passSettings,
  progressSql,
  retaggedCountSql,
  tokenBatchEndSql,
  updateTokenTagsSql,
} from './wallet-tags.sql.js';

/** Result of one pass. */
export interface WalletTagsPass {
  /** Number of wallets whose sums were computed. */
  readonly wallets: number;
  /** False if nothing had changed since the last pass. */
  readonly changed: boolean;
}

export interface WalletTagsUpdater {
  /** Runs one pass: applies everything that the sinks had committed at its start. Rejects with RetryableError while ClickHouse is unreachable; safe to repeat. */
  update(signal?: AbortSignal): Promise<WalletTagsPass>;
  /** Runs passes periodically until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/** The API caches overlaps for a minute; a pass on the live tail costs 50 to 150 ms of processor time. */
const INTERVAL_MS = 10_000;
/** Largest share of the time that passes may use, unless MAX_PAUSE_MS limits the pause. */
const MAX_TIME_SHARE = 0.25;
/** Longest pause: the pass after a long one is shorter, since it computes only what changed since the long one began. */
const MAX_PAUSE_MS = 60_000;
/** Bounds the memory of a statement: a wallet of a large venue has some ten positions on average. */
const WALLETS_PER_BATCH = 10_000;
const TOKENS_PER_BATCH = 10_000;
/** Maximum number of hexadecimal digits in the bounds of an address range. */
const MAX_RANGE_DIGITS = 3;
const LOG_INTERVAL_MS = 10_000;
/** Greater than every address. */
const LAST = '0xg';

type Offsets = ReadonlyMap<string, number>;

const offsetsOf = (rows: readonly OffsetRow[]): Map<string, number> =>
  new Map(rows.map((row) => [`${row.source}/${row.partition}`, Number(row.next_offset)]));

/** Splits all addresses into 16^digits ranges. */
export function addressRanges(digits: number): readonly { readonly low: string; readonly high: string }[] {
  const count = 16 ** digits;
  const bound = (n: number) => (n === count ? LAST : digits === 0 ? '' : `0x${n.toString(16).padStart(digits, '0')}`);
  return Array.from({ length: count }, (_, n) => ({ low: bound(n), high: bound(n + 1) }));
}

/**
 * Maintains `wallet_tags`. A pass writes the changed tags of tokens, computes the sums of the affected wallets and of the wallets with new fills, and writes
 * its progress last, so that an interrupted pass is repeated. Versions increase with each pass, so that a statement that still runs for an ended
 * process cannot replace newer sums.
 */
export function createWalletTagsUpdater(options: {
  clickhouse: Pick<ClickHouse, 'query' | 'command' | 'insertRows'>;
  logger: Logger;
  metrics: Metrics;
  nowMs: () => number;
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  walletsPerBatch?: number;
  tokensPerBatch?: number;
}): WalletTagsUpdater {
  const { clickhouse, logger, nowMs } = options;
  const pause = options.pause ?? ((ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined));
  const walletsPerBatch = options.walletsPerBatch ?? WALLETS_PER_BATCH;
  const tokensPerBatch = options.tokensPerBatch ?? TOKENS_PER_BATCH;
  const seconds = options.metrics.gauge(
    'wallet_tags_pass_seconds',
    'Duration of the last pass that updates wallet_tags',
  );
  const computed = options.metrics.counter('wallet_tags_wallets_total', 'Wallets whose sums per tag were computed');

  const update: WalletTagsUpdater['update'] = async (signal) => {
    const read = <T>(sql: string, params = {}) => clickhouse.query<T>(sql, params, { settings: passSettings, signal });
    const write = (sql: string, params: Readonly<Record<string, unknown>>) =>
      clickhouse.command(sql, params, { settings: passSettings, signal });
    const committed: Offsets = offsetsOf(await read<OffsetRow>(committedSql));
    const progress = await read<OffsetRow & { version: string }>(progressSql);
    const before: Offsets = offsetsOf(progress);
    const advanced = [...committed].filter(([key, next]) => next > (before.get(key) ?? 0) || !before.has(key));
    if (advanced.length === 0) return { wallets: 0, changed: false };
    const done = Math.max(0, ...progress.map((row) => Number(row.version)));
    const [newest] = await read<{ version: string }>(newestVersionSql);
    const version = Math.max(nowMs() * 1000, Number(newest?.version ?? 0) + 1);

    const catalogEnd = committed.get('catalog/0') ?? 0;
    for (let from = before.get('catalog/0') ?? 0; from < catalogEnd; ) {
      const [end] = await read<{ next_offset: string }>(tokenBatchEndSql, { from, rows: tokensPerBatch });
      const to = Math.min(catalogEnd, Number(end?.next_offset ?? catalogEnd));
      await write(updateTokenTagsSql, { from, to, version });
      from = to;
    }
    const partitions = [...committed.keys()].flatMap((key) => {
      const [source, partition] = key.split('/');
      return source === 'positions' ? [Number(partition)] : [];
    });
    const next = Array.from(
      { length: Math.max(0, ...partitions.map((partition) => partition + 1)) },
      (_, partition) => before.get(`positions/${partition}`) ?? 0,
    );
    const changes = { next, lowest: Math.min(...(next.length === 0 ? [0] : next)), done };
    const positionsMoved = advanced.some(([key]) => key.startsWith('positions/'));
    const [retagged] = await read<{ tokens: string }>(retaggedCountSql, { done });
    let wallets = 0;
    if (positionsMoved || Number(retagged?.tokens) > 0) {
      const [counted] = await read<{ wallets: string }>(changedWalletCountSql, changes);
      wallets = Number(counted?.wallets);
      await compute(wallets, { ...changes, version }, write);
    }
    signal?.throwIfAborted();
    // One insert block, so that either all offsets are written or none.
    await clickhouse.insertRows(
      'wallet_tags_progress',
      [...committed].map(([key, next_offset]) => {
        const [source, partition] = key.split('/');
        return { source, partition: Number(partition), next_offset, version };
      }),
    );
    return { wallets, changed: true };
  };

  const compute = async (
    wallets: number,
    params: Readonly<Record<string, unknown>>,
    write: (sql: string, params: Readonly<Record<string, unknown>>) => Promise<void>,
  ): Promise<void> => {
    if (wallets === 0) return;
    let digits = 0;
    while (digits < MAX_RANGE_DIGITS && wallets / 16 ** digits > walletsPerBatch) digits++;
    const ranges = addressRanges(digits);
    let reportedMs = nowMs();
    for (const [index, range] of ranges.entries()) {
      await write(computeWalletTagsSql, { ...params, ...range });
      if (nowMs() - reportedMs < LOG_INTERVAL_MS) continue;
      reportedMs = nowMs();
      logger.info({ wallets, percent: Math.floor(((index + 1) / ranges.length) * 100) }, 'computing wallet_tags');
    }
    computed.inc({}, wallets);
  };

  return {
    update,
    async run(signal) {
      while (!signal.aborted) {
        const beganMs = performance.now();
        try {
          const { changed } = await update(signal);
          if (changed) seconds.set((performance.now() - beganMs) / 1000);
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof RetryableError)) throw error;
          logger.warn({ err: error }, 'update of wallet_tags failed, trying again later');
        }
        const shareMs = (performance.now() - beganMs) / MAX_TIME_SHARE;
        await pause(Math.min(MAX_PAUSE_MS, Math.max(INTERVAL_MS, shareMs)), signal);
      }
    },
  };
}
