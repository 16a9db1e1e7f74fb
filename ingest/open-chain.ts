import type { Config } from '../infra/config/config.js';
import { FatalError } from '../infra/errors.js';
import type { Logger } from '../infra/telemetry/logger.js';
import type { Metrics } from '../infra/telemetry/metrics.js';
import { settlementTargets, watchedAddresses, watchedTopics } from './chain/contracts.js';
import { createImportedChainSource } from './chain/imported/imported-source.js';
import { polygonChainId } from './chain/order-abi.js';
import { createRecordedChainSource } from './chain/recorded/recorded-source.js';
import type { NetworkState } from './chain/rpc/rpc-source.js';
import type { ChainSource } from './chain/source.js';
import { isUnread } from './chain/unread-events.js';
import type { Imported } from './shared/imported/open-imported.js';
import type { LiveMarkets, Recording } from './shared/recorded/index.js';

/** Opens the configured chain source. `recording` is opened only in recorded mode without imported files. */
export async function openChainSource(deps: {
  sources: Config['sources'];
  recording: () => Recording;
  imported: Imported | null;
  /** Shared with the catalogue source, so that both play the same windows. */
  liveMarkets?: LiveMarkets;
  /** Of a live node. */
  network: NetworkState;
  metrics: Metrics;
  logger: Logger;
}): Promise<ChainSource> {
  const { sources, imported, network, metrics, logger } = deps;
  if (imported !== null) return createImportedChainSource(imported);
  if (sources.mode === 'recorded') {
    return createRecordedChainSource({
      recording: deps.recording(),
      logger: logger.child({ source: 'chain' }),
      historyOnly: sources.recordedHistoryOnly,
      liveMarkets: deps.liveMarkets,
    });
  }
  if (sources.rpcUrl === undefined || sources.rpcWsUrl === undefined)
    throw new FatalError('POLYGON_RPC_URL is not set');
  const { createRpcSource } = await import('./chain/rpc/rpc-source.js');
  return createRpcSource({
    rpcUrl: sources.rpcUrl,
    wsUrl: sources.rpcWsUrl,
    startBlock: sources.startBlock,
    filter: { addresses: watchedAddresses, topics: watchedTopics, skips: isUnread },
    pendingTo: settlementTargets,
    chainId: polygonChainId,
    network,
    logger,
    metrics,
  });
}
