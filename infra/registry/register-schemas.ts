import { committedSchemas, type RegisteredSchema } from '../../schemas/registry.js';
import type { EventKind } from '../../schemas/types.gen.js';
import { FatalError, RetryableError } from '../errors.js';
import type { Logger } from '../telemetry/logger.js';
import type { CompatibilityLevel, RegistryClient } from './registry-client.js';

/** A version of a subject of this service, as the registry has it. */
export interface SubjectSchema {
  readonly subject: string;
  readonly id: number;
  readonly kind: EventKind;
  readonly schema: object;
}

export interface RegisteredSubject {
  readonly kind: EventKind;
  /** Id of this build's schema. */
  readonly id: number;
  /** Every version of the subject, including this build's. */
  readonly versions: readonly SubjectSchema[];
}

/** Levels at which a reader with the newest schema can read records of the previous version. */
const BACKWARD_COMPATIBLE_LEVELS: readonly CompatibilityLevel[] = [
  'BACKWARD',
  'BACKWARD_TRANSITIVE',
  'FULL',
  'FULL_TRANSITIVE',
];

const COMPATIBILITY_ATTEMPTS = 5;
const CONCURRENT_SUBJECTS = 8;

/**
 * Full name of a record schema, which is its subject (Confluent's RecordNameStrategy): a topic contains several kinds, and the default
 * strategy (one subject per topic) would take each kind for an incompatible new version of the others. A kind that is in two topics
 * (chain.head and chain.final) is one subject with one id.
 */
export function subjectOf(schema: object): string {
  const { namespace, name } = schema as { namespace?: string; name?: string };
  return namespace === undefined ? String(name) : `${namespace}.${name}`;
}

/** Keeps a stricter level that an operator has set. Processes that start at once may all set it, so the level is read again afterwards. */
async function ensureCompatibility(client: RegistryClient, subject: string, logger: Logger): Promise<void> {
  for (let attempt = 0; attempt < COMPATIBILITY_ATTEMPTS; attempt++) {
    const level = await client.compatibility(subject);
    if (level !== null && BACKWARD_COMPATIBLE_LEVELS.includes(level)) return;
    if (await client.setCompatibility(subject, 'BACKWARD')) {
      logger.info({ subject, before: level }, 'set the compatibility of a subject to BACKWARD');
    }
  }
  throw new RetryableError(
    `The schema registry at ${client.url} does not store compatibility BACKWARD for ${subject}: check that its credentials may change it`,
  );
}

async function idFor(client: RegistryClient, subject: string, schema: object, isNew: boolean): Promise<number> {
  const known = await client.idOf(subject, schema);
  if (known !== null) return known;
  const compatible = isNew || (await client.isCompatible(subject, schema));
  const id = compatible ? await client.register(subject, schema) : null;
  // Processes that register the same schema at once must agree, even when the registry creates a version for each of them.
  const meanwhile = await client.idOf(subject, schema);
  if (meanwhile !== null) return meanwhile;
  if (id !== null) return id;
  throw new FatalError(
    `The schema of ${subject} is not compatible with the version in the schema registry at ${client.url}: ` +
      'records already written could not be read with it. Change the schema so that it can (a new field needs a default).',
  );
}

async function registerSubject(
  client: RegistryClient,
  { kind, schema }: RegisteredSchema,
  logger: Logger,
): Promise<RegisteredSubject> {
  const subject = subjectOf(schema);
  const isNew = (await client.versions(subject)).length === 0;
  if (!isNew) await ensureCompatibility(client, subject, logger);
  const id = await idFor(client, subject, schema, isNew);
  if (isNew) await ensureCompatibility(client, subject, logger);
  const versions: SubjectSchema[] = [{ subject, kind, id, schema }];
  for (const version of await client.versions(subject)) {
    const found = await client.version(subject, version);
    if (found.id !== id) versions.push({ subject, kind, ...found });
  }
  return { kind, id, versions };
}

/**
 * Ensure that every schema of this build is in the registry, each under its record name, with a compatibility level that includes
 * BACKWARD. Writes only what is missing, so a complete registry may be read-only. Throws FatalError that names the subject when a schema
 * is not compatible, and what the client throws.
 */
export async function registerSchemas(deps: {
  client: RegistryClient;
  logger: Logger;
  schemas?: Iterable<RegisteredSchema>;
}): Promise<readonly RegisteredSubject[]> {
  const { client, logger, schemas = committedSchemas().values() } = deps;
  const pending = [...schemas];
  const done: RegisteredSubject[] = [];
  const work = async () => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      done.push(await registerSubject(client, next, logger));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_SUBJECTS }, work));
  return done;
}
