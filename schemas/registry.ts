import entries from './registry.lock.json' with { type: 'json' };
import type { EventKind } from './types.gen.js';

/** The schema that a record was written with. `schema` is Avro JSON. */
export interface WriterSchema {
  readonly id: number;
  readonly kind: EventKind;
  readonly schema: object;
}

/** One registered version of one schema. */
export interface RegisteredSchema extends WriterSchema {
  readonly version: number;
}

/** Schema ids, from the committed file or from a schema registry read at start. The ids of the two differ. */
export interface SchemaIds {
  /** Id of new records of that kind. */
  idFor(kind: EventKind): number;
  /** Schema of an id; undefined for an unknown id. */
  schemaFor(id: number): WriterSchema | undefined;
}

/** The ids of schemas/registry.lock.json. */
export function committedSchemaIds(): SchemaIds {
  const all = entries as unknown as readonly RegisteredSchema[];
  const byId = new Map(all.map((entry) => [entry.id, entry]));
  const newest = new Map(all.map((entry) => [entry.kind, entry.id]));
  return {
    idFor(kind) {
      const id = newest.get(kind);
      if (id === undefined) throw new Error(`No schema is registered for ${kind}`);
      return id;
    },
    schemaFor: (id) => byId.get(id),
  };
}

/** The newest committed schema of every kind, which this build writes and decodes to. */
export function committedSchemas(): ReadonlyMap<EventKind, RegisteredSchema> {
  return new Map((entries as unknown as readonly RegisteredSchema[]).map((entry) => [entry.kind, entry]));
}
