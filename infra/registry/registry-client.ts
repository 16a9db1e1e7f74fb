import type { Client } from '@confluentinc/schemaregistry/dist/schemaregistry-client.js';
import { z } from 'zod';
import type { SchemaRegistryConfig } from '../config/config.js';
import { FatalError, RetryableError } from '../errors.js';

export interface SubjectVersion {
  readonly id: number;
  readonly schema: object;
}

/**
 * Client for the schema registry calls of this service. All throw RetryableError when it cannot be reached or fails, FatalError when it rejects
 * (credentials, a URL that is no registry's); the texts name its URL and never its credentials.
 */
export interface RegistryClient {
  readonly url: string;
  /** Versions of a subject, ascending; empty when there is no such subject. */
  versions(subject: string): Promise<readonly number[]>;
  /** Id this very schema has under the subject; null when it is not registered there. */
  idOf(subject: string, schema: object): Promise<number | null>;
  /** Id; null when the registry finds the schema incompatible. Registering what is there already gives its id. */
  register(subject: string, schema: object): Promise<number | null>;
  version(subject: string, version: number): Promise<SubjectVersion>;
  /** Schema of an id, whatever its subject; null when nobody registered it. Any 404 without a reason is a RetryableError here. */
  schemaOf(id: number): Promise<object | null>;
  isCompatible(subject: string, schema: object): Promise<boolean>;
  /** Level set for that subject; null when it has none of its own. */
  compatibility(subject: string): Promise<CompatibilityLevel | null>;
  /** false: somebody else was setting it at the same time. */
  setCompatibility(subject: string, level: CompatibilityLevel): Promise<boolean>;
}

const TIMEOUT_MS = 10_000;
const RETRIES = 2;
const RETRY_DELAY_MS = 200;
/** Registries count in Java's int. */
const MAX_ID = 2 ** 31 - 1;

interface RestFailure {
  readonly status: number | undefined;
  readonly errorCode: number | undefined;
  readonly message: string;
}

/** What the client threw. Never kept as a cause: its request carries the credentials. */
function failureOf(error: unknown): RestFailure {
  const { status, errorCode, code, message } = error as {
    status?: unknown;
    errorCode?: unknown;
    code?: unknown;
    message?: unknown;
  };
  const text = [code, message].filter((part) => typeof part === 'string' && part !== '');
  return {
    status: typeof status === 'number' ? status : undefined,
    errorCode: typeof errorCode === 'number' ? errorCode : undefined,
    message: text.join(': ') || String(error),
  };
}

/** Registries say which thing is missing with 404xx; another 404 means that there is no such API at this URL. */
const isMissing = ({ status, errorCode }: RestFailure): boolean =>
  status === 404 && errorCode !== undefined && errorCode >= 40_400 && errorCode < 40_500;

const describeFailure = ({ status, message }: RestFailure): string =>
  status === undefined ? message : `HTTP ${status}, ${message}`;

const unavailable = (url: string, what: string, failure: RestFailure): Error =>
  new RetryableError(`The schema registry at ${url} cannot be used now (${what}): ${describeFailure(failure)}`);

function errorOf(url: string, what: string, failure: RestFailure): Error {
  const { status } = failure;
  const said = describeFailure(failure);
  if (status === undefined || status === 408 || status === 429 || status >= 500) return unavailable(url, what, failure);
  if (status === 401 || status === 403) {
    return new FatalError(
      `The schema registry at ${url} refuses our credentials (${what}): ${said}. See SCHEMA_REGISTRY_USER and SCHEMA_REGISTRY_PASSWORD.`,
    );
  }
  if (status === 404) {
    return new FatalError(
      `There is no Confluent-compatible schema registry at ${url} (${what}): ${said}. Some need a path in SCHEMA_REGISTRY_URL, as /apis/ccompat/v7.`,
    );
  }
  return new FatalError(`The schema registry at ${url} refused (${what}): ${said}`);
}

/** Confluent's client. Loaded only here, and only its REST part: the package's index would load four clouds' key services (79 MB, 0.6 s). */
async function confluentClient(config: SchemaRegistryConfig, signal: AbortSignal | undefined): Promise<Client> {
  const { SchemaRegistryClient } = await import('@confluentinc/schemaregistry/dist/schemaregistry-client.js');
  return new SchemaRegistryClient({
    baseURLs: [config.url],
    maxRetries: RETRIES,
    retriesWaitMs: RETRY_DELAY_MS,
    createAxiosDefaults: { timeout: TIMEOUT_MS, signal },
    ...(config.user !== undefined && {
      basicAuthCredentials: { credentialsSource: 'USER_INFO', userInfo: `${config.user}:${config.password ?? ''}` },
    }),
  });
}

