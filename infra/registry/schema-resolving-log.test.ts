import { describe, expect, it } from 'vitest';
import { createCodec } from '../../schemas/codec.js';
import { committedSchemas } from '../../schemas/registry.js';
import type { Log, LogRecord } from '../log/port.js';
import { silentLogger } from '../telemetry/logger.js';
import { type RegisteredSubject, subjectOf } from './register-schemas.js';
import type { RegistryClient } from './registry-client.js';
import { createSchemaIdResolver } from './schema-id-resolver.js';
import { createSchemaResolvingLog } from './schema-resolving-log.js';

const SHIFT = 1000;
const logger = silentLogger();
const retract = { id: 'r', from_block: 1, to_block: 2, block_hashes: [], detected_at_ms: 3 };
const framed = (id: number) => {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt32BE(id, 1);
  return bytes;
};

/** A registry with the committed schemas under shifted ids, and `schemas` by id. */
function registry(schemas: ReadonlyMap<number, object> = new Map()) {
  const requested: number[] = [];
  const unused = () => Promise.reject(new Error('not expected'));
  const client: RegistryClient = {
    url: 'http://registry',
    versions: unused,
    idOf: unused,
    register: unused,
    version: unused,
    isCompatible: unused,
    compatibility: unused,
    setCompatibility: unused,
    async schemaOf(id) {
      requested.push(id);
      return schemas.get(id) ?? null;
    },
  };
  const subjects: RegisteredSubject[] = [...committedSchemas().values()].map(({ id, kind, schema }) => ({
    kind,
    id: id + SHIFT,
    versions: [{ subject: subjectOf(schema), kind, id: id + SHIFT, schema }],
  }));
  let nowMs = 0;
  const ids = createSchemaIdResolver({ client, subjects, logger, nowMs: () => nowMs });
  return {
    ids,
    requested,
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

/** A log with one batch of these values. */
function logOf(values: readonly (Buffer | null)[]): Log {
  const records: LogRecord[] = values.map((value, offset) => ({ offset, key: 'k', value, timestampMs: 0 }));
  const unused = () => Promise.reject(new Error('not expected'));
  return {
    async *read() {
      yield { topic: 't', partition: 0, records, nextOffset: records.length };
    },
    lastRecord: async () => records.at(-1) ?? null,
    ensureTopics: unused,
    partitions: unused,
    append: unused,
    appendAndCommit: unused,
    acquireOwnership: unused,
    bounds: unused,
    offsetForTimestamp: unused,
    commit: unused,
    committed: unused,
    deleteBefore: unused,
    maintain: unused,
    close: async () => undefined,
  };
}
async function readAll(log: Log) {
  const records: LogRecord[] = [];
  for await (const batch of log.read({ topic: 't', partition: 0, from: 'earliest', follow: false })) {
    records.push(...batch.records);
  }
  return records;
}

describe('createSchemaResolvingLog', () => {
  it('sends no request for known ids, tombstones and bytes of another format', async () => {
    const { ids, requested } = registry();
    const bytes = createCodec(ids).encode('retract', retract);
    const values = [bytes, null, Buffer.alloc(0), Buffer.from('{"a":1}'), bytes];
    expect(
      (await readAll(createSchemaResolvingLog({ log: logOf(values), ids, logger }))).map(({ value }) => value),
    ).toEqual(values);
    expect(requested).toEqual([]);
  });

  it('requests each new id once, and an unregistered one again only after its cache time', async () => {
    const { ids, requested, pass } = registry(new Map([[7, { type: 'record', name: 'Other', fields: [] }]]));
    const log = createSchemaResolvingLog({ log: logOf([framed(7), framed(8), framed(7), framed(8)]), ids, logger });
    await readAll(log);
    await readAll(log);
    await log.lastRecord('t', 0);
    expect(requested).toEqual([7, 8]);
    pass(60_000);
    await readAll(log);
    expect(requested).toEqual([7, 8, 8]);
  });

  it('decodes a version that another process registered, and requests it once', async () => {
    const { schema } = committedSchemas().get('retract')!;
    const { ids, requested } = registry(new Map([[9, schema]]));
    const bytes = createCodec(ids).encode('retract', retract);
    bytes.writeUInt32BE(9, 1);
    const log = createSchemaResolvingLog({ log: logOf([bytes]), ids, logger });
    const codec = createCodec(ids);
    expect(() => codec.decode(bytes)).toThrow(/Unknown schema id 9/);
    const [record] = await readAll(log);
    expect(codec.decode(record!.value!)).toEqual({ kind: 'retract', value: retract });
    expect(codec.encode('retract', retract).readUInt32BE(1)).toBe(committedSchemas().get('retract')!.id + SHIFT);
    await readAll(log);
    expect(requested).toEqual([9]);
  });

  it('bounds the number of cached unregistered ids', async () => {
    const { ids, requested } = registry();
    const unregistered = Array.from({ length: 10_001 }, (_, n) => framed(100_000 + n));
    await readAll(createSchemaResolvingLog({ log: logOf(unregistered), ids, logger }));
    expect(requested).toHaveLength(10_001);
    expect(ids.isKnown(100_000)).toBe(false);
    expect(ids.isKnown(110_000)).toBe(true);
  });
});
