import entries from './registry.lock.json' with { type: 'json' };
import type { EventKind } from './types.gen.js';

/** What a record was written with. `schema` is plain Avro JSON. */
export interface WriterSchema {
  readonly id: number;
  readonly kind: EventKind;
  readonly schema: object;
}

/** One registered version of one schema. */
export interface RegisteredSchema extends WriterSchema {
  readonly version: number;
}

/** Where schema ids come from: the committed file, or a schema registry that was read at start. Ids differ between the two. */
export interface SchemaIds {
  /** Id to write new records of that kind with. */
  idFor(kind: EventKind): number;
  /** Schema a record was written with, or undefined for an id nobody registered. */
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

/** The newest committed schema of every kind: what this build writes and reads into. */
export function committedSchemas(): ReadonlyMap<EventKind, RegisteredSchema> {
  return new Map((entries as unknown as readonly RegisteredSchema[]).map((entry) => [entry.kind, entry]));
}
