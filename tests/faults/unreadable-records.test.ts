import { afterEach, describe, expect, it } from 'vitest';
import { openLog } from '../../infra/log/open-log.js';
import { partitionsOf } from '../../infra/log/partitions.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, type Topic, topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import { untilTablesComplete } from '../support/digest.js';
import { eventually, type Product, startProduct, untilUp } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, startLoaded } from '../support/reference-run.js';

const running: Product[] = [];
afterEach(async () => {
  for (const product of running.splice(0).reverse()) await product.dispose();
});

const codec = createCodec();
const env = { RECORDED_HISTORY_ONLY: '1', LOG_LEVEL: 'info' };
const NOW = Date.now();
const retract = { id: 'r', from_block: 1, to_block: 1, block_hashes: [], detected_at_ms: NOW };
/** No record, a record of an unknown schema, half a record, and a whole one that belongs elsewhere. */
const unreadableRecordsFor = (topic: Topic): Buffer[] => {
  const tag = codec.encode('catalog_tag', { id: '1', slug: 's', label: 'l' });
  const series = { id: '1', slug: 's', title: 't', recurrence: '5m', active: true, closed: false, event_count: null };
  const unknownSchema = Buffer.from(tag);
  unknownSchema.writeUInt32BE(999_999, 1);
  const foreign = topic === topics.catalog ? codec.encode('retract', retract) : codec.encode('catalog_series', series);
  return [Buffer.alloc(0), Buffer.from('garbage'), unknownSchema, tag.subarray(0, tag.length - 2), foreign];
};

describe('garbage in every topic', () => {
  it(
    'ends no process, is counted and dead-lettered, and is skipped after a restart',
    async () => {
      const first = await startLoaded({ LOG_LEVEL: 'info' });
      running.push(first);
      const [before] = await first.sql<{ n: string }>('SELECT count() AS n FROM fills');

      const log = await openLog(`lmdb:${first.dataDir}/log`, { logger: silentLogger(), maintenance: false });
      for (const topic of allTopics) {
        for (const partition of await partitionsOf(log, topic)) {
          await log.append(
            topic.name,
            unreadableRecordsFor(topic).map((value, i) => ({
              key: `garbage:${i}`,
              value,
              timestampMs: NOW,
              partition,
            })),
          );
        }
      }
      const lettersOf = async () => {
        const origins = new Set<string>();
        const read = { topic: topics.deadLetters.name, partition: 0, from: 'earliest', follow: false } as const;
        for await (const batch of log.read(read)) {
          for (const { value } of batch.records) {
            const event = value === null ? undefined : tryDecode(codec, value, () => undefined);
            if (event?.kind === 'dead_letter') origins.add(event.value.origin.replace(/-\d+-\d+$/, ''));
          }
        }
        return origins;
      };
      const inputs = [topics.chainHead, topics.chainFinal, topics.oracleTicks, topics.catalog, topics.accountsCommands];
      await eventually('dead letters of every input topic', async () => {
        const origins = await lettersOf();
        return inputs.every((topic) => origins.has(topic.name));
      });
      expect(await first.metric('processors', 'oddstream_sink_dead_letters_total')).toBeGreaterThanOrEqual(15);
      expect(await first.metric('stream', 'oddstream_stream_dead_letters_total')).toBeGreaterThan(0);
      for (const name of ['api', 'stream-gateway'] as const)
        expect(await first.metric(name, 'oddstream_unreadable_records_total'), name).toBeGreaterThanOrEqual(4);
      expect(first.output()).not.toMatch(/FATAL|waiting to restart|DOWN/);
      expect((await first.get('/v3/trades?limit=1')).status).toBe(200);
      expect((await first.stop()).code).toBe(0);
      // What a crash of the writer could leave: garbage as the newest record of a topic.
      for (const topic of [topics.chainHead, topics.chainFinal, topics.streamEvents, topics.streamResolutions])
        await log.append(topic.name, [{ key: 'garbage', value: Buffer.from('garbage'), timestampMs: NOW }]);
      await log.close();

      const second = await startProduct({ env, dataDir: first.dataDir });
      running.push(second);
      await untilUp(second);
      await untilTablesComplete(second);
      expect(second.output()).not.toMatch(/FATAL|waiting to restart|DOWN/);
      expect(await second.metric('ingest', 'oddstream_unreadable_records_total')).toBeGreaterThan(0);
      expect(await second.metric('processors', 'oddstream_unreadable_records_total')).toBeGreaterThan(0);
      const [after] = await second.sql<{ n: string }>('SELECT count() AS n FROM fills');
      expect(after?.n).toBe(before?.n);
      expect((await second.get('/v3/trades?limit=1')).status).toBe(200);
    },
    REFERENCE_RUN_TIMEOUT_MS,
  );
});
