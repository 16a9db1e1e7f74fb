import { RetryableError } from '../../../infra/errors.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import type { Codec } from '../../../schemas/codec.js';
import { tokenPair } from '../../../schemas/primitives/ids.js';
import { topics } from '../../../schemas/topics.js';
import { tryDecode } from '../../../schemas/try-decode.js';
import { addresses } from '../../chain/contracts.js';
import type { SourceLog } from '../../shared/owned-log.js';
import { pause } from '../../shared/pause.js';
import { GammaRefusedError } from '../gamma/client.js';
import { GammaShapeError } from '../gamma/pages.js';
import { type CatalogSource, findAtOnce, type Wanted } from '../source.js';
import type { CatalogWriter } from '../writer.js';
import { createWantedBook, type MissingChange } from './book.js';
import { idOf, kindsWithIds } from './ids-of.js';

const CHAIN = topics.chainFinal.name;
const MISSING = topics.catalogMissing.name;
/** Whose position in chain.final says up to where every id has been answered. */
export const WANTED_GROUP = 'ingest-catalog-wanted';

export interface WantedTimes {
  /** A question that is not full waits this long for more ids. */
  readonly lingerMs: number;
  /** Between two looks for something to ask. */
  readonly lookMs: number;
  /** Between two commits of the position. */
  readonly commitMs: number;
  /** First pause after a question that failed; doubled up to the longest. */
  readonly faultMs: number;
  readonly longestFaultMs: number;
}

const defaults: WantedTimes = {
  lingerMs: 2_000,
  lookMs: 250,
  commitMs: 5_000,
  faultMs: 5_000,
  longestFaultMs: 300_000,
};

/**
 * The catalogue on demand: conditions and outcome tokens of final facts whose market the catalogue lacks are asked for, in full questions, one
 * at a time. What the service does not have is remembered in a topic of its own and asked for again later. The committed position in
 * chain.final never passes an id that has no answer yet, so a restart neither loses one nor asks for what was answered.
 */
