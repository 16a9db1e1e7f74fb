import { setTimeout as sleep } from 'node:timers/promises';
import { type Codec, createCodec } from '../../schemas/codec.js';
import { allTopics, topics, topicsOnOneMachine } from '../../schemas/topics.js';
import type { Config } from '../config/config.js';
import { isTransient } from '../errors.js';
import { createLogHealth, type LogHealth } from '../log/health.js';
import { isOnOneMachine, openLog } from '../log/open-log.js';
import type { Log } from '../log/port.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { Check, HealthRegistry } from '../telemetry/readiness.js';
import { assertSchemaIdsMatch } from './assert-schema-ids.js';
import { registerSchemas } from './register-schemas.js';
import { createRegistryClient } from './registry-client.js';
import { createRegistryHealth, type RegistryHealth } from './registry-health.js';
import { createSchemaIdResolver, type SchemaIdResolver } from './schema-id-resolver.js';
import { createSchemaResolvingLog } from './schema-resolving-log.js';

export interface OpenEventLogOptions {
  readonly logger: Logger;
  readonly metrics?: Metrics;
  /** Ends requests to the registry and readers that wait for it. */
  readonly signal?: AbortSignal;
  /** As in `OpenLogOptions`. */
  readonly maintenance?: boolean;
  /**
   * For long-running processes: receives the checks `log` and `registry`; an unreachable dependency is retried until it responds or the signal aborts.
   */
  readonly healthRegistry?: HealthRegistry;
}

const INITIAL_DELAY_MS = 500;
const MAX_DELAY_MS = 5_000;
const PROBE_TIMEOUT_MS = 1_500;

export interface EventLog {
  /** Has every topic of schemas/topics.ts. `codec` can decode every returned record at once. */
  readonly log: Log;
  readonly codec: Codec;
}

/** Registers the schemas of this build and reads all their versions. null without SCHEMA_REGISTRY_URL: the committed ids are then valid. */
export async function openSchemaIds(
  config: Pick<Config, 'schemaRegistry'>,
  options: { logger: Logger; signal?: AbortSignal; health?: RegistryHealth },
): Promise<SchemaIdResolver | null> {
  if (config.schemaRegistry === undefined) return null;
  const { logger, signal } = options;
  const client = await createRegistryClient(config.schemaRegistry, { signal });
  options.health?.startProbing(client);
  const subjects = await registerSchemas({ client, logger });
  const versions = subjects.reduce((sum, subject) => sum + subject.versions.length, 0);
  logger.info({ url: client.url, subjects: subjects.length, versions }, 'schema ids come from the registry');
  return createSchemaIdResolver({ client, subjects, logger });
}

/** A check that fails while calls of the log fail or a small probe request gets no response. */
function createLogCheck(health: LogHealth): { readonly check: () => Promise<Check>; setLog(log: Log): void } {
  let log: Log | null = null;
  let pending: Promise<unknown> | null = null;
  const probe = async (opened: Log): Promise<boolean> => {
    pending ??= opened.bounds(topics.sources.name, 0).finally(() => {
      pending = null;
    });
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), PROBE_TIMEOUT_MS);
    });
    const responded = pending.then(
      () => true,
      () => false,
    );
    return Promise.race([responded, timeout]).finally(() => clearTimeout(timer));
  };
  return {
    setLog(opened) {
      log = opened;
    },
    async check() {
      if (log === null) {
        const failing = health.check();
        return failing.ok ? { ok: false, loading: true, detail: 'opening' } : failing;
      }
      const responded = await probe(log);
      if (!responded) health.recordFailure(PROBE, new Error(`no response within ${PROBE_TIMEOUT_MS} ms`));
      else health.recordSuccess(PROBE);
      const state = health.check();
      return state.ok && !responded ? { ok: false, detail: 'the log does not respond' } : state;
    },
  };
}

const PROBE = 'Probe of the log';
const OPENING = 'Opening the log';

/**
 * The only way a process gets its log and codec: the log of LOG_URL with all topics, and the ids of SCHEMA_REGISTRY_URL or of the committed file.
 * Throws FatalError that names the subject when a schema is not compatible, and when the log was written with other ids. An unreachable log or
 * registry throws RetryableError, or is retried here when a health registry is given. After the return, the registry is only queried for ids seen
 * for the first time.
 */
export async function openEventLog(
  config: Pick<Config, 'logUrl' | 'schemaRegistry'> & Partial<Pick<Config, 'kafka'>>,
  options: OpenEventLogOptions,
): Promise<EventLog> {
  const { logger, metrics, signal, maintenance, healthRegistry } = options;
  const health = createLogHealth({ metrics });
  const registry = config.schemaRegistry === undefined ? undefined : createRegistryHealth({ metrics });
  const logCheck = createLogCheck(health);
  if (registry !== undefined) healthRegistry?.register('registry', async () => ({ registry: await registry.check() }));
  healthRegistry?.register('log', async () => ({ log: await logCheck.check() }));

  const retry = async <T>(attempt: () => Promise<T>, failed: (error: unknown) => void): Promise<T> => {
    for (let delayMs = INITIAL_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
      signal?.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        signal?.throwIfAborted();
        if (healthRegistry === undefined || !isTransient(error)) throw error;
        failed(error);
        logger.warn({ err: error, delayMs }, 'cannot start yet, retrying');
        await sleep(delayMs, undefined, { signal });
      }
    }
  };

  const ids = await retry(
    () => openSchemaIds(config, { logger, signal, health: registry }),
    (error) => registry?.recordFailure(error),
  );
  registry?.markStarted();
  const codec = createCodec(ids ?? undefined);
  return retry(
    async () => {
      const opened = await openLog(config.logUrl, { logger, maintenance, health, kafka: config.kafka });
      const onWaiting = registry?.setWaitingReaders;
      const log =
        ids === null ? opened : createSchemaResolvingLog({ log: opened, ids, logger, metrics, signal, onWaiting });
      try {
        await log.ensureTopics(isOnOneMachine(config.logUrl) ? topicsOnOneMachine : allTopics);
        await assertSchemaIdsMatch({ log, codec, idsFrom: config.schemaRegistry?.url ?? 'schemas/registry.lock.json' });
      } catch (error) {
        await log.close();
        throw error;
      }
      health.recordSuccess(OPENING);
      logCheck.setLog(log);
      return { log, codec };
    },
    (error) => health.recordFailure(OPENING, error),
  );
}
