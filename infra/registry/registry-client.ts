import type { Client } from '@confluentinc/schemaregistry/dist/schemaregistry-client.js';
import { z } from 'zod';
import type { SchemaRegistryConfig } from '../config/schema-registry-config.js';
import { FatalError, RetryableError } from '../errors.js';

export interface SubjectVersion {
  readonly id: number;
  readonly schema: object;
}

/**
 * Client for the schema registry calls of this service. Every call throws RetryableError when the registry is unreachable or fails, FatalError when
 * it rejects the call (credentials, a URL without a registry). Error texts name the URL and never the credentials.
 */
export interface RegistryClient {
  readonly url: string;
  /** Versions of a subject, ascending; empty when there is no such subject. */
  versions(subject: string): Promise<readonly number[]>;
  /** Id of exactly this schema under the subject; null when it is not registered there. */
  idOf(subject: string, schema: object): Promise<number | null>;
  /** Registers the schema and returns its id; null when it is incompatible. Registering an existing schema returns its id. */
  register(subject: string, schema: object): Promise<number | null>;
  version(subject: string, version: number): Promise<SubjectVersion>;
  /** Schema of an id, of any subject; null when the id is not registered. A 404 without an error code is a RetryableError here. */
  schemaOf(id: number): Promise<object | null>;
  isCompatible(subject: string, schema: object): Promise<boolean>;
  /** Level set for the subject; null when none is set. */
  compatibility(subject: string): Promise<CompatibilityLevel | null>;
  /** false: another process was setting it at the same time. */
  setCompatibility(subject: string, level: CompatibilityLevel): Promise<boolean>;
}

const TIMEOUT_MS = 10_000;
const RETRIES = 2;
const RETRY_DELAY_MS = 200;
/** Schema ids are Java ints. */
const MAX_ID = 2 ** 31 - 1;

interface RestFailure {
  readonly status: number | undefined;
  readonly errorCode: number | undefined;
  readonly message: string;
}

/** Extracts the failure from the client's error, which must not become a cause: its request contains the credentials. */
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

/** Registries report a missing subject, version or schema with code 404xx; any other 404 means that the URL has no such API. */
const isMissing = ({ status, errorCode }: RestFailure): boolean =>
  status === 404 && errorCode !== undefined && errorCode >= 40_400 && errorCode < 40_500;

const describeFailure = ({ status, message }: RestFailure): string =>
  status === undefined ? message : `HTTP ${status}, ${message}`;

const unavailable = (url: string, what: string, failure: RestFailure): Error =>
  new RetryableError(`The schema registry at ${url} is unavailable (${what}): ${describeFailure(failure)}`);

function errorOf(url: string, what: string, failure: RestFailure): Error {
  const { status } = failure;
  const detail = describeFailure(failure);
  if (status === undefined || status === 408 || status === 429 || status >= 500) return unavailable(url, what, failure);
  if (status === 401 || status === 403) {
    return new FatalError(
      `The schema registry at ${url} rejects the credentials (${what}): ${detail}. Check SCHEMA_REGISTRY_USER and SCHEMA_REGISTRY_PASSWORD, for --to-registry of copy-log COPY_LOG_REGISTRY_USER and COPY_LOG_REGISTRY_PASSWORD.`,
    );
  }
  if (status === 404) {
    return new FatalError(
      `There is no Confluent-compatible schema registry at ${url} (${what}): ${detail}. Some registries need a path in SCHEMA_REGISTRY_URL, for example /apis/ccompat/v7.`,
    );
  }
  return new FatalError(`The schema registry at ${url} rejected the request (${what}): ${detail}`);
}

/** Confluent's client. Imports only its REST client: the package's index also loads the key services of four clouds (79 MB, 0.6 s). */
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

  /** `instead` may turn a failure into a result; undefined throws it. */
  async function request<T>(
    what: string,
    call: () => Promise<unknown>,
    shape: z.ZodType<T>,
    instead: (failure: RestFailure) => T | undefined = () => undefined,
  ): Promise<T> {
    let response: unknown;
    try {
      response = await call();
    } catch (error) {
      const failure = failureOf(error);
      const value = instead(failure);
      if (value !== undefined) return value;
      throw errorOf(config.url, what, failure);
    }
    try {
      return shape.parse(response);
    } catch (error) {
      const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
      throw new FatalError(`The server at ${config.url} is no schema registry (${what}): ${why}`);
    }
  }
  const nullWhen = (test: (failure: RestFailure) => boolean) => (failure: RestFailure) =>
    test(failure) ? null : undefined;

  return {
    url: config.url,
    versions: (subject) =>
      request(
        `versions of ${subject}`,
        () => client.getAllVersions(subject),
        z.array(z.number().int()).transform((versions) => versions.sort((a, b) => a - b)),
        (failure) => (isMissing(failure) ? [] : undefined),
      ),
    idOf: (subject, schema) =>
      request(
        `look up ${subject}`,
        () => client.getId(subject, infoOf(schema), false),
        idShape.nullable(),
        nullWhen(isMissing),
      ),
    register: (subject, schema) =>
      request(
        `register ${subject}`,
        () => client.register(subject, infoOf(schema), false),
        idShape.nullable(),
        nullWhen((failure) => failure.status === 409),
      ),
    version: (subject, version) =>
      request(`${subject} version ${version}`, () => client.getSchemaMetadata(subject, version, false), versionShape),
    async schemaOf(id) {
      if (id > MAX_ID) return null;
      const what = `schema ${id}`;
      const found = await request(
        what,
        () => client.getBySubjectAndId('', id),
        schemaShape.nullable(),
        (failure) => {
          if (isMissing(failure)) return null;
          // The URL was valid at the start, so a 404 now comes from a proxy in front of the registry.
          if (failure.status === 404) throw unavailable(config.url, what, failure);
          return undefined;
        },
      );
      return found?.schema ?? null;
    },
    isCompatible: (subject, schema) =>
      request(
        `compatibility of ${subject}`,
        () => client.testSubjectCompatibility(subject, infoOf(schema)),
        z.boolean(),
        // Some registries cannot check compatibility before the first version exists.
        (failure) => (isMissing(failure) ? true : undefined),
      ),
    compatibility: (subject) =>
      request(
        `level of ${subject}`,
        () => client.getCompatibility(subject),
        levelShape.nullable(),
        nullWhen(isMissing),
      ),
    setCompatibility: (subject, level) =>
      request<boolean>(
        `set level of ${subject}`,
        () => client.updateConfig(subject, { compatibility: level as never }),
        z.unknown().transform(() => true),
        (failure) => (failure.status === 409 ? false : undefined),
      ),
  };
}
