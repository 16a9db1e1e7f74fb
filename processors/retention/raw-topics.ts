import type { Log } from '../../infra/log/port.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { consumerGroups } from '../../schemas/consumer-groups.js';
import { type Topic, topics } from '../../schemas/topics.js';
import { createChunkJournal } from '../sink/chunk-journal.js';
import { createChunkPlans } from '../sink/chunk-plans.js';
import type { SinkDefinition } from '../sink/sink-definition.js';
import type { TableStore } from '../sink/table-store.js';

/** A topic of raw history with everything that reads it. */
export interface RawTopic {
  readonly topic: Topic;
  /** First offset of the partition that a reader may still request; 0 while one of them has read nothing. */
  readonly neededFrom: (partition: number) => Promise<number>;
}

/**
 * The topics whose retention `RAW_HISTORY_DAYS` sets: those without a limit of their own that are not compacted. `sinks`: all sinks; those of other topics are
 * ignored.
 */
export function createRawTopics(deps: {
  log: Pick<Log, 'committed' | 'acquireOwnership' | 'lastRecord' | 'bounds' | 'read'>;
  codec: Codec;
  store: TableStore;
  sinks: readonly SinkDefinition[];
  onUnreadable: OnUnreadable;
}): readonly RawTopic[] {
  const { log, codec, store, sinks, onUnreadable } = deps;

  const committed = async (group: string, { name }: Topic, partition: number): Promise<number | undefined> =>
    (await log.committed(group, name)).find((one) => one.partition === partition)?.nextOffset;

  /** A sink inserts its newest planned chunk again, and that of its tables if they were restored. */
  const neededBySink = async (definition: SinkDefinition, partition: number): Promise<number> => {
    const topic = definition.topic.name;
    const plan = await createChunkPlans({ definition, partition, log, codec, onUnreadable }).newest();
    const chunk = await createChunkJournal({ store, sink: definition.name, topic, partition }).newest();
    return plan === null || chunk === null ? 0 : Math.min(plan.firstOffset, chunk.firstOffset);
  };

  const rawTopic = (topic: Topic, groups: (partition: number) => readonly string[]): RawTopic => ({
    topic,
    async neededFrom(partition) {
      const ofGroups = groups(partition).map(async (group) => (await committed(group, topic, partition)) ?? 0);
      const ofSinks = sinks
        .filter((definition) => definition.topic.name === topic.name)
        .map((definition) => neededBySink(definition, partition));
      return Math.min(...(await Promise.all([...ofGroups, ...ofSinks])));
    },
  });

  const chainFinal = rawTopic(topics.chainFinal, () => [consumerGroups.activity, consumerGroups.streamResolutions]);
  return [
    {
      ...chainFinal,
      async neededFrom(partition) {
        // Only catalogues that are read by id have this group.
        const lookups = await committed(consumerGroups.onDemandMarkets, topics.chainFinal, partition);
        return Math.min(await chainFinal.neededFrom(partition), lookups ?? Number.POSITIVE_INFINITY);
      },
    },
    rawTopic(topics.oracleTicks, () => [consumerGroups.stream]),
    rawTopic(topics.walletActivity, (partition) => [consumerGroups.positions(partition)]),
    rawTopic(topics.pnlEvents, () => []),
  ];
}
