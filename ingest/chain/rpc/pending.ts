import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import type { Hex, RpcTransaction } from '../source.js';
import type { RpcClient } from './http-client.js';
import { RpcError } from './rpc-error.js';
import type { RpcSocket } from './socket.js';

/** Hashes per batch request, and maximum queue length: pending transactions are best effort, and a flood must not fill the memory. */
const BATCH = 50;
const MAX_QUEUED = 5000;

const isHex = (value: unknown): value is Hex => typeof value === 'string' && value.startsWith('0x');

/** The used fields, or null when the value is not a transaction. */
function parseTransaction(value: unknown): RpcTransaction | null {
  const tx = value as Record<string, unknown> | null | undefined;
  if (typeof tx !== 'object' || tx === null) return null;
  const { hash, from, to = null } = tx;
  const input = tx.input ?? tx.data;
  if (!isHex(hash) || !isHex(from) || !isHex(input) || (to !== null && !isHex(to))) return null;
  const blockNumber = isHex(tx.blockNumber) ? tx.blockNumber : null;
  return {
    hash: hash.toLowerCase() as Hex,
    from: from.toLowerCase() as Hex,
    to: to === null ? null : (to.toLowerCase() as Hex),
    input,
    blockNumber,
  };
}

/**
 * Subscribes to mempool transactions to the given contracts by the first method that the node supports: full bodies (Bor, geth), Alchemy's
 * filtered feed, bodies under their older name, or hashes that are read one by one. A node without any of them is logged once.
 */
export function createPendingFeed(deps: {
  client: RpcClient;
  to: readonly Hex[];
  logger: Logger;
  metrics: Metrics;
  now: () => number;
}): {
  start(socket: RpcSocket, onTransaction: (transaction: RpcTransaction, seenAtMs: number) => void): Promise<void>;
} {
  const { client, logger, now } = deps;
  const recipients = new Set<string>(deps.to);
  const dropped = deps.metrics.counter(
    'chain_pending_dropped_total',
    'Pending transaction hashes dropped because the queue was full',
  );
  const ways: readonly (readonly unknown[])[] = [
    ['newPendingTransactions', true],
    ['alchemy_pendingTransactions', { toAddress: deps.to, hashesOnly: false }],
    ['newPendingTransactionsWithBody'],
    ['newPendingTransactions'],
  ];
  let warned = '';
  const warnOnce = (text: string, level: 'info' | 'warn') => {
    if (warned === text) return;
    warned = text;
    logger[level](text);
  };

  return {
    async start(socket, onTransaction) {
      let waiting: { readonly hash: string; readonly seenAtMs: number }[] = [];
      let reading = false;
      const deliver = (value: unknown, seenAtMs: number, requested?: string) => {
        const transaction = parseTransaction(value);
        if (transaction === null || (requested !== undefined && transaction.hash !== requested.toLowerCase())) return;
        if (transaction.to === null || !recipients.has(transaction.to)) return;
        if (transaction.blockNumber == null) onTransaction(transaction, seenAtMs);
      };
      const readHashes = async () => {
        reading = true;
        while (waiting.length > 0) {
          const part = waiting.slice(0, BATCH);
          waiting = waiting.slice(BATCH);
          const calls = part.map(({ hash }) => ({ method: 'eth_getTransactionByHash', params: [hash] }));
          try {
            const responses = await client.batch(calls);
            for (const [index, response] of responses.entries()) {
              if (!(response instanceof RpcError)) deliver(response, part[index]!.seenAtMs, part[index]!.hash);
            }
          } catch (error) {
            logger.debug({ err: String(error), count: part.length }, 'pending transactions not read');
          }
        }
        reading = false;
      };
      const onData = (value: unknown) => {
        const seenAtMs = now();
        if (typeof value !== 'string') {
          warnOnce('the mempool comes with whole transactions', 'info');
          deliver(value, seenAtMs);
          return;
        }
        warnOnce('the mempool comes as hashes; each is read on its own', 'info');
        waiting.push({ hash: value, seenAtMs });
        if (waiting.length > MAX_QUEUED) {
          dropped.inc(waiting.length - MAX_QUEUED);
          waiting = waiting.slice(-MAX_QUEUED);
        }
        if (!reading) void readHashes();
      };
      let rejection = '';
      for (const params of ways) {
        try {
          await socket.subscribe(params, onData);
          return;
        } catch (error) {
          rejection = error instanceof Error ? error.message : String(error);
        }
      }
      warnOnce(`the node offers no mempool subscription, so there are no pending settlements: ${rejection}`, 'warn');
    },
  };
}
