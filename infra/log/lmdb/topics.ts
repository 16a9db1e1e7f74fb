import { FatalError } from '../../errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { LogArgumentError, UnknownTopicError } from '../errors.js';
import type { TopicSpec } from '../port.js';
import { MAX_PARTITIONS, topicEnd, topicKey, topicPrefix, VERSION_KEY } from './keys.js';
import { encodeVersion, type Store } from './store.js';

export interface Topic extends TopicSpec {
  readonly id: number;
}

/**
 * The topic table, cached. The stored version increases with every change by any process, so one small read inside a transaction
 * shows whether the cache is current.
 */
export interface TopicTable {
  ensure(specs: readonly TopicSpec[]): void;
  /** Throws UnknownTopicError after reloading the table from the store. */
  get(name: string): Topic;
  /** `get`, and the partition must exist. */
  partition(name: string, partition: number): Topic;
  all(): readonly Topic[];
  /** Version of the cached table. */
  cachedVersion(): number;
  /** Version in the store, as seen by the transaction that is running. */
  storedVersion(): number;
  reload(): void;
}

type StoredTopic = Omit<Topic, 'name'>;

export function createTopicTable(deps: { store: Store; logger: Logger }): TopicTable {
  const { store, logger } = deps;
  let cache = new Map<string, Topic>();
  let version = -1;

  const storedVersion = () => store.meta.get(VERSION_KEY)?.readUInt32LE(4) ?? 0;
  const load = (): Map<string, Topic> => {
    const topics = new Map<string, Topic>();
    for (const { key, value } of store.meta.getRange({ start: topicPrefix, end: topicEnd })) {
      const name = Buffer.from(key).toString('utf8', 1);
      topics.set(name, { name, ...(JSON.parse(value.toString('utf8')) as StoredTopic) });
    }
    return topics;
  };
  const reload = () =>
    store.read(() => {
      version = storedVersion();
      cache = load();
    });

  const widened = (old: Topic, spec: TopicSpec): Topic => {
    if (old.compacted !== spec.compacted) {
      throw new FatalError(
        `Topic "${spec.name}" is ${old.compacted ? '' : 'not '}compacted; that cannot be changed: another version created this log. Use that version, or a new log (LOG_URL).`,
      );
    }
    if (spec.partitions < old.partitions) {
      // A log of a version that divided topics on one machine, too.
      logger.debug(
        { topic: spec.name, has: old.partitions, requested: spec.partitions },
        'partitions of a topic are never removed',
      );
    }
    const forEver = old.retentionMs === null || spec.retentionMs === null;
    return {
      ...old,
      partitions: Math.max(old.partitions, spec.partitions),
      retentionMs: forEver ? null : Math.max(old.retentionMs, spec.retentionMs),
    };
  };

  const missing = (topics: ReadonlyMap<string, Topic>, specs: readonly TopicSpec[]) =>
    specs.some((spec) => {
      const old = topics.get(spec.name);
      if (old === undefined) return true;
      const wide = widened(old, spec);
      return wide.partitions !== old.partitions || wide.retentionMs !== old.retentionMs;
    });

  return {
    ensure(specs) {
      for (const spec of specs) validate(spec);
      reload();
      if (!missing(cache, specs)) return;
      store.write(() => {
        const topics = load();
        let nextId = 1 + Math.max(0, ...[...topics.values()].map((topic) => topic.id));
        for (const spec of specs) {
          const old = topics.get(spec.name);
          const topic = old === undefined ? { ...spec, id: nextId++ } : widened(old, spec);
          topics.set(spec.name, topic);
          const { id, partitions, retentionMs, compacted } = topic;
          const stored: StoredTopic = { id, partitions, retentionMs, compacted };
          store.meta.put(topicKey(spec.name), Buffer.from(JSON.stringify(stored)));
        }
        store.meta.put(VERSION_KEY, encodeVersion(storedVersion() + 1));
      });
      reload();
    },
    get(name) {
      const known = cache.get(name);
      if (known !== undefined) return known;
      reload();
      const found = cache.get(name);
      if (found === undefined) throw new UnknownTopicError(name);
      return found;
    },
    partition(name, partition) {
      const known = cache.get(name);
      if (known === undefined || !(partition < known.partitions)) reload();
      const topic = cache.get(name);
      if (topic === undefined) throw new UnknownTopicError(name);
      if (!Number.isInteger(partition) || partition < 0 || partition >= topic.partitions) {
        throw new UnknownTopicError(
          name,
          `Topic "${name}" has ${topic.partitions} partitions, no partition ${partition}`,
        );
      }
      return topic;
    },
    all() {
      reload();
      return [...cache.values()];
    },
    cachedVersion: () => version,
    storedVersion,
    reload,
  };
}

function validate(spec: TopicSpec): void {
  if (!/^[a-zA-Z0-9._-]{1,249}$/.test(spec.name)) {
    throw new LogArgumentError(`Topic name "${spec.name}": 1 to 249 letters, digits, dots, underscores or hyphens`);
  }
  if (!Number.isInteger(spec.partitions) || spec.partitions < 1 || spec.partitions > MAX_PARTITIONS) {
    throw new LogArgumentError(
      `Topic "${spec.name}": partitions must be 1 to ${MAX_PARTITIONS}, not ${spec.partitions}`,
    );
  }
  if (spec.retentionMs !== null && !(Number.isSafeInteger(spec.retentionMs) && spec.retentionMs > 0)) {
    throw new LogArgumentError(`Topic "${spec.name}": retentionMs must be a positive integer or null`);
  }
}
