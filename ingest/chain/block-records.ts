import type { NewRecord } from '../../infra/log/port.js';
import { type Codec, CodecError } from '../../schemas/codec.js';
import type { Block, BlockContract, Trade, UnknownLog } from '../../schemas/types.gen.js';
import { payloadOf } from '../shared/dead-letters.js';
import type { ChainEvent } from './decode/index.js';
import type { ChainDecoder } from './decoder.js';
import type { Hex, SourceBlock } from './source.js';

/** A log that could not be decoded. */
export interface RejectedLog {
  readonly reason: string;
  readonly payload: string;
}

/** One block, decoded and encoded once for both topics: event records in log order, followed by the block record. */
export interface BlockRecords {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly timestampMs: number;
  /** false: the block has no log of a watched contract, so chain.final omits it. */
  readonly hasLogs: boolean;
  /** See SourceBlock. */
  readonly logsMayBeMissing: boolean;
  readonly eventRecords: readonly NewRecord[];
  /** Event ids of `facts`, same order. */
  readonly eventIds: readonly string[];
  readonly block: NewRecord;
  readonly trades: readonly Trade[];
  readonly rejectedLogs: readonly RejectedLog[];
  /** Number of logs with unknown events; their records are among the events. */
  readonly unknown: readonly UnknownLog[];
  /** Logs and records by contract, as in the block record. */
  readonly contracts: readonly BlockContract[];
}

/** Adds record counts to the counts of logs by contract. `unfit`: indexes of logs whose record the schema rejected. */
function addRecordCounts(
  contracts: ReturnType<ChainDecoder['decodeBlock']>['contracts'],
  of: { readonly block: SourceBlock; readonly kept: readonly ChainEvent[]; readonly unfit: ReadonlySet<number> },
): BlockContract[] {
  const addressAt = new Map(of.block.logs.map((log) => [Number(log.logIndex), log.address as string]));
  const count = (indexes: Iterable<number>): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>();
    for (const index of indexes) {
      const address = addressAt.get(index);
      if (address !== undefined) counts.set(address, (counts.get(address) ?? 0) + 1);
    }
    return counts;
  };
  const records = count(of.kept.map(({ value }) => value.log_index));
  const unfit = count(of.unfit);
  return contracts.map(({ address, logs, decoded }) => ({
    address,
    logs,
    decoded: Math.max(0, decoded - (unfit.get(address) ?? 0)),
    records: records.get(address) ?? 0,
  }));
}

export type EncodeBlock = (block: SourceBlock) => BlockRecords;

/** Runs for every log of the history, so it uses no promises and one key per block. An event that the schema rejects becomes a problem. */
export function createBlockEncoder(deps: { codec: Codec; decoder: ChainDecoder }): EncodeBlock {
  const { codec, decoder } = deps;
  return (block) => {
    const { events, problems, contracts } = decoder.decodeBlock(block);
    const key = String(block.number);
    const timestampMs = block.timestampS * 1000;
    const rejectedLogs: RejectedLog[] = problems.map(({ log, reason }) => ({ reason, payload: payloadOf(log) }));
    const eventRecords: NewRecord[] = [];
    const eventIds: string[] = [];
    const trades: Trade[] = [];
    const unknown: UnknownLog[] = [];
    let encoded = events;
    const unfit = new Set<number>();
    for (const event of events) {
      let value: Buffer;
      try {
        value = codec.encode(event.kind, event.value);
      } catch (error) {
        if (!(error instanceof CodecError)) throw error;
        const index = event.value.log_index;
        const log = block.logs.find((candidate) => Number(candidate.logIndex) === index);
        rejectedLogs.push({ reason: error.message, payload: payloadOf(log ?? event.value.id) });
        unfit.add(index);
        encoded = encoded.filter((other) => other !== event);
        continue;
      }
      eventRecords.push({ key, value, timestampMs });
      eventIds.push(event.value.id);
      if (event.kind === 'trade') trades.push(event.value);
      if (event.kind === 'unknown_log') unknown.push(event.value);
    }
    const blockEvent: Block = {
      ...decoder.blockEvent(block, encoded),
      contracts: addRecordCounts(contracts, { block, kept: encoded, unfit }),
    };
    return {
      number: block.number,
      hash: block.hash,
      parentHash: block.parentHash,
      timestampMs,
      hasLogs: block.logs.length > 0,
      logsMayBeMissing: block.logsMayBeMissing ?? false,
      eventRecords,
      eventIds,
      block: { key, value: codec.encode('block', blockEvent), timestampMs },
      contracts: blockEvent.contracts ?? [],
      trades,
      rejectedLogs,
      unknown,
    };
  };
}
