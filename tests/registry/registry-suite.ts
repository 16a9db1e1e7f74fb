import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SchemaRegistryClient } from '@confluentinc/schemaregistry/dist/schemaregistry-client.js';
import { AvroDeserializer, AvroSerializer } from '@confluentinc/schemaregistry/dist/serde/avro.js';
import { SerdeType, SubjectNameStrategyType } from '@confluentinc/schemaregistry/dist/serde/serde.js';
import avsc from 'avsc';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SchemaRegistryConfig } from '../../infra/config/schema-registry-config.js';
import { FatalError, RetryableError } from '../../infra/errors.js';
import type { Log, LogRecord } from '../../infra/log/port.js';
import { openEventLog, openSchemaIds } from '../../infra/registry/open-event-log.js';
import { registerSchemas } from '../../infra/registry/register-schemas.js';
import { createRegistryClient } from '../../infra/registry/registry-client.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics, type Metrics } from '../../infra/telemetry/metrics.js';
import { CodecError, createCodec } from '../../schemas/codec.js';
import { committedSchemas } from '../../schemas/registry.js';
import { topics } from '../../schemas/topics.js';
import type { EventKind } from '../../schemas/types.gen.js';
import { startTcpProxy } from '../support/anvil.js';
import { freePort } from '../support/ports.js';
import type { TestRegistry } from '../support/schema-registry.js';
import { accountState, retract, trade, tradeForOthers } from './values.js';

const logger = silentLogger();
const kinds = [...committedSchemas().keys()];
const schemaOf = (kind: EventKind) => committedSchemas().get(kind)!.schema as { fields: object[] };

