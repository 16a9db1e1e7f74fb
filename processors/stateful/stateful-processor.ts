import { FatalError } from '../../infra/errors.js';
import { FencedError } from '../../infra/log/errors.js';
import type { GroupOwnership, Log, LogRecord, NewRecord } from '../../infra/log/port.js';
import { requireRecords } from '../../infra/log/required-records.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { type Codec, CodecError } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { createTaskLag } from '../assignment/task-lag.js';
import { deadLetterRecord } from '../dead-letter.js';
import { followChunks } from '../sink/chunk-reader.js';
import { createStateCache, type StateCache } from './state-cache.js';
import type { StateChanges, StateStore } from './state-store.js';
import { createWriteBehindBuffer } from './write-behind.js';

export interface Output {
  readonly topic: string;
  readonly record: NewRecord;
}

/** Keyed state as a step sees it. */
export type KeyedState<S> = Pick<StateCache<S>, 'get' | 'set'>;

/** Definition of a stateful processor. All data that persists between steps is in the keyed state, so that the same records always produce the same outputs. */
export interface StatefulProcessorSpec<S> {
  /** Consumer group, and name in metrics and the store. Must never change: the committed position depends on it. */
  readonly name: string;
  readonly input: { readonly topic: string; readonly partition: number };
  /** Compacted changelog topic of the state: every change is appended to it in the same transaction as the outputs. */
  readonly state: {
    readonly topic: string;
    readonly partition: number;
    decode(bytes: Buffer): S;
    encode(state: S): Buffer;
  };
  /** Number of records at the end of `records` that belong to an incomplete group (such as a block); they are passed again with the following records. */
  readonly incomplete?: (records: readonly LogRecord[]) => number;
  readonly apply: (record: LogRecord, state: KeyedState<S>, emit: (output: Output) => void) => void;
  /** Called after the last record of a step. */
  readonly flush?: (state: KeyedState<S>, emit: (output: Output) => void) => void;
  /** Largest number of records per step, and how long a smaller step waits for more: each step syncs the disk and appends every state it changed. */
  readonly maxRecords: number;
  readonly lingerMs: number;
}

export interface StatefulProcessorStatus {
  readonly name: string;
  readonly loaded: boolean;
  /** Input records that are not yet processed. */
  readonly lag: number;
}

export interface StatefulProcessor {
  run(signal: AbortSignal): Promise<void>;
  state(): Promise<StatefulProcessorStatus>;
}

/** True for errors of a record that cannot be decoded, or whose text fields are not numbers, hashes or addresses. */
export const isUnreadable = (error: unknown): error is Error =>
  error instanceof CodecError || error instanceof RangeError || error instanceof SyntaxError;

/** Decoded states in memory per processor. */
const CACHED_STATES = 2_000;
const LOAD_RECORDS = 5_000;

/**
 * Consume-transform-produce processor with exactly-once output: outputs, state changes and the input position are committed to the log in one
 * transaction. The local store only avoids reading the state topic at start; it is written some time after the log. A store behind the
 * committed position catches up by applying the records in between without emitting their outputs; a store that is ahead or empty is
 * reloaded from the state topic.
 *
 * A run first acquires ownership of the consumer group, which fences every earlier owner: only the newest owner can commit steps.
 */
