import type { Config } from '../../infra/config/config.js';
import type { Log } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { topics } from '../../schemas/topics.js';
import type { DeadLetters } from '../shared/dead-letters.js';
import { importedCatalog } from '../shared/imported/catalog.js';
import type { Imported } from '../shared/imported/open-imported.js';
import type { LiveMarkets, Recording } from '../shared/recorded/index.js';
import { createGammaClient } from './gamma/client.js';
import { createGammaSource } from './gamma/gamma-source.js';
import type { HydrationCounts } from './hydration-counts.js';
import { createRecordedCatalogSource } from './recorded/recorded-source.js';
import type { CatalogSource } from './source.js';

/** Opens the configured catalog source. `recording` is opened only in recorded mode without imported files. */
export async function openCatalogSource(deps: {
  sources: Config['sources'];
  recording: () => Recording;
  imported: Imported | null;
  /** Shared with the chain source when given, so that both play the same windows. */
  liveMarkets?: LiveMarkets;
  log: Log;
  deadLetters: DeadLetters;
  metrics: Metrics;
  counts: HydrationCounts;
  logger: Logger;
  /** As last reported by a source; null: never. */
  readUntilMs: number | null;
  /** Called when the service cannot be reached, also while requests are repeated, and when it can again. */
  onReachable?: (reachable: boolean) => void;
}): Promise<CatalogSource> {
  const { sources, imported, log, deadLetters, metrics, counts, readUntilMs } = deps;
  const logger = deps.logger.child({ source: 'catalog' });
  const rejectedFrom = (origin: string) => (reason: string, payload: string) => {
    deadLetters.put({ origin, stage: 'catalog.decode', reason, payload }).catch((error: unknown) => {
      logger.error({ err: error }, 'could not write a dead letter');
    });
  };
  const newest = await log.lastRecord(topics.catalog.name, 0);
  const lastWrittenMs = newest?.timestampMs ?? null;
  if (sources.mode === 'recorded') {
    return createRecordedCatalogSource({
      recording: imported === null ? deps.recording() : importedCatalog(imported),
      liveMarkets: deps.liveMarkets,
      lastWrittenMs: lastWrittenMs === null ? null : Math.min(lastWrittenMs, readUntilMs ?? lastWrittenMs),
      historyOnly: imported !== null || sources.recordedHistoryOnly,
      onRejected: rejectedFrom('catalog-recorded'),
    });
  }
  return createGammaSource({
    client: createGammaClient({
      baseUrl: sources.gammaUrl,
      logger,
      metrics,
      counts,
      ...(deps.onReachable && { onReachable: deps.onReachable }),
    }),
    host: new URL(sources.gammaUrl).host,
    logger,
    metrics,
    counts,
    lastWrittenMs,
    readUntilMs,
    onRejected: rejectedFrom('gamma'),
  });
}