export function createWantedMarkets(deps: {
  find: NonNullable<CatalogSource['find']>;
  writer: Pick<CatalogWriter, 'write' | 'hasMarket'>;
  log: SourceLog;
  codec: Codec;
  metrics: Metrics;
  logger: Logger;
  /** For people: how many wait and are missing. */
  onState?: (detail: string) => void;
  times?: Partial<WantedTimes>;
  nowMs?: () => number;
}) {
  const { find, writer, log, codec, metrics, logger, onState, nowMs = Date.now } = deps;
  const times = { ...defaults, ...deps.times };
  const seen = metrics.counter('catalog_wanted_total', 'Ids of the chain whose market the catalogue lacked', ['by']);
  const asked = metrics.counter('catalog_wanted_asked_total', 'Ids asked for, again or for the first time', ['by']);
  const got = metrics.counter('catalog_wanted_found_total', 'Ids asked for whose market came', ['by']);
  const lost = metrics.counter('catalog_wanted_dropped_total', 'Missing ids that are not asked for again: too many');
  const waiting = metrics.gauge('catalog_wanted_waiting', 'Ids of the chain that wait for their first answer');
  const missing = metrics.gauge('catalog_wanted_missing', 'Ids of the chain that the service did not have');
  const unread = metrics.gauge('catalog_wanted_lag_records', 'Records of chain.final whose ids have no answer yet');
  const unreadable = metrics.counter('catalog_wanted_unreadable_total', 'Records passed over as unreadable');
  const passOver = (reason: string) => {
    unreadable.inc();
    logger.warn({ reason }, 'record passed over');
  };
  const book = createWantedBook({
    hasMarket: writer.hasMarket,
    tokensOf: (condition) => [
      ...tokenPair(addresses.usdcE, condition),
      ...tokenPair(addresses.wrappedCollateral, condition),
    ],
    atOnce: findAtOnce,
    lingerMs: times.lingerMs,
  });
  let readTo = 0;
  let committed = -1;

  const report = () => {
    waiting.set(book.waiting);
    missing.set(book.missing);
    onState?.(`${book.waiting} markets to ask for, ${book.missing} ids without a market`);
  };
  const commit = async () => {
    const nextOffset = book.oldestOffset() ?? readTo;
    unread.set(Math.max(0, (await log.bounds(CHAIN, 0)).next - nextOffset));
    if (nextOffset === committed) return;
    await log.commit(WANTED_GROUP, [{ topic: CHAIN, partition: 0, nextOffset }]);
    committed = nextOffset;
  };
  const restore = async () => {
    for await (const { records } of log.read({ topic: MISSING, partition: 0, from: 'earliest', follow: false })) {
      const last = new Map(records.map(({ key, value }) => [key, value]));
      for (const [key, value] of last) {
        const event = value === null ? undefined : tryDecode(codec, value, passOver);
        if (event?.kind === 'catalog_missing') book.restore(event.value);
        else book.forget(key);
      }
    }
    const [position] = await log.committed(WANTED_GROUP, CHAIN);
    readTo = position?.nextOffset ?? (await log.bounds(CHAIN, 0)).earliest;
    committed = position === undefined ? -1 : readTo;
  };

  const read = async (signal: AbortSignal) => {
    for await (const batch of log.read({
      topic: CHAIN,
      partition: 0,
      from: { offset: readTo },
      follow: true,
      signal,
    })) {
      for (const { value, offset } of batch.records) {
        if (value === null || !wantsDecoding(codec, value)) continue;
        const event = tryDecode(codec, value, passOver);
        const id = event === undefined ? null : idOf(event);
        if (id !== null && book.see(id, offset, nowMs())) seen.inc({ by: id.by });
      }
      readTo = batch.nextOffset;
      while (book.full && !signal.aborted) await pause(times.lookMs, signal);
      if (signal.aborted) return;
    }
  };

  /** Asks, writes the answer, and returns the ids that were answered. Rejects with what may pass. */
  const ask = async (wanted: Wanted, signal: AbortSignal): Promise<void> => {
    asked.inc({ by: wanted.by }, wanted.ids.length);
    try {
      await writer.write(await find(wanted, signal));
    } catch (error) {
      if (!(error instanceof GammaRefusedError)) throw error;
      logger.warn({ err: error, ids: wanted.ids.length }, 'the catalogue service refused a question');
      // One id it cannot bear must not hide the others.
      if (wanted.ids.length > 1) {
        const half = wanted.ids.length >> 1;
        await ask({ ...wanted, ids: wanted.ids.slice(0, half) }, signal);
        return ask({ ...wanted, ids: wanted.ids.slice(half) }, signal);
      }
    }
    const { changes, found, dropped } = book.settle(wanted, nowMs());
    if (found > 0) got.inc({ by: wanted.by }, found);
    if (dropped > 0) lost.inc({}, dropped);
    if (changes.length > 0) await log.append(MISSING, changes.map(encode));
  };
  const encode = ({ key, value }: MissingChange) => ({
    key,
    value: value === null ? null : codec.encode('catalog_missing', value),
    timestampMs: nowMs(),
  });

  const askAll = async (signal: AbortSignal) => {
    let faults = 0;
    let commitAtMs = nowMs();
    while (!signal.aborted) {
      const wanted = book.next(nowMs());
      if (wanted !== null) {
        try {
          await ask(wanted, signal);
          faults = 0;
        } catch (error) {
          if (signal.aborted) break;
          if (!(error instanceof RetryableError || error instanceof GammaShapeError)) throw error;
          const waitMs = Math.min(times.longestFaultMs, times.faultMs * 2 ** Math.min(faults++, 20));
          logger.warn({ err: error, waitMs }, 'could not ask for markets');
          await pause(waitMs, signal);
        }
      }
      report();
      if (nowMs() >= commitAtMs) {
        await commit();
        commitAtMs = nowMs() + times.commitMs;
      }
      if (wanted === null) await pause(times.lookMs, signal);
    }
    await commit();
  };

  return {
    /** Tell the tokens of a market that is in the catalogue. */
    addTokens: book.addTokens,
    /** Until the signal. The catalogue has to be restored before. Rejects with the first failure that is not the service's. */
    async run(signal: AbortSignal): Promise<void> {
      await restore();
      report();
      const stop = new AbortController();
      const both = AbortSignal.any([signal, stop.signal]);
      const loops = [read(both), askAll(both)];
      try {
        await Promise.all(loops);
      } finally {
        stop.abort();
        await Promise.allSettled(loops);
      }
    },
  };
}

function wantsDecoding(codec: Codec, bytes: Buffer): boolean {
  try {
    return kindsWithIds.has(codec.kindOf(bytes));
  } catch {
    // The decoder says why.
    return true;
  }
}
