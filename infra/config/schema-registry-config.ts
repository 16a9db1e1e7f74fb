import { FatalError } from '../errors.js';
import type { ParsedEnvironment } from './environment.js';
import { rejectUnused } from './unused-settings.js';

/** The schema registry whose ids are used instead of the committed file's. */
export interface SchemaRegistryConfig {
  /** Base of the Confluent-compatible API, without credentials and without a slash at the end. */
  readonly url: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/** Of the registry that a command names as its target. */
export type TargetRegistryConfig = Pick<SchemaRegistryConfig, 'user' | 'password'>;

/** Throws FatalError when the user of the password is missing. */
export function copyLogRegistryOf(e: ParsedEnvironment): TargetRegistryConfig {
  const { COPY_LOG_REGISTRY_USER: user, COPY_LOG_REGISTRY_PASSWORD: password } = e;
  if (user === undefined) rejectUnused(e, ['COPY_LOG_REGISTRY_PASSWORD'], 'COPY_LOG_REGISTRY_USER is missing');
  return { user, password };
}

/** Throws FatalError when the user of a password is missing, or credentials are given without a registry. */
export function schemaRegistryOf(e: ParsedEnvironment): SchemaRegistryConfig | undefined {
  if (e.SCHEMA_REGISTRY_URL === undefined) {
    rejectUnused(e, ['SCHEMA_REGISTRY_USER', 'SCHEMA_REGISTRY_PASSWORD'], 'SCHEMA_REGISTRY_URL is missing');
    return undefined;
  }
  const url = new URL(e.SCHEMA_REGISTRY_URL);
  const user = e.SCHEMA_REGISTRY_USER ?? (decodeURIComponent(url.username) || undefined);
  const password = e.SCHEMA_REGISTRY_PASSWORD ?? (decodeURIComponent(url.password) || undefined);
  if (user === undefined && password !== undefined) {
    throw new FatalError('Bad configuration:\n  SCHEMA_REGISTRY_USER: missing, although a password is given');
  }
  return { url: `${url.origin}${url.pathname}`.replace(/\/+$/, ''), user, password };
}