const infoOf = (schema: object) => ({ schemaType: 'AVRO', schema: JSON.stringify(schema) });

const idShape = z.number().int().nonnegative();
const schemaShape = z.object({ schema: z.string().transform((text) => JSON.parse(text) as object) });
const versionShape = schemaShape.extend({ id: idShape });
const levelShape = z.enum([
  'NONE',
  'BACKWARD',
  'BACKWARD_TRANSITIVE',
  'FORWARD',
  'FORWARD_TRANSITIVE',
  'FULL',
  'FULL_TRANSITIVE',
]);

/** Levels of a Confluent-compatible registry. */
export type CompatibilityLevel = z.infer<typeof levelShape>;

/** A client of the registry that the configuration names. `signal` ends its requests. */
export async function createRegistryClient(
  config: SchemaRegistryConfig,
  options: { signal?: AbortSignal } = {},
): Promise<RegistryClient> {
  const client = await confluentClient(config, options.signal);

  /** `instead` may turn a refusal into a value (undefined: it stays one). */
  async function ask<T>(
    what: string,
    call: () => Promise<unknown>,
    shape: z.ZodType<T>,
    instead: (failure: RestFailure) => T | undefined = () => undefined,
  ): Promise<T> {
    let answer: unknown;
    try {
      answer = await call();
    } catch (error) {
      const failure = failureOf(error);
      const value = instead(failure);
      if (value !== undefined) return value;
      throw errorOf(config.url, what, failure);
    }
    try {
      return shape.parse(answer);
    } catch (error) {
      const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
      throw new FatalError(`What answers at ${config.url} is no schema registry (${what}): ${why}`);
    }
  }
  const nullWhen = (test: (failure: RestFailure) => boolean) => (failure: RestFailure) =>
    test(failure) ? null : undefined;

  return {
    url: config.url,
    versions: (subject) =>
      ask(
        `versions of ${subject}`,
        () => client.getAllVersions(subject),
        z.array(z.number().int()).transform((versions) => versions.sort((a, b) => a - b)),
        (failure) => (isMissing(failure) ? [] : undefined),
      ),
    idOf: (subject, schema) =>
      ask(
        `look up ${subject}`,
        () => client.getId(subject, infoOf(schema), false),
        idShape.nullable(),
        nullWhen(isMissing),
      ),
    register: (subject, schema) =>
      ask(
        `register ${subject}`,
        () => client.register(subject, infoOf(schema), false),
        idShape.nullable(),
        nullWhen((failure) => failure.status === 409),
      ),
    version: (subject, version) =>
      ask(`${subject} version ${version}`, () => client.getSchemaMetadata(subject, version, false), versionShape),
    async schemaOf(id) {
      if (id > MAX_ID) return null;
      const what = `schema ${id}`;
      const found = await ask(
        what,
        () => client.getBySubjectAndId('', id),
        schemaShape.nullable(),
        (failure) => {
          if (isMissing(failure)) return null;
          // The URL was valid at the start: a 404 now comes from something in front of the registry.
          if (failure.status === 404) throw unavailable(config.url, what, failure);
          return undefined;
        },
      );
      return found?.schema ?? null;
    },
    isCompatible: (subject, schema) =>
      ask(
        `compatibility of ${subject}`,
        () => client.testSubjectCompatibility(subject, infoOf(schema)),
        z.boolean(),
        // Some registries cannot check compatibility before the first version exists.
        (failure) => (isMissing(failure) ? true : undefined),
      ),
    compatibility: (subject) =>
      ask(`level of ${subject}`, () => client.getCompatibility(subject), levelShape.nullable(), nullWhen(isMissing)),
    setCompatibility: (subject, level) =>
      ask<boolean>(
        `set level of ${subject}`,
        () => client.updateConfig(subject, { compatibility: level as never }),
        z.unknown().transform(() => true),
        (failure) => (failure.status === 409 ? false : undefined),
      ),
  };
}
