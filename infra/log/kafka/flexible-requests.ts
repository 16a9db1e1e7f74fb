import type { PartitionOffset } from './kafka-connection.js';
import { type BrokerClient, protocolError } from './kafkajs-client.js';
import { WireWriter } from './wire.js';

/**
 * Requests in flexible versions (KIP-482), which kafkajs lacks: a section of tags ends the request header, the body and every struct, and strings and
 * arrays have varint lengths.
 */
const API = { offsetFetch: 9, listTransactions: 66 } as const;
const NO_TAGS = 0;

type Client = Pick<BrokerClient, 'send'>;

/** Ids of this coordinator's transactions whose commit is decided but not yet written to all partitions. */
export function listCommittingTransactions(client: Client, broker: string): Promise<readonly string[]> {
  const body = new WireWriter()
    .int8(NO_TAGS)
    .compactArray(['PrepareCommit'], (state, w) => w.compactString(state))
    .compactArray([], () => undefined)
    .int8(NO_TAGS);
  return client.send('ListTransactions', API.listTransactions, 0, body, (r) => {
    r.skipTags();
    r.int32();
    const error = protocolError(r.int16(), broker);
    if (error !== null) throw error;
    r.compactArray(r.compactString);
    return r.compactArray(() => {
      const id = r.compactString();
      r.int64();
      r.compactString();
      r.skipTags();
      return id;
    });
  });
}

/**
 * Committed positions of a group, of the given partitions that have one. `stable` (KIP-447): rejects with UNSTABLE_OFFSET_COMMIT while a transaction that
 * moves one of them is open, or committed but not yet applied by this coordinator.
 */
export function fetchPositions(
  client: Client,
  broker: string,
  request: {
    readonly group: string;
    readonly topic: string;
    readonly partitions: readonly number[];
    readonly stable: boolean;
  },
): Promise<readonly PartitionOffset[]> {
  const { group, topic, partitions, stable } = request;
  const body = new WireWriter().int8(NO_TAGS).compactString(group);
  body.compactArray([topic], (name) => {
    body.compactString(name).compactArray(partitions, (partition) => body.int32(partition));
    body.int8(NO_TAGS);
  });
  body.int8(stable ? 1 : 0).int8(NO_TAGS);
  return client.send('OffsetFetch', API.offsetFetch, 7, body, (r) => {
    r.skipTags();
    r.int32();
    const topics = r.compactArray(() => {
      const name = r.compactString();
      const positions = r.compactArray(() => {
        const [partition, offset] = [r.int32(), r.int64()];
        r.int32();
        r.compactString();
        const error = protocolError(r.int16(), `${broker}, group "${group}", topic "${name}"`);
        r.skipTags();
        return { partition, offset, error };
      });
      r.skipTags();
      return positions;
    });
    const all = topics.flat();
    const error =
      protocolError(r.int16(), `${broker}, group "${group}"`) ?? all.find((one) => one.error !== null)?.error;
    if (error != null) throw error;
    return all.flatMap(({ partition, offset }) => (offset < 0 ? [] : [{ partition, offset }]));
  });
}