export function createStatefulProcessor<S>(options: {
  spec: StatefulProcessorSpec<S>;
  log: Pick<Log, 'read' | 'bounds' | 'committed' | 'lastRecord' | 'acquireOwnership'>;
  codec: Codec;
  store: StateStore;
  logger: Logger;
  metrics: Metrics;
}): StatefulProcessor {
  const { spec, log, codec, store, logger } = options;
  const { topic, partition } = spec.input;
  const names = ['processor'];
  const records = options.metrics.counter('processor_records_total', 'Input records processed', names);
  const letters = options.metrics.counter(
    'processor_dead_letters_total',
    'Input records that could not be processed',
    names,
  );
  // The rise of a counter that appears with its first count is not seen by `increase`.
  letters.inc({ processor: spec.name }, 0);
  const taskLag = createTaskLag(
    options.metrics.gauge('processor_lag_records', 'Input records not yet processed', names),
  );
  let next = 0;
  let loaded = false;

  /** Outputs of complete groups of records; unreadable records are skipped and written to dead.letters. */
  const transform = (batch: readonly LogRecord[], cache: StateCache<S>): Map<string, NewRecord[]> => {
    const outputs = new Map<string, NewRecord[]>();
    const emit = (output: Output): void => {
      const list = outputs.get(output.topic);
      if (list === undefined) outputs.set(output.topic, [output.record]);
      else list.push(output.record);
    };
    for (const record of batch) {
      try {
        spec.apply(record, cache, emit);
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        logger.warn(
          { processor: spec.name, offset: record.offset, reason: error.message },
          'input record moved to the dead letters',
        );
        letters.inc({ processor: spec.name });
        const reason = error.message;
        const letter = deadLetterRecord({ codec, by: spec.name, topic, partition, record, reason });
        emit({ topic: topics.deadLetters.name, record: letter });
      }
    }
    spec.flush?.(cache, emit);
    return outputs;
  };

  const encodeChanges = (changes: Iterable<readonly [string, S]>): [string, Buffer][] => {
    const encoded: [string, Buffer][] = [];
    for (const [key, state] of changes) encoded.push([key, spec.state.encode(state)]);
    return encoded;
  };

  const commitToStore = (changes: StateChanges, from: number | undefined, nextOffset: number): void => {
    if (!store.commit(changes, from, nextOffset))
      throw new FencedError(`${spec.name}: another process of this machine has written to the state store`);
  };
  const storeBuffer = createWriteBehindBuffer({ commit: commitToStore });

  const step = async (
    ownership: GroupOwnership,
    batch: readonly LogRecord[],
    nextOffset: number,
    cache: StateCache<S>,
  ): Promise<void> => {
    const outputs = transform(batch, cache);
    const changes = encodeChanges(cache.changes());
    const timestampMs = batch.at(-1)?.timestampMs ?? 0;
    const states = changes.map(([key, value]) => ({ key, value, timestampMs, partition: spec.state.partition }));
    await ownership.appendAndCommit({
      outputs: [
        ...[...outputs].map(([name, list]) => ({ topic: name, records: list })),
        ...(states.length > 0 ? [{ topic: spec.state.topic, records: states }] : []),
      ],
      offsets: [{ topic, partition, nextOffset }],
    });
    storeBuffer.add(changes, nextOffset);
    cache.markCommitted();
    records.inc({ processor: spec.name }, batch.length);
    next = nextOffset;
  };

  async function* chunks(from: number, follow: boolean, signal: AbortSignal) {
    if (!follow) {
      const read = { topic, partition, from: { offset: from }, follow, maxRecords: LOAD_RECORDS, signal };
      yield* log.read(read);
      return;
    }
    const { maxRecords, lingerMs } = spec;
    const chunked = followChunks({ log, topic, partition, signal, fromOffset: from, maxRecords, lingerMs });
    for await (const { records: read, lastOffset } of chunked) yield { records: read, nextOffset: lastOffset + 1 };
  }

  /** Batches of the input that end with a complete group of records, from offset `from` on. */
  async function* completeBatches(from: number, follow: boolean, signal: AbortSignal) {
    let buffered: readonly LogRecord[] = [];
    for await (const chunk of chunks(from, follow, signal)) {
      const all = buffered.length === 0 ? chunk.records : [...buffered, ...chunk.records];
      const incomplete = spec.incomplete?.(all) ?? 0;
      buffered = all.slice(all.length - incomplete);
      const whole = all.slice(0, all.length - incomplete);
      const nextOffset = buffered[0]?.offset ?? chunk.nextOffset;
      if (whole.length > 0) yield { records: whole, nextOffset };
    }
  }

  /**
   * Reads the state from its topic, to the end of the topic. That is the state at `committed` only if no other process has committed a step since the
   * offset was read. A commit of the same offset shows that: it fails once another process has acquired ownership, and the store gets no position.
   */
  const loadFromTopic = async (ownership: GroupOwnership, committed: number, signal: AbortSignal): Promise<void> => {
    store.clear();
    const { topic: stateTopic, partition: statePartition } = spec.state;
    const { earliest } = await log.bounds(stateTopic, statePartition);
    const read = { topic: stateTopic, partition: statePartition, from: { offset: earliest }, follow: false };
    let count = 0;
    for await (const batch of log.read({ ...read, maxRecords: LOAD_RECORDS, signal })) {
      store.load(batch.records.flatMap(({ key, value }) => (value === null ? [] : [[key, value] as const])));
      count += batch.records.length;
    }
    if (signal.aborted) return;
    await ownership.appendAndCommit({ outputs: [], offsets: [{ topic, partition, nextOffset: committed }] });
    commitToStore([], undefined, committed);
    logger.info({ processor: spec.name, records: count }, 'state loaded from its topic');
  };

  const newCache = (): StateCache<S> =>
    createStateCache<S>({
      capacity: CACHED_STATES,
      read: (key) => {
        const bytes = storeBuffer.get(key) ?? store.get(key);
        return bytes === undefined ? undefined : spec.state.decode(bytes);
      },
    });

  /**
   * Applies the records between the store's position and the committed one, without emitting their outputs. Ends early when records that the store lacks
   * are being deleted, which a read skips.
   */
  const catchUp = async (stored: number, committed: number, signal: AbortSignal): Promise<void> => {
    const cache = newCache();
    let from = stored;
    for await (const batch of completeBatches(from, false, signal)) {
      if ((await log.bounds(topic, partition)).earliest > from) return;
      const whole = batch.records.filter((record) => record.offset < committed);
      transform(whole, cache);
      const reached = batch.nextOffset >= committed;
      const to = reached ? committed : batch.nextOffset;
      commitToStore(encodeChanges(cache.changes()), from, to);
      from = to;
      cache.markCommitted();
      if (reached) return;
    }
  };

  /** The first step commits state and position together: state without a position means that the position was deleted, and all input would count twice. */
  const requireNoState = async (): Promise<void> => {
    if ((await log.lastRecord(spec.state.topic, spec.state.partition)) === null) return;
    throw new FatalError(
      `${spec.name}: ${spec.state.topic}/${spec.state.partition} has its state, but the position of the consumer group ${spec.name} in ${topic} is missing: the broker deleted it (offsets.retention.minutes). See "Symptoms" in docs/OPERATIONS.md`,
    );
  };

  const restore = async (ownership: GroupOwnership, signal: AbortSignal): Promise<number> => {
    const committed = (await log.committed(spec.name, topic)).find((one) => one.partition === partition)?.nextOffset;
    await requireRecords(log, { reader: spec.name, topic, partition, from: committed ?? 0 });
    if (committed === undefined) {
      await requireNoState();
      store.clear();
      commitToStore([], undefined, 0);
      return 0;
    }
    const { earliest } = await log.bounds(topic, partition);
    const stored = store.position();
    if (stored !== undefined && stored < committed && stored >= earliest) await catchUp(stored, committed, signal);
    if (!signal.aborted && store.position() !== committed) await loadFromTopic(ownership, committed, signal);
    return committed;
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    const ownership = await log.acquireOwnership(spec.name);
    next = await restore(ownership, signal);
    if (signal.aborted) return;
    const cache = newCache();
    loaded = true;
    storeBuffer.start(next);
    for await (const batch of completeBatches(next, true, signal)) {
      await step(ownership, batch.records, batch.nextOffset, cache);
      if (signal.aborted) break;
    }
    storeBuffer.flush();
  };

  return {
    run: (signal) => taskLag.during(() => run(signal)),
    async state() {
      const bounds = await log.bounds(topic, partition);
      const lag = Math.max(0, bounds.next - Math.max(next, bounds.earliest));
      taskLag.set({ processor: spec.name }, lag);
      return { name: spec.name, loaded, lag };
    },
  };
}