/** The codec and the ids of schemas on an empty Confluent-compatible registry. */
export function describeRegistry(name: string, start: () => Promise<TestRegistry>): void {
  describe(name, () => {
    let registry: TestRegistry;
    let proxy: Awaited<ReturnType<typeof startTcpProxy>>;
    let config: SchemaRegistryConfig;
    let foreignId: number;
    const cleanups: (() => void | Promise<void>)[] = [];

    const at = (url: string): SchemaRegistryConfig => ({ url, user: undefined, password: undefined });
    const logUrl = () => {
      const dir = mkdtempSync(join(tmpdir(), 'oddstream-registry-'));
      cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
      return `lmdb:${dir}`;
    };
    const open = async (url: string, schemaRegistry: SchemaRegistryConfig | undefined, metrics?: Metrics) => {
      const opened = await openEventLog({ logUrl: url, schemaRegistry }, { logger, metrics, maintenance: false });
      cleanups.push(() => opened.log.close());
      return opened;
    };
    /** Calls the registry's REST interface without a client library. */
    const rest = async <T = never>(method: string, path: string, body?: object): Promise<T> => {
      const response = await fetch(`${registry.url}${path}`, {
        method,
        headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as T;
    };
    /** Distinct ids of a subject's versions: this registry may create a version for each of two concurrent registrations of one schema, with one id. */
    const idsOf = async (subject: string): Promise<number[]> => {
      const versions: number[] = await rest('GET', `/subjects/${subject}/versions`);
      const found = await Promise.all(
        versions.map(
          async (version) => (await rest<{ id: number }>('GET', `/subjects/${subject}/versions/${version}`)).id,
        ),
      );
      return [...new Set(found)];
    };
    const registerByHand = async (subject: string, schema: object): Promise<number> => {
      const response: { id: number } = await rest('POST', `/subjects/${subject}/versions`, {
        schema: JSON.stringify(schema),
      });
      return response.id;
    };
    const frame = (id: number, body: Buffer) => {
      const header = Buffer.alloc(5);
      header.writeUInt32BE(id, 1);
      return Buffer.concat([header, body]);
    };
    const append = (log: Log, topic: string, value: Buffer) =>
      log.append(topic, [{ key: 'k', value, timestampMs: 1_790_000_000_000 }]);
    const readAll = async (log: Log, topic: string) => {
      const records: LogRecord[] = [];
      for await (const batch of log.read({ topic, partition: 0, from: 'earliest', follow: false })) {
        records.push(...batch.records);
      }
      return records;
    };

    beforeAll(async () => {
      registry = await start();
      proxy = await startTcpProxy(registry.port);
      config = at(registry.url.replace(`:${registry.port}`, `:${proxy.port}`));
      // Registers other schemas first, so that this service's ids differ from the committed ones.
      const committed = [...committedSchemas().values()].map(({ id }) => id);
      for (let n = 0; n < Math.max(...committed); n++) {
        foreignId = await registerByHand(`com.example.Foreign${n}`, {
          type: 'record',
          name: `Foreign${n}`,
          namespace: 'com.example',
          fields: [{ name: 'n', type: 'int' }],
        });
      }
      // The first run on a machine downloads the registry.
    }, 300_000);
    afterEach(async () => {
      proxy.resume();
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    });
    afterAll(async () => {
      await proxy?.close();
      await registry?.stop();
    });

    it('returns the same ids to five processes that start at once, none of them a committed id', async () => {
      const all = await Promise.all(
        Array.from({ length: 5 }, () => openSchemaIds({ schemaRegistry: config }, { logger })),
      );
      const committed = [...committedSchemas().values()].map(({ id }) => id);
      const first = kinds.map((kind) => all[0]!.idFor(kind));
      for (const ids of all) expect(kinds.map((kind) => ids!.idFor(kind))).toEqual(first);
      expect(new Set(first).size).toBe(kinds.length);
      expect(first.filter((id) => committed.includes(id))).toEqual([]);
      expect(await idsOf('oddstream.Trade')).toEqual([all[0]!.idFor('trade')]);
      const subjects: string[] = await rest('GET', '/subjects');
      expect(subjects.filter((subject) => subject.startsWith('oddstream.'))).toHaveLength(kinds.length);
      expect(await rest('GET', '/config/oddstream.Trade')).toEqual({ compatibilityLevel: 'BACKWARD' });
    });

    it('registers nothing at the next start, keeps a stricter compatibility level and raises a looser one', async () => {
      const before = await openSchemaIds({ schemaRegistry: config }, { logger });
      await rest('PUT', '/config/oddstream.Deposit', { compatibility: 'FULL' });
      await rest('PUT', '/config/oddstream.Redemption', { compatibility: 'NONE' });
      const after = await openSchemaIds({ schemaRegistry: config }, { logger });
      expect(kinds.map((kind) => after!.idFor(kind))).toEqual(kinds.map((kind) => before!.idFor(kind)));
      expect(await rest('GET', '/config/oddstream.Deposit')).toEqual({ compatibilityLevel: 'FULL' });
      expect(await rest('GET', '/config/oddstream.Redemption')).toEqual({ compatibilityLevel: 'BACKWARD' });
      expect(await idsOf('oddstream.Deposit')).toEqual([before!.idFor('deposit')]);
    });

    it("writes records that Confluent's deserializer reads, by id and by subject", async () => {
      const { log, codec } = await open(logUrl(), config);
      await append(log, topics.chainFinal.name, codec.encode('trade', trade));
      await append(log, topics.chainFinal.name, codec.encode('retract', retract));
      await append(log, topics.accountsState.name, codec.encode('account_state', accountState));
      const client = new SchemaRegistryClient({ baseURLs: [registry.url] });
      for (const useLatestVersion of [false, true]) {
        const deserializer = new AvroDeserializer(client, SerdeType.VALUE, {
          subjectNameStrategyType: SubjectNameStrategyType.RECORD,
          useLatestVersion,
        });
        const read = async (topic: string) =>
          Promise.all((await readAll(log, topic)).map(({ value }) => deserializer.deserialize(topic, value!)));
        const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
        expect(plain(await read(topics.chainFinal.name))).toEqual(plain([tradeForOthers, retract]));
        expect(plain(await read(topics.accountsState.name))).toEqual(plain([accountState]));
      }
    });

    it("reads records that Confluent's serializer writes", async () => {
      const { log, codec } = await open(logUrl(), config);
      const client = new SchemaRegistryClient({ baseURLs: [registry.url] });
      const serializer = new AvroSerializer(client, SerdeType.VALUE, {
        useLatestVersion: true,
        autoRegisterSchemas: false,
        // The writer names the record; the serializer then requests the latest version of the subject.
        subjectNameStrategy: () => 'oddstream.Trade',
      });
      await append(log, topics.chainFinal.name, await serializer.serialize(topics.chainFinal.name, tradeForOthers));
      const [record] = await readAll(log, topics.chainFinal.name);
      expect(codec.decode(record!.value!)).toEqual({ kind: 'trade', value: trade });
    });

    it('names the subject of an incompatible schema, and does not change the registry', async () => {
      const client = await createRegistryClient(config);
      const schema = {
        ...schemaOf('trade'),
        fields: [...schemaOf('trade').fields, { name: 'without_default', type: 'string' }],
      };
      const before = await rest('GET', '/subjects/oddstream.Trade/versions');
      const attempt = registerSchemas({ client, logger, schemas: [{ id: 0, kind: 'trade', version: 2, schema }] });
      await expect(attempt).rejects.toThrow(/oddstream\.Trade is not compatible/);
      await expect(attempt).rejects.toBeInstanceOf(FatalError);
      expect(await rest('GET', '/subjects/oddstream.Trade/versions')).toEqual(before);
    });

    it('is not affected by an outage after the start', async () => {
      const { log, codec } = await open(logUrl(), config);
      proxy.interrupt();
      await append(log, topics.chainFinal.name, codec.encode('trade', trade));
      await append(log, topics.chainFinal.name, codec.encode('retract', retract));
      const read = await readAll(log, topics.chainFinal.name);
      expect(read.map(({ value }) => codec.decode(value!))).toEqual([
        { kind: 'trade', value: trade },
        { kind: 'retract', value: retract },
      ]);
      expect((await log.lastRecord(topics.chainFinal.name, 0))?.value).toEqual(codec.encode('retract', retract));
    });

    it('delays records of a version registered meanwhile until the registry has resolved it', async () => {
      const metrics = createMetrics({ process: 'test', defaults: false });
      const waiters = async () =>
        (await metrics.registry.getSingleMetric('oddstream_schema_id_waiting_readers')!.get()).values[0]?.value;
      const { log, codec } = await open(logUrl(), config, metrics);
      const newer = {
        ...schemaOf('retract'),
        fields: [...schemaOf('retract').fields, { name: 'cause', type: 'string', default: '' }],
      };
      const id = await registerByHand('oddstream.Retract', newer);
      const body = avsc.Type.forSchema(newer as never).toBuffer({ ...retract, cause: 'milestone' });
      proxy.interrupt();
      await append(log, topics.chainHead.name, codec.encode('retract', retract));
      await append(log, topics.chainFinal.name, frame(id, body));
      expect(() => codec.decode(frame(id, body))).toThrow(CodecError);
      const waiting = readAll(log, topics.chainFinal.name);
      expect(
        await Promise.race([waiting, readAll(log, topics.chainHead.name).then(() => 'other readers continue')]),
      ).toBe('other readers continue');
      expect(await waiters()).toBe(1);
      proxy.resume();
      expect((await waiting).map(({ value }) => codec.decode(value!))).toEqual([{ kind: 'retract', value: retract }]);
      expect(await waiters()).toBe(0);
      // The next start reads the newer version at once and still writes its version.
      const again = await open(logUrl(), config);
      expect(again.codec.decode(frame(id, body)).value).toEqual(retract);
      expect(again.codec.encode('retract', retract).readUInt32BE(1)).not.toBe(id);
    });

    it('ends a reader that waits for the registry when its signal aborts', async () => {
      const { log } = await open(logUrl(), config);
      await append(log, topics.chainFinal.name, frame(700_001, Buffer.alloc(1)));
      proxy.interrupt();
      const stop = new AbortController();
      const seen: unknown[] = [];
      const reading = (async () => {
        const { signal } = stop;
        const options = {
          topic: topics.chainFinal.name,
          partition: 0,
          from: 'earliest',
          follow: true,
          signal,
        } as const;
        for await (const batch of log.read(options)) seen.push(batch);
      })();
      setImmediate(() => stop.abort());
      await reading;
      expect(seen).toEqual([]);
    });

    it('throws FatalError for a record of a version that it cannot read', async () => {
      const { log } = await open(logUrl(), config);
      await rest('PUT', '/config/oddstream.SocialPost', { compatibility: 'NONE' });
      const id = await registerByHand('oddstream.SocialPost', {
        type: 'record',
        name: 'SocialPost',
        namespace: 'oddstream',
        fields: [{ name: 'n', type: 'int' }],
      });
      await append(log, topics.socialPosts.name, frame(id, Buffer.from([2])));
      const reading = readAll(log, topics.socialPosts.name);
      await expect(reading).rejects.toThrow(/oddstream\.SocialPost/);
      await expect(reading).rejects.toBeInstanceOf(FatalError);
    });

    it("returns records with other schemas' ids and unknown ids, which the codec rejects", async () => {
      const { log, codec } = await open(logUrl(), config);
      await append(log, topics.chainFinal.name, frame(foreignId, Buffer.from([2])));
      for (const id of [2_000_000_000, 4_000_000_000])
        await append(log, topics.chainFinal.name, frame(id, Buffer.from([2])));
      await append(log, topics.chainFinal.name, Buffer.from('no schema'));
      const records = await readAll(log, topics.chainFinal.name);
      expect(records).toHaveLength(4);
      for (const { value } of records) expect(() => codec.decode(value!)).toThrow(CodecError);
    });

    it('rejects a log that was created with other ids, in both directions', async () => {
      const withCommitted = logUrl();
      const first = await open(withCommitted, undefined);
      await append(first.log, topics.chainFinal.name, first.codec.encode('trade', trade));
      await expect(open(withCommitted, config)).rejects.toThrow(/other schema ids than those of http/);
      const withRegistry = logUrl();
      const second = await open(withRegistry, config);
      await append(second.log, topics.chainFinal.name, second.codec.encode('trade', trade));
      await expect(open(withRegistry, undefined)).rejects.toThrow(/other schema ids than those of schemas/);
      await open(withRegistry, config);
      await open(withCommitted, undefined);
    });

    it('names the problem of a URL without a registry', async () => {
      const attempt = openSchemaIds(
        { schemaRegistry: at(`http://127.0.0.1:${registry.port}/nothing-here`) },
        { logger },
      );
      await expect(attempt).rejects.toBeInstanceOf(FatalError);
      await expect(attempt).rejects.toThrow(/\/apis\/ccompat\/v7/);
    });

    it('throws RetryableError without the password when it is unreachable at the start', async () => {
      const url = `http://127.0.0.1:${await freePort()}`;
      const attempt = openSchemaIds({ schemaRegistry: { url, user: 'u', password: 's3cret' } }, { logger });
      const error = await attempt.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(RetryableError);
      expect((error as Error).message).toMatch(/schema registry at http:\/\/127\.0\.0\.1:\d+ is unavailable/);
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/s3cret|Authorization/);
    });

    it('uses the committed ids without SCHEMA_REGISTRY_URL', async () => {
      const { codec } = await open(logUrl(), undefined);
      expect(codec.encode('trade', trade)).toEqual(createCodec().encode('trade', trade));
    });
  });
}
