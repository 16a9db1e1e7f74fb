import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

/** Services of infra/deploy/compose.yaml that are not built from this repository and that these tests run. */
export type ServerName = 'kafka' | 'schema-registry' | 'clickhouse' | 'redis';

export const composeFile = resolve('infra/deploy/compose.yaml');

const variable = (name: string): string | undefined => process.env[name] || undefined;

/** Whether the tests must run: a missing tool then fails them. */
export const isRequired = variable('ODDSTREAM_TEST_CONTAINERS') === '1';

/** Directory of a Docker daemon that the tests start themselves. Its images remain for the next run. */
export const dockerRoot = variable('ODDSTREAM_TEST_DOCKER_ROOT') ?? join(homedir(), '.cache', 'oddstream', 'docker');

/**
 * Image of a server: the variable of compose.yaml (KAFKA_IMAGE, ...) if set, else its default there. `isGiven`: the variable is set, so that the image
 * must be used as it is.
 */
export function serverImage(service: ServerName): { readonly name: string; readonly isGiven: boolean } {
  const { services } = parse(readFileSync(composeFile, 'utf8'), { merge: true }) as {
    services: Record<ServerName, { image: string }>;
  };
  const [, name, fallback] = /^\$\{(\w+):-(.+)\}$/.exec(services[service].image) ?? [];
  if (name === undefined || fallback === undefined)
    throw new Error(`compose.yaml: the image of ${service} has no variable`);
  const given = variable(name);
  return { name: given ?? fallback, isGiven: given !== undefined };
}
