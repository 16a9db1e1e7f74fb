import { schemaIncompatibility } from '../../schemas/codec.js';
import { committedSchemas, type SchemaIds, type WriterSchema } from '../../schemas/registry.js';
import type { EventKind } from '../../schemas/types.gen.js';
import { FatalError } from '../errors.js';
import type { Logger } from '../telemetry/logger.js';
import { type RegisteredSubject, subjectOf } from './register-schemas.js';
import type { RegistryClient } from './registry-client.js';

/** Schema ids with a synchronous lookup, and asynchronous resolution of unknown ones. */
export interface SchemaIdResolver extends SchemaIds {
  /** Whether the id is resolved; also true for ids of other schemas. */
  isKnown(id: number): boolean;
  /**
   * Looks up an id in the registry when it is seen for the first time; afterwards `isKnown(id)` is true. Throws RetryableError when the registry is unreachable,
   * FatalError when the id is a version of a known schema that this build cannot read: continuing would lose records.
   */
  resolve(id: number): Promise<void>;
}

/** Most cached ids without a schema of this service; broken records could contain any number of them. */
const MAX_FOREIGN_IDS = 10_000;
/** How long an unregistered id is cached: replicas of a registry may lag. */
const UNKNOWN_ID_TTL_MS = 30_000;

/** The ids of a schema registry, preloaded with all versions of this service's subjects. */
export function createSchemaIdResolver(deps: {
  client: RegistryClient;
  subjects: readonly RegisteredSubject[];
  logger: Logger;
  nowMs?: () => number;
}): SchemaIdResolver {
  const { client, subjects, logger, nowMs = Date.now } = deps;
  const writerIds = new Map(subjects.map(({ kind, id }) => [kind, id]));
  const kinds = new Map([...committedSchemas()].map(([kind, { schema }]) => [subjectOf(schema), kind]));
  const byId = new Map<number, WriterSchema>();
  /** Unix ms until which an id counts as known. */
  const foreign = new Map<number, number>();

  /** Adds a version; returns why this build cannot read it, or null. */
  const addVersion = (id: number, kind: EventKind, schema: object): string | null => {
    const why = schemaIncompatibility(kind, schema);
    if (why === null) byId.set(id, { id, kind, schema });
    return why;
  };
  const rememberForeign = (id: number, untilMs: number) => {
    if (foreign.size >= MAX_FOREIGN_IDS) foreign.clear();
    foreign.set(id, untilMs);
  };
  for (const { subject, id, kind, schema } of subjects.flatMap(({ versions }) => versions)) {
    const why = addVersion(id, kind, schema);
    if (why !== null) logger.warn({ subject, id, why }, 'the registry has a version this build cannot read');
  }

  return {
    idFor(kind) {
      const id = writerIds.get(kind);
      if (id === undefined) throw new FatalError(`No schema is registered for ${kind}`);
      return id;
    },
    schemaFor: (id) => byId.get(id),
    isKnown: (id) => byId.has(id) || (foreign.get(id) ?? 0) > nowMs(),
    async resolve(id) {
      const schema = await client.schemaOf(id);
      if (schema === null) {
        logger.warn({ id }, 'a record has a schema id that the registry does not know');
        rememberForeign(id, nowMs() + UNKNOWN_ID_TTL_MS);
        return;
      }
      const subject = subjectOf(schema);
      const kind = kinds.get(subject);
      if (kind === undefined) {
        logger.warn({ id, subject }, 'a record has a schema of another service');
        rememberForeign(id, Number.POSITIVE_INFINITY);
        return;
      }
      const why = addVersion(id, kind, schema);
      if (why !== null) {
        throw new FatalError(
          `A record was written with a version of ${subject} (schema id ${id}) that this build cannot read: ${why}. Upgrade this process first.`,
        );
      }
      logger.info({ id, subject }, 'resolved another version of a schema');
    },
  };
}
