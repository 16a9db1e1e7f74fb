import type { ImportedTick } from '../../../infra/import/format.js';
import type { Imported } from '../../shared/imported/open-imported.js';
import { parseDecimalE18 } from '../decimal.js';
import { type OraclePrice, type OracleSource, seriesKey } from '../source.js';

const BATCH_TICKS = 5000;

function priceOf(tick: ImportedTick): OraclePrice {
  const optional = (text: string | null) => (text === null ? null : parseDecimalE18(text));
  return {
    feed: tick.feed,
    isTwap: tick.window > 0,
    windowS: tick.window > 0 ? tick.window : null,
    timestampMs: tick.time,
    priceE18: parseDecimalE18(tick.price) ?? 0n,
    bidE18: optional(tick.bid),
    askE18: optional(tick.ask),
    receivedMs: tick.received,
    source: 'recorded',
  };
}

/** Oracle source of exported ticks, at their own times. A resumed log receives the ticks after the newest of each series. */
export function createImportedOracleSource(imported: Imported): OracleSource {
  const total = imported.manifest.ticks.reduce((sum, { rows }) => sum + rows, 0);
  return {
    mode: 'recorded',
    description: `imported files: ${total.toLocaleString('en')} ticks`,
    shiftDays: null,
    recordedFromMs: null,
    hasEndedSeries: true,
    historyTotal: () => total,
    async *history(resume, signal) {
      let batch: OraclePrice[] = [];
      for await (const tick of imported.ticks()) {
        if (signal.aborted) return;
        const price = priceOf(tick);
        if (price.timestampMs <= (resume.get(seriesKey(price)) ?? 0)) continue;
        batch.push(price);
        if (batch.length < BATCH_TICKS) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },
    // Exported files have no live feed.
    async *live() {
      yield { type: 'connected', connected: true, detail: 'at its end' };
    },
  };
}
