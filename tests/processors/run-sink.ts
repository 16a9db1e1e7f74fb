import type { MemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics, type Metrics } from '../../infra/telemetry/metrics.js';
import { createSink, type Sink, type SinkOptions } from '../../processors/sink/sink.js';
import type { SinkDefinition } from '../../processors/sink/sink-definition.js';
import type { TableStore } from '../../processors/sink/table-store.js';
import { createCodec } from '../../schemas/codec.js';

const codec = createCodec();

/** A sink with small chunks and quick retries. */
export function smallSink(
  definition: SinkDefinition,
  log: Pick<MemoryLog, 'read' | 'bounds' | 'acquireOwnership' | 'lastRecord'>,
  store: TableStore,
  maxChunkRecords = 7,
  more: Pick<SinkOptions, 'progress' | 'isCommitted'> = {},
): { readonly sink: Sink; readonly metrics: Metrics } {
  const metrics = createMetrics({ process: 'test', defaults: false });
  const sink = createSink({
    definition,
    partition: 0,
    log,
    store,
    codec,
    logger: silentLogger(),
    metrics,
    maxChunkRecords,
    lingerMs: 1,
    retryDelayMs: 1,
    ...more,
  });
  return { sink, metrics };
}

/** Runs the sink until the tables contain the complete log, or the sink fails. */
export async function runToEnd(sink: Sink): Promise<void> {
  const controller = new AbortController();
  let ended = false;
  const running = sink.run(controller.signal).finally(() => {
    ended = true;
  });
  running.catch(() => undefined);
  while (!ended && (await sink.state()).lag > 0) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  await running;
}
