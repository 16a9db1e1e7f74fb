import type { Config } from '../../infra/config/config.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { DeadLetters } from '../shared/dead-letters.js';
import type { Imported } from '../shared/imported/open-imported.js';
import { createImportedOracleSource } from './imported/imported-source.js';
import { createRecordedOracleSource, type RecordedDay } from './recorded/recorded-source.js';
import { createRtdsSource } from './rtds/rtds-source.js';
import type { OracleSource } from './source.js';

/** Opens the configured oracle source. `recording` is opened only in recorded mode without imported files. */
export function openOracleSource(deps: {
  sources: Config['sources'];
  recording: () => RecordedDay;
  imported: Imported | null;
  deadLetters: DeadLetters;
  metrics: Metrics;
  logger: Logger;
}): OracleSource {
  const { sources, imported, deadLetters, metrics } = deps;
  if (imported !== null) return createImportedOracleSource(imported);
  const logger = deps.logger.child({ source: 'oracle' });
  if (sources.mode === 'recorded') {
    return createRecordedOracleSource({ recording: deps.recording(), historyOnly: sources.recordedHistoryOnly });
  }
  return createRtdsSource({
    url: sources.rtdsUrl,
    logger,
    metrics,
    onRejected: (reason, payload) => {
      deadLetters.put({ origin: 'rtds', stage: 'oracle.decode', reason, payload }).catch((error: unknown) => {
        logger.error({ err: error }, 'could not write a dead letter');
      });
    },
  });
}
