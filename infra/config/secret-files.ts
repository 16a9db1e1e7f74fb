import { readFileSync } from 'node:fs';
import { FatalError } from '../errors.js';
import { environment } from './environment.js';

/** Variables whose value may be in a file that `<name>_FILE` names. */
const secrets = Object.keys(environment.shape)
  .filter((name) => name.endsWith('_FILE'))
  .map((name) => name.slice(0, -'_FILE'.length));

/**
 * The environment with secrets read from their files, without white space around them. Throws FatalError when a file cannot be read or is empty, and
 * when a secret is given both ways.
 */
export function withSecretFiles(env: Record<string, string | undefined>): Record<string, string | undefined> {
  const read = secrets.flatMap((name) => {
    const path = env[`${name}_FILE`];
    if (path === undefined) return [];
    if (env[name] !== undefined) throw new FatalError(`Bad configuration:\n  ${name}: also given as ${name}_FILE`);
    let text: string;
    try {
      text = readFileSync(path, 'utf8').trim();
    } catch (error) {
      throw new FatalError(`Bad configuration:\n  ${name}_FILE: cannot read ${path}`, { cause: error });
    }
    if (text === '') throw new FatalError(`Bad configuration:\n  ${name}_FILE: ${path} is empty`);
    return [[name, text] as const];
  });
  return { ...env, ...Object.fromEntries(read) };
}
