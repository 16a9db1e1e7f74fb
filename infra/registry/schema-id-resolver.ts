import { schemaIncompatibility } from '../../schemas/codec.js';
import { committedSchemas, type SchemaIds, type WriterSchema } from '../../schemas/registry.js';
import type { EventKind } from '../../schemas/types.gen.js';
import { FatalError } from '../errors.js';
import type { Logger } from '../telemetry/logger.js';
import { type RegisteredSubject, subjectOf } from './register-schemas.js';
import type { RegistryClient } from './registry-client.js';

/** Ids that can be looked up at once, and unknown ones asked for outside of the hot path. */
export interface SchemaIdResolver extends SchemaIds {
  /** Is it settled what this id means, be it nothing of ours? */
  isKnown(id: number): boolean;
  /**
   * Looks up an id in the registry when it is seen for the first time; afterwards `knows(id)`. Throws RetryableError when the registry is unreachable,
   * FatalError when the id is a version of a known schema that this build cannot read: continuing would lose records.
   */
  resolve(id: number): Promise<void>;
}

/** Foreign ids kept in mind; broken records could make up any number of them. */
const MAX_FOREIGN_IDS = 10_000;
/** How long "nobody registered it" is believed: replicas of a registry may lag. */
const UNKNOWN_ID_TTL_MS = 30_000;

/** The ids of a schema registry, preloaded with all versions of our subjects. */
export function createSchemaIdResolver(deps: {
  client: RegistryClient;
  subjects: readonly RegisteredSubject[];
  logger: Logger;
  nowMs?: () => number;
}): SchemaIdResolver {
  const { client, subjects, logger, nowMs = Date.now } = deps;
  const own = new Map(subjects.map(({ kind, id }) => [kind, id]));
  const kinds = new Map([...committedSchemas()].map(([kind, { schema }]) => [subjectOf(schema), kind]));
  const byId = new Map<number, WriterSchema>();
  /** Id to when it has to be asked for again. */
  const foreign = new Map<number, number>();

  const unreadable = (id: number, kind: EventKind, schema: object): string | null => {
    const why = schemaIncompatibility(kind, schema);
    if (why === null) byId.set(id, { id, kind, schema });
    return why;
  };
  const forget = (id: number, untilMs: number) => {
    if (foreign.size >= MAX_FOREIGN_IDS) foreign.clear();
    foreign.set(id, untilMs);
  };
  for (const { subject, id, kind, schema } of subjects.flatMap(({ versions }) => versions)) {
    const why = unreadable(id, kind, schema);
    if (why !== null) logger.warn({ subject, id, why }, 'the registry has a version this build cannot read');
  }

  return {
    idFor(kind) {
      const id = own.get(kind);
      if (id === undefined) throw new FatalError(`No schema is registered for ${kind}`);
      return id;
    },
    schemaFor: (id) => byId.get(id),
    isKnown: (id) => byId.has(id) || (foreign.get(id) ?? 0) > nowMs(),
    async resolve(id) {
      const schema = await client.schemaOf(id);
      if (schema === null) {
        logger.warn({ id }, 'a record has a schema id that the registry does not know');
        forget(id, nowMs() + UNKNOWN_ID_TTL_MS);
        return;
      }
      const subject = subjectOf(schema);
      const kind = kinds.get(subject);
      if (kind === undefined) {
        logger.warn({ id, subject }, 'a record has the schema of something that is not ours');
        forget(id, Number.POSITIVE_INFINITY);
        return;
      }
      const why = unreadable(id, kind, schema);
      if (why !== null) {
        throw new FatalError(
          `A record was written with a version of ${subject} (schema id ${id}) that this build cannot read: ${why}. Upgrade this process first.`,
        );
      }
      logger.info({ id, subject }, 'learned another version of a schema');
    },
  };
}
