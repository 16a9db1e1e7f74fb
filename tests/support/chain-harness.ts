import { createMemoryLog, type MemoryLog, type MemoryLogOptions } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import { createBlockCache } from '../../ingest/chain/block-cache.js';
import { createBlockEncoder } from '../../ingest/chain/block-records.js';
import { createChainMetrics } from '../../ingest/chain/chain-metrics.js';
import type { RpcTransaction } from '../../ingest/chain/source.js';
import { createDeadLetters } from '../../ingest/shared/dead-letters.js';
import { type AnyEvent, createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import { fakeDecoder, txHash } from './fake-chain.js';

export const codec = createCodec();

/** The dependencies of a chain writer, over one log handle. */
export function chainParts(log: MemoryLog) {
  const registry = createMetrics({ process: 'test', defaults: false });
  const logger = silentLogger();
  return {
    log,
    codec,
    encodeBlock: createBlockEncoder({ codec, decoder: fakeDecoder }),
    decoder: fakeDecoder,
    cache: createBlockCache({ maxRecords: 1000 }),
    deadLetters: createDeadLetters({ log, codec, metrics: registry, logger, now: () => 1 }),
    metrics: createChainMetrics(registry),
    registry,
    logger,
    origin: 'test',
    onUnreadable: createOnUnreadable({ metrics: registry, logger }),
  };
}

export async function freshLog(options: MemoryLogOptions = {}): Promise<MemoryLog> {
  const log = createMemoryLog(options);
  await log.ensureTopics(allTopics);
  return log;
}

export function eventsOf(log: MemoryLog, topic: string): AnyEvent[] {
  return log.all(topic).map(({ value }) => codec.decode(value!));
}

export const pendingTx = (tx: number, input: `0x${string}` = '0x01'): RpcTransaction => ({
  hash: txHash(tx),
  from: '0x01',
  to: '0xe0',
  input,
});

export interface HeadBlock {
  readonly number: number;
  readonly hash: string;
  readonly events: readonly string[];
  readonly confirmed: readonly string[];
}

/**
 * The blocks of a subscriber that applies retractions after reading chain.head from the start. Throws when the topic violates its rules:
 * a retraction of a block that is not the newest, a block that does not follow, a repeated event, a status update without its settlement.
 */
export function reduceHead(log: MemoryLog): HeadBlock[] {
  const chain: HeadBlock[] = [];
  const settlements = new Set<string>();
  let open: { hash: string; facts: string[]; confirmed: string[] } | null = null;
  const openFor = (hash: string) => {
    if (open !== null && open.hash !== hash) throw new Error(`facts of ${hash} inside block ${open.hash}`);
    open ??= { hash, facts: [], confirmed: [] };
    return open;
  };
  for (const event of eventsOf(log, topics.chainHead.name)) {
    switch (event.kind) {
      case 'settlement':
        settlements.add(event.value.tx_hash);
        break;
      case 'status_update':
        if (!settlements.has(event.value.tx_hash)) throw new Error(`status without settlement ${event.value.tx_hash}`);
        openFor(event.value.block_hash).confirmed.push(event.value.tx_hash);
        break;
      case 'retract': {
        const orphans = [...event.value.block_hashes];
        if (open !== null) {
          if (orphans.pop() !== (open as { hash: string }).hash) throw new Error('half block not retracted');
          open = null;
        }
        const removed = chain.splice(chain.length - orphans.length).map((block) => block.hash);
        if (JSON.stringify(removed) !== JSON.stringify(orphans)) throw new Error('retract is not the top of the chain');
        break;
      }
      case 'block': {
        const { block_hash: hash, block_number: number, parent_hash } = event.value;
        const current = openFor(hash);
        const parent = chain.at(-1);
        if (parent !== undefined && parent.hash !== parent_hash) throw new Error(`block ${number} does not follow`);
        chain.push({ number, hash, events: current.facts, confirmed: current.confirmed });
        open = null;
        break;
      }
      case 'trade': {
        const { facts } = openFor(event.value.block_hash);
        if (facts.includes(event.value.id)) throw new Error(`twice: ${event.value.id}`);
        facts.push(event.value.id);
        break;
      }
      default:
        throw new Error(`unexpected ${event.kind}`);
    }
  }
  return chain;
}
